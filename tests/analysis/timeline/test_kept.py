"""A picture holds a sample that has the remarkable attempts, and says how many there are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.timeline.fold import TimelineFold, timeline
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.analysis.timeline.states import State
from rtrace_otel.events import Row
from tests.report.history import started, trace
from tests.report.timed import JOB, abandon, at, dispatch, group, seal, step


def many(attempts: int) -> list[Row]:
    """One group an attempt, a second each; attempt 30 takes ten seconds, every tenth is abandoned, the last is open."""
    rows = [at(0.0, started("a"))]
    for number in range(attempts):
        name, t = str(number), float(number)
        rows += [group(t, "a", "reserved", f"g{name}"), dispatch(t, "a", name, f"g{name}")]
        if number == attempts - 1:
            break
        end = abandon(t + 1, "a", name) if number % 10 == 9 else seal(t + (10 if number == 30 else 1), "a", name, 5)
        rows += [end, step(t + 1, "a", number, f"g{name}")]
    return trace(*rows)


def built(rows: list[Row], **selection: Any) -> Timeline:
    """The timeline, checked."""
    result = timeline(rows, Selection(**selection))
    result.self_check()
    return result


def test_a_sample_has_the_longest_and_those_without_a_result() -> None:
    """Of 100 attempts twenty are held: two for their length, ten abandoned or open ones, and eight others."""
    result = built(many(100), max_attempts=20)
    states = [result.state(place) for place in range(20)]

    assert (100, 100, 20) == (result.attempts_total, result.attempts_matching, result.attempts_shown)
    assert "30" in result.attempts.attempt_id
    assert (9, 1) == (states.count(State.ABANDONED), states.count(State.OPEN))


def test_a_sample_is_the_same_each_time() -> None:
    """No chance is in it."""
    first, second = (built(many(100), max_attempts=15).attempts.attempt_id for _ in range(2))

    assert first == second


@given(st.integers(1, 40), st.integers(1, 20), st.integers(1, 80))
def test_with_a_spare_those_of_an_exact_sample_are_held_too(most: int, spare: int, attempts: int) -> None:
    """More are held between, never more than the spare allows beside the one that is open."""
    exact = built(many(attempts), max_attempts=most).attempts.attempt_id
    more = built(many(attempts), max_attempts=most, spare=spare).attempts.attempt_id

    assert set(exact) <= set(more)
    assert len(more) <= most + spare + 1
    assert len(more) == attempts or len(more) >= most


def test_with_a_spare_those_that_are_held_change_rarely() -> None:
    """Of forty updates of a job, each with one attempt more, few take an older one away; without a spare most do."""

    def takings(spare: int) -> int:
        rows, fold = many(80), TimelineFold(Selection(max_attempts=30, spare=spare))
        before: set[str] = set()
        taken = 0
        for row in rows:
            fold.add(row)
            if row["event"] == "train_step" and row["step"] > 38:
                held = set(fold.result().attempts.attempt_id)
                taken += not before <= held
                before = held
        return taken

    assert takings(10) < takings(0) / 2


def test_a_spare_is_not_negative() -> None:
    """Like the number to hold, which is at least one."""
    with pytest.raises(ValueError, match="spare must be at least 0: -1"):
        Selection(spare=-1)


def test_numbers_come_from_all_attempts() -> None:
    """However few are held."""
    whole, thin = built(many(60)), built(many(60), max_attempts=1)

    assert (1, whole.attempts_total) == (thin.attempts_shown, thin.attempts_total)
    assert whole.series == thin.series
    assert (whole.by_outcome, whole.attempt_seconds, whole.bands) == (
        thin.by_outcome, thin.attempt_seconds, thin.bands
    )  # fmt: skip


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        ({}, "xyuvwz"),
        ({"run": "b"}, "wz"),
        ({"first_step": 5}, "xy"),
        ({"first_step": 6}, ""),
        ({"last_step": 4}, ""),
        ({"last_step": 5}, "xy"),
        ({"since": 15.0}, "uvwz"),
        ({"until": 11.5}, "xyuv"),
        ({"since": 33.0, "until": 33.25}, "w"),
    ],
)
def test_selections(selection: dict[str, object], expected: str) -> None:
    """By run, by the step that trained them, and by time: what is open at any moment of the range."""
    result = built(JOB, **selection)

    assert expected == "".join(result.attempts.attempt_id)
    assert (6, len(expected)) == (result.attempts_total, result.attempts_matching)


def test_a_picture_of_nothing_is_refused() -> None:
    """At least one attempt must fit."""
    with pytest.raises(ValueError, match="max_attempts must be at least 1: 0"):
        Selection(max_attempts=0)
