"""What each metric is read from: values worked out by hand, and what is not known."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.compare.compare import compare
from rtrace_otel.analysis.compare.measure import MeasureFold, Measures, measure
from rtrace_otel.analysis.compare.metrics import METRICS, METRICS_BY_NAME
from rtrace_otel.analysis.compare.values import (
    FROM_SPANS,
    NO_AGES,
    NO_SECONDS,
    NO_STEPS,
    NO_TIMES,
    NO_TOKENS,
    NOT_COUNTED,
    TOO_LARGE,
    Known,
    Value,
    known,
    ratio,
)
from rtrace_otel.analysis.reading.damage import SeqGap, Tally
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.compare.jobs import KILLED, A, B
from tests.report.history import abandoned, dispatched, event, published, refit, sealed, started, trace, trained

NOTHING_STOPPED: Final = {
    "stops": 0, "dead_s": 0, "in_flight_at_stops": 0, "lost_rollouts": 0, "lost_tokens": 0, "lost_tokens_share": 0,
    "never_came_back": 0, "steps_trained_again": 0,
}  # fmt: skip


def measured(rows: list[Row]) -> Measures:
    """The measures of rows, checked."""
    found = measure(rows, "f")
    found.self_check()
    return found


def values(rows: list[Row]) -> dict[str, float | None]:
    """Every metric's number."""
    found = measured(rows)
    return {metric.name: metric.value(found).number for metric in METRICS}


def value(name: str, *rows: Row) -> Value:
    """One metric of a trace."""
    return METRICS_BY_NAME[name].value(measured(trace(*rows)))


def test_the_first_job() -> None:
    """80 tokens in 10 s, one version old; 20 of 100 tokens abandoned; 2 of 10 s between refit and step.

    Both rollouts ran from 102 to 103.
    """
    assert {
        "lasted_s": 10.0, "steps_trained": 1, "trained_tokens": 80, "tokens_per_s": 8.0, "batch_age": 1.0,
        "batch_age_p95": 1, "trainer_waiting_share": 0.2, "rollouts": 2, "attempt_seconds": 2.0,
        "abandoned_tokens": 20, "discarded_tokens": 0, "masked_tokens": 0, "wasted_share": 0.2, "refit_s": 1.0,
        "checkpoint_s": 0.0, "refusals": 0, "rows_missing": None, **NOTHING_STOPPED,
    } == values(A)  # fmt: skip


def test_the_second_job() -> None:
    """30 tokens in 12 s, three versions old; 20 of 50 tokens abandoned; 4 of 12 s between refit and step.

    One rollout ran from 102 to 105; the other was refused at once.
    """
    assert {
        "lasted_s": 12.0, "steps_trained": 1, "trained_tokens": 30, "tokens_per_s": 2.5, "batch_age": 3.0,
        "batch_age_p95": 3, "trainer_waiting_share": 4 / 12, "rollouts": 2, "attempt_seconds": 3.0,
        "abandoned_tokens": 20, "discarded_tokens": 0, "masked_tokens": 0, "wasted_share": 0.4, "refit_s": 1.0,
        "checkpoint_s": 0.0, "refusals": 1, "rows_missing": None, **NOTHING_STOPPED,
    } == values(B)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "number", "how"),
    [
        ("stops", 1, Known.EXACT),
        ("dead_s", 20.0, Known.EXACT),
        ("in_flight_at_stops", 1, Known.EXACT),
        ("lost_rollouts", 2, Known.EXACT),
        ("lost_tokens", 57, Known.AT_LEAST),
        ("lost_tokens_share", 57 / 157, Known.ABOUT),
        ("wasted_share", 57 / 157, Known.ABOUT),
        ("never_came_back", 0, Known.EXACT),
        ("steps_trained_again", 0, Known.EXACT),
        ("trained_tokens", 100, Known.EXACT),
        ("tokens_per_s", 100 / 41, Known.EXACT),
    ],
)
def test_a_job_that_was_killed(name: str, number: float, how: Known) -> None:
    """20 s lie between the runs; 50 + 7 tokens were lost, and 100 generated anew, in 41 s."""
    assert Value(number, how) == METRICS_BY_NAME[name].value(measured(KILLED))


def test_what_a_stop_took_is_a_lower_bound_while_fates_are_open() -> None:
    """The job goes on in run l, which has only reserved its group: x and y may still come back."""
    found = measured(KILLED[:8])

    assert Value(0, Known.AT_LEAST) == METRICS_BY_NAME["lost_rollouts"].value(found)
    assert Value(0, Known.AT_LEAST) == METRICS_BY_NAME["never_came_back"].value(found)


