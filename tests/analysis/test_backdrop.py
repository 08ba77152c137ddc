"""Counters, runs and stops that stand beside the spans of a picture."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.backdrop import Backdrop, Counter, Sample
from rtrace_otel.events import Row
from tests.cli.conftest import JOB, RUN_A, RUN_B
from tests.report.history import abandoned, dispatched, ended, published, reserved, sealed, started, trace, trained


def followed(rows: list[Row], run: str | None = None) -> Backdrop:
    """What stands beside the spans of rows."""
    backdrop = Backdrop(run)
    assert rows == list(backdrop.through(rows))
    return backdrop


def levels(backdrop: Backdrop, counter: Counter) -> list[tuple[float, float]]:
    """Times and values of a counter."""
    return [(sample.t, sample.value) for sample in backdrop.taken() if sample.counter == counter]


def test_samples_are_given_once() -> None:
    """The second call has only what came since."""
    backdrop = followed(trace(started("a"), dispatched("a", "x")))
    assert [Sample(Counter.OPEN_ATTEMPTS, 1001.0, 1)] == backdrop.taken()
    assert [] == backdrop.taken()


def test_two_runs_at_once_are_added() -> None:
    """A child process records beside its parent: what both have open counts."""
    rows = trace(
        started("a"), started("b", parent_run="a"), dispatched("a", "x"), dispatched("b", "y"), sealed("a", "x")
    )
    assert [(1002.0, 1), (1003.0, 2), (1004.0, 1)] == levels(followed(rows), Counter.OPEN_ATTEMPTS)


def test_a_killed_run_has_nothing_open_any_more() -> None:
    """The next run begins at 1003 s; what the first one had open has gone with its last row, at 1002 s."""
    rows = trace(started("a"), dispatched("a", "x"), reserved("a", "g"), started("b"), dispatched("b", "y"))
    assert [(1001.0, 1), (1002.0, 0), (1004.0, 1)] == levels(followed(rows), Counter.OPEN_ATTEMPTS)


def test_a_run_that_has_ended_has_nothing_open_any_more() -> None:
    """Its last row is the end of all it left open."""
    rows = trace(started("a"), dispatched("a", "x"), reserved("a", "g"), published("a", "g"), ended("a"))
    backdrop = followed(rows)
    samples = backdrop.taken()
    assert Sample(Counter.OPEN_ATTEMPTS, 1004.0, 0) in samples
    assert Sample(Counter.QUEUE, 1004.0, 0) in samples


@pytest.mark.parametrize(("run", "ages"), [(RUN_A, [(1005.0, 0.0)]), (RUN_B[:4], [(1018.0, 1.375)]), ("nope", [])])
def test_one_run_only(run: str, ages: list[tuple[float, float]]) -> None:
    """Its own counters, and the stop before or after it; the age is right, although it takes both runs to know it."""
    backdrop = followed(JOB, run)
    assert ages == levels(backdrop, Counter.BATCH_AGE)
    assert (1 if ages else 0) == len(backdrop.runs()) == len(backdrop.stops())


RUNS = st.sampled_from(["a", "b", "c"])
NAMES = st.sampled_from(["x", "y", "z"])
EVENTS = st.one_of(
    st.builds(started, RUNS),
    st.builds(ended, RUNS),
    st.builds(dispatched, RUNS, NAMES, NAMES),
    st.builds(sealed, RUNS, NAMES),
    st.builds(abandoned, RUNS, NAMES),
    st.builds(published, RUNS, NAMES),
    st.builds(lambda run, group: trained(run, 1, 1, group), RUNS, NAMES),
)
ODD_TIMES = st.sampled_from([None, "x", -1.0, float("nan"), 1e300, 5.0])


@given(st.lists(EVENTS, max_size=40), st.lists(st.tuples(st.integers(0, 39), ODD_TIMES), max_size=4))
def test_counts_are_never_negative(events: list[Row], odd: list[tuple[int, Any]]) -> None:
    """Whatever the order of the rows and their times; and a run that begins last leaves only its own open."""
    rows = trace(*events)
    for place, t in odd:
        if place < len(rows):
            rows[place]["t"] = t
    backdrop = followed([*rows, *trace(started("last"))])
    samples = backdrop.taken()
    assert [] == [sample for sample in samples if sample.value < 0 or not 0 <= sample.t < 1e12]
    for counter in (Counter.OPEN_ATTEMPTS, Counter.QUEUE):
        last = [sample.value for sample in samples if sample.counter == counter][-1:]
        assert last in ([], [0])
