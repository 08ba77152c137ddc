"""Limits: how they are written, and when they are kept."""

from __future__ import annotations

import contextlib
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.compare.compare import CompareReport, Comparison, Side, compare
from rtrace_otel.analysis.compare.gates import FORMS, NEGATIVE, Form, Gate, GateError, GateFailure, judge, parse_gate
from rtrace_otel.analysis.compare.measure import measure
from rtrace_otel.analysis.compare.metrics import METRICS, METRICS_BY_NAME, Metric
from rtrace_otel.analysis.compare.values import ONE_RUN, Value
from tests.analysis.compare.jobs import A, B

SIDE = Side("f", None, 1, 0, 0)


def judged(text: str, a: float | None, b: float | None) -> GateFailure | None:
    """What is wrong with these values, if anything is."""
    gate = parse_gate(text)
    one = Comparison(gate.metric, *(Value(value, missing=ONE_RUN if value is None else None) for value in (a, b)))
    failures = judge(CompareReport(SIDE, SIDE, (one,)), [gate])
    return failures[0] if failures else None


@pytest.mark.parametrize(
    ("text", "form", "upwards", "number"),
    [
        ("lost_tokens:+5%", "relative", True, 0.05),
        ("lost_tokens:+0%", "relative", True, 0.0),
        ("tokens_per_s:-12.5%", "relative", False, 0.125),
        ("rollouts:-5%", "relative", False, 0.05),
        ("rollouts:+5%", "relative", True, 0.05),
        ("lost_tokens:+1e3", "absolute", True, 1000.0),
        ("tokens_per_s:-2", "absolute", False, 2.0),
        ("wasted_share:>0.5", "above", True, 0.5),
        ("tokens_per_s:<100", "below", False, 100.0),
        ("batch_age:<-0.5", "below", False, -0.5),
        ("Lost-Tokens: +5% ", "relative", True, 0.05),
    ],
)
def test_every_form(text: str, form: Form, upwards: bool, number: float) -> None:
    """A change in per cent or in the metric's unit, or a limit of the value itself."""
    gate = parse_gate(text)

    assert Gate(text, gate.metric, form, upwards, number) == gate


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("lost_tokens", f"'lost_tokens': there is no limit; write {FORMS}"),
        ("lost_tokens:", f"'lost_tokens:': '' is no limit; write {FORMS}"),
        ("lost_tokens:5%", "'5%' is no limit"),
        ("lost_tokens:+5 %", "'+5 %' is no limit"),
        ("lost_tokens:+-5", "'+-5' is no limit"),
        ("lost_tokens:>5%", "'>5%' is no limit"),
        ("lost_tokens:>=5", "'>=5' is no limit"),
        ("lost_tokens:+nan%", "'+nan%' is no limit"),
        ("lost_tokens:+٣", "'+٣' is no limit"),
        ("stops:>1e999", "'stops:>1e999': the number is too large"),
        ("lost_token:+5%", "no metric is called 'lost_token'; did you mean lost_tokens"),
        (":+5%", "no metric is called ''; there are lasted_s, steps_trained, "),
        ("zzz:+5%", "no metric is called 'zzz'; there are lasted_s"),
        ("lost-tokens:-5%", "lower is better for lost_tokens; did you mean lost_tokens:+5%?"),
        ("tokens_per_s:+7", "higher is better for tokens_per_s; did you mean tokens_per_s:-7?"),
    ],
)
def test_what_is_no_limit(text: str, problem: str) -> None:
    """What is wrong, and what was meant."""
    with pytest.raises(GateError, match=re.escape(problem)):
        parse_gate(text)


