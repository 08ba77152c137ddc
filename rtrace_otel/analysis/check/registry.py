"""The rules of ``rtrace check`` by code; ``docs/checks.md`` is made from them.

A code never changes its meaning; a rule that goes away leaves its code unused.
"""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.check.rules_of_files import FILE_RULES
from rtrace_otel.analysis.check.rules_of_numbers import NUMBER_RULES
from rtrace_otel.analysis.check.rules_of_rollouts import ROLLOUT_RULES

RULES: Final = ROLLOUT_RULES + NUMBER_RULES + FILE_RULES
"""In the order of their codes."""

RULES_BY_CODE: Final = {rule.code: rule for rule in RULES}
"""By code."""


class UnknownCodeError(ValueError):
    """A code or the head of one that no rule has; the text says which."""


def codes_under(heads: str) -> frozenset[str]:
    """The codes that a text names.

    Args:
        heads: Codes or heads of codes with commas between them, in any case: ``RT101,rt2`` is RT101 and all of RT2xx.

    Raises:
        UnknownCodeError: A part of the text is the head of no code.
    """
    found: set[str] = set()
    for head in filter(None, (part.strip().upper() for part in heads.split(","))):
        under = [code for code in RULES_BY_CODE if code.startswith(head)]
        if not under:
            raise UnknownCodeError(f"no rule has the code {head}")
        found.update(under)
    return frozenset(found)
