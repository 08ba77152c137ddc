"""The registry of rules: codes that are stable, and texts that a person can use."""

from __future__ import annotations

import re

import pytest

from rtrace_otel.analysis.check.registry import RULES, RULES_BY_CODE, UnknownCodeError, codes_under
from rtrace_otel.analysis.check.rule import Rule

NUMBERS = {1: (1, 2, 3, 4, 5, 6, 7), 2: (1, 2, 3), 3: (1, 2, 3, 4, 5, 6, 7, 11, 12), 4: (1, 2, 3), 5: (1, 2, 3, 4),
           6: (1, 2, 3, 4), 7: (1, 2), 8: (1, 2, 3, 4, 5, 6)}  # fmt: skip
CODES = [f"RT{family}{number:02}" for family, numbers in NUMBERS.items() for number in numbers]
"""What scripts may name; a code that goes away is not given to another rule."""


def test_the_codes_are_those_that_scripts_know() -> None:
    """In ascending order, each once."""
    assert CODES == [rule.code for rule in RULES] == list(RULES_BY_CODE)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_explains_itself(rule: Rule) -> None:
    """A short title, and three texts of whole sentences; codes that they name exist."""
    texts = (rule.meaning, rule.causes, rule.remedy)
    named = set(re.findall(r"RT\d+", " ".join(texts)))

    assert len(rule.title) <= 60
    assert [True] * 3 == [len(text) > 5 and text.endswith(".") and text[0] in "`" + text[0].upper() for text in texts]
    assert named <= set(CODES)


@pytest.mark.parametrize(
    ("heads", "codes"),
    [
        ("RT101", ["RT101"]),
        ("rt31, RT203", ["RT203", "RT311", "RT312"]),
        ("RT6", ["RT601", "RT602", "RT603", "RT604"]),
        ("RT", CODES),
        ("", []),
        (",", []),
    ],
)
def test_heads_of_codes(heads: str, codes: list[str]) -> None:
    """A head stands for all of its codes."""
    assert codes == sorted(codes_under(heads))


@pytest.mark.parametrize("heads", ["RT9", "101", "RT101,RTX", "RT1011"])
def test_a_code_that_does_not_exist(heads: str) -> None:
    """It is named."""
    with pytest.raises(UnknownCodeError, match=re.escape(heads.rsplit(",", maxsplit=1)[-1])):
        codes_under(heads)