@pytest.mark.parametrize(
    ("text", "a", "b", "limit"),
    [
        ("lost_tokens:+5%", 100, 105, None),
        ("lost_tokens:+5%", 100, 106, 105.0),
        ("lost_tokens:+5%", 100, 1, None),
        ("lost_tokens:+15%", 100, 115, None),
        ("lost_tokens:+5%", 0, 0, None),
        ("lost_tokens:+5%", 0, 1, 0.0),
        ("tokens_per_s:-5%", 100.0, 95.0, None),
        ("tokens_per_s:-5%", 100.0, 94.0, 95.0),
        ("tokens_per_s:-5%", 100.0, 200.0, None),
        ("lost_tokens:+100", 50, 150, None),
        ("lost_tokens:+100", 50, 151, 150.0),
        ("tokens_per_s:-10", 50.0, 39.0, 40.0),
        ("rollouts:-10", 50, 39, 40.0),
        ("rollouts:+10", 50, 39, None),
        ("wasted_share:>0.5", 0.9, 0.5, None),
        ("wasted_share:>0.5", 0.1, 0.51, 0.5),
        ("wasted_share:>0.5", None, 0.51, 0.5),
        ("wasted_share:>0.5", None, 0.49, None),
        ("tokens_per_s:<50", 10.0, 50.0, None),
        ("tokens_per_s:<50", 10.0, 49.0, 50.0),
        ("batch_age:<0", 1.0, -0.1, 0.0),
    ],
)
def test_what_keeps_a_limit(text: str, a: float | None, b: float, limit: float | None) -> None:
    """The limit itself still keeps it; only the second value is judged by a limit of its own."""
    failure = judged(text, a, b)

    assert (limit, None) == ((failure.limit, failure.missing) if failure else (None, None))


@pytest.mark.parametrize(
    ("text", "a", "b", "side", "why"),
    [
        ("lost_tokens:+5%", None, 1, "A", ONE_RUN),
        ("lost_tokens:+5%", 1, None, "B", ONE_RUN),
        ("lost_tokens:+5", None, 1, "A", ONE_RUN),
        ("lost_tokens:>5", 1, None, "B", ONE_RUN),
        ("lost_tokens:+5%", None, None, "B", ONE_RUN),
        ("batch_age:+5%", 1.0, -3.0, "B", NEGATIVE),
        ("batch_age:+5%", -1.0, -0.99, "A", NEGATIVE),
        ("batch_age:+1", -1.0, -2.0, "A", NEGATIVE),
    ],
)
def test_what_nobody_can_judge_keeps_no_limit(text: str, a: float | None, b: float | None, side: str, why: str) -> None:
    """A gate must not pass on missing data, nor on a value that no job can have."""
    failure = judged(text, a, b)

    assert failure is not None
    assert (side, why) == (failure.side, failure.missing)


def test_the_two_jobs() -> None:
    """tokens_per_s fell from 8 to 2.5, below 7.6; batch_age rose from 1 to 3; rows missing were not counted.

    The tokens abandoned are 20 in both.
    """
    texts = ("tokens_per_s:-5%", "abandoned_tokens:+0%", "batch_age:+2", "batch_age:>2.5", "rows_missing:+0")
    failures = judge(compare(measure(A, "a"), measure(B, "b")), map(parse_gate, texts))

    assert ["tokens_per_s:-5%", "batch_age:>2.5", "rows_missing:+0"] == [failure.gate.text for failure in failures]
    assert [7.6, 2.5, None] == [failure.limit for failure in failures]


@given(st.sampled_from(METRICS), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 300))
def test_per_cent_and_amounts_agree(metric: Metric, a: int, b: int, per_cent: int) -> None:
    """A limit in per cent is the same limit as an amount, and as one of B itself."""
    sign, own = ("-", "<") if metric.better == "higher" else ("+", ">")
    allowed = a * per_cent / 100
    limit = a - allowed if sign == "-" else a + allowed
    texts = (f"{sign}{per_cent}%", f"{sign}{allowed!r}", f"{own}{limit!r}")

    assert 1 == len({judged(f"{metric.name}:{text}", a, b) is None for text in texts})


@given(st.text(max_size=12), st.sampled_from(sorted(METRICS_BY_NAME)))
def test_any_text_is_a_limit_or_an_error(text: str, name: str) -> None:
    """Nothing else is raised, and what is read has a finite number."""
    for given_text in (text, f"{name}:{text}"):
        with contextlib.suppress(GateError):
            assert math.isfinite(parse_gate(given_text).number)