@pytest.mark.parametrize(
    ("name", "rows", "why"),
    [
        ("batch_age", [started("a")], NO_AGES),
        ("batch_age_p95", [trained("a", 1, 5, "g")], NO_AGES),
        ("trainer_waiting_share", [started("a")], NO_STEPS),
        ("trainer_waiting_share", [trained("a", 1, 5, "g") | {"t": None}], NO_TIMES),
        ("refit_s", [refit("a", 1, 2)], NO_SECONDS),
        ("checkpoint_s", [event("a", "checkpoint_published", checkpoint_id="c", step=1)], NO_SECONDS),
        ("abandoned_tokens", [dispatched("a", "x"), abandoned("a", "x")], NO_TOKENS),
        ("wasted_share", [started("a")], NO_TOKENS),
        ("lasted_s", [started("a") | {"t": "soon"}], NO_TIMES),
        ("tokens_per_s", [started("a")], NO_TIMES),
        ("rows_missing", [started("a")], NOT_COUNTED),
        ("rows_missing", [started("a", from_spans=True)], FROM_SPANS),
    ],
)
def test_what_no_row_says_is_not_known(name: str, rows: list[Row], why: str) -> None:
    """There is a reason instead of a number, and never a 0."""
    assert Value(None, missing=why) == value(name, *rows)


def test_no_refit_and_no_checkpoint_take_no_time() -> None:
    """What did not happen took 0 s; what happened and has no time is not known."""
    assert [Value(0.0), Value(0.0)] == [value(name, started("a")) for name in ("refit_s", "checkpoint_s")]


@pytest.mark.parametrize(
    ("gaps", "lost", "expected"),
    [
        (0, 0, Value(0)),
        (3, 0, Value(3)),
        (0, 4, Value(4)),
        (3, 4, Value(4, Known.AT_LEAST)),
        (0, -4, Value(0)),
    ],
)
def test_missing_rows(gaps: int, lost: int, expected: Value) -> None:
    """By sequence number or by the recorder's account; both can tell of the same rows."""
    fold, tally = MeasureFold(), Tally("f", gaps=[SeqGap("a", 2, 1, gaps)], rows_missing=gaps, gap_count=1)
    for row in trace(started("a"), event("a", "trace_gap", lost=lost, reason="queue full")):
        fold.add(row)

    assert expected == METRICS_BY_NAME["rows_missing"].value(fold.result("f", read=tally.report()))
    assert expected == METRICS_BY_NAME["rows_missing"].value(fold.result("f", "a", tally.report()))


def test_a_step_trained_again_counts_by_its_later_tokens() -> None:
    """Run a trains 10 tokens of age 4, run b trains the step again with 30 of age 1: 95 % have age 1 at most."""
    rows = (
        *(started("a"), published("a", "g", {1: 10}), trained("a", 1, 5, "g")),
        *(started("b"), published("b", "h", {4: 30}), trained("b", 1, 5, "h")),
    )

    assert (Value(1), Value(1.0)) == (value("batch_age_p95", *rows), value("batch_age", *rows))


def test_the_95th_percentile_is_over_all_tokens() -> None:
    """96 tokens of age 0 and 4 of age 5, in two steps: the step of the old ones is no twentieth of the tokens."""
    rows = (
        *(published("a", "g", {5: 96}), trained("a", 1, 5, "g")),
        *(published("a", "h", {1: 4}), trained("a", 2, 6, "h")),
    )

    assert Value(0) == value("batch_age_p95", *rows)


def test_numbers_that_are_none() -> None:
    """What has hundreds of digits, or is not finite, is no number; a quotient of numbers is one or none."""
    huge, inf = known(10**400, NO_TOKENS), known(float("inf"), NO_TOKENS)

    assert [Value(None, missing=TOO_LARGE)] * 2 == [huge, inf]
    assert huge == ratio(huge, Value(1), NO_TIMES) == ratio(Value(1), huge, NO_TIMES)
    assert Value(None, missing=NO_TIMES) == ratio(Value(1), Value(0), NO_TIMES)
    assert Value(None, missing=TOO_LARGE) == ratio(Value(1e300), Value(1e-300), NO_TIMES)


JUNK: Final = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400), st.just(-(10**400)),
    st.lists(st.one_of(st.integers(), st.text(max_size=2), st.lists(st.integers(), max_size=3)), max_size=3),
    st.dictionaries(st.integers(), st.integers(), max_size=2),
)  # fmt: skip
FIELDS: Final = sorted({field.name for one in EVENTS for field in one.fields} | {"t"})


@st.composite
def odd_rows(draw: st.DrawFn) -> list[Row]:
    """Rows of a real job, with fields that are missing or hold anything."""
    rows: list[dict[str, Any]] = [dict(row) for row in SIMULATED]
    for place in draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=12)):
        name = draw(st.sampled_from(FIELDS))
        if draw(st.booleans()):
            rows[place].pop(name, None)
        else:
            rows[place][name] = draw(JUNK)
    return list(rows)


SIMULATED: Final = simulate(
    SimulationSettings(prompts=6, generations=2, groups_per_step=2, steps=3, open_groups=4)
).rows


@given(odd_rows())
def test_odd_rows_never_raise(rows: list[Row]) -> None:
    """Every metric has a finite number or a reason, whatever the fields hold."""
    found = measured(rows)

    compare(found, found).self_check()


def test_reasons_of_sealed_attempts_without_tokens() -> None:
    """A trained group whose rows do not say its tokens has trained an unknown number, not none."""
    rows = (dispatched("a", "x"), sealed("a", "x"), trained("a", 1, 5, "g"))

    assert Value(None, missing=NO_TOKENS) == value("trained_tokens", *rows)
