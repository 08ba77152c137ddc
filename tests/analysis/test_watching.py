"""A picture of a trace that is still being written: values worked out by hand, and those of a whole reading."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.watch.attempts import WatchedAttempts
from rtrace_otel.analysis.watch.results import Happening, LiveAttempts, LiveGroups, Rates, StepPoint, UnderWay
from rtrace_otel.analysis.watch.watching import MAX_HAPPENINGS, MAX_STEPS, WatchFold, snapshot_of
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.ledger.histories import histories
from tests.report.history import (
    dispatched,
    ended,
    event,
    published,
    refit,
    refused,
    reserved,
    restored,
    resumed,
    sealed,
    started,
    trace,
    trained,
)  # fmt: skip

JOB = trace(
    started("a"),  # t = 1000
    reserved("a", "f"),
    dispatched("a", "w", "f"),
    sealed("a", "w"),
    published("a", "f", {4: 600}),
    reserved("a", "g"),
    reserved("a", "h"),
    dispatched("a", "x", "g"),
    dispatched("a", "y", "h"),
    refused("a", "y"),
    event("a", "weight_sync_started"),  # 1010
    refit("a", 4, 5, ("c1", 50), ("c2", 100)),  # 1011
    event("a", "checkpoint_published", checkpoint_id="ckpt-1", step=1, groups=["f", "g"], seconds=0.5),
    started("b"),  # 1013
    restored("b", 1, groups=["f", "g"], seconds=2.0),
    dispatched("b", "z", "g"),  # 1015
    resumed("b", "v", "prefix", "x"),
    event("b", "train_step_started", step=2),  # 1017
)
"""Run a is killed with x running and y refused; b has f (ready) and g, and two attempts open."""

NOW = 1023.0


def test_attempts() -> None:
    """Begun are w, x, y, z and v."""
    found = snapshot_of(JOB, NOW)
    found.self_check()

    assert LiveAttempts(5, 1, 0, running=2, refused=0, left_open=0, interrupted=2, forgotten=0) == found.attempts


def test_attempts_before_the_kill() -> None:
    """Run a has x and y open, and y waits for another dispatch."""
    found = snapshot_of(JOB[:13], NOW)
    found.self_check()

    assert LiveAttempts(3, 1, 0, running=2, refused=1, left_open=0, interrupted=0, forgotten=0) == found.attempts
    assert [("x", False), ("y", True)] == [(one.attempt_id, one.refused) for one in found.slowest]


def test_groups() -> None:
    """f, g and h were reserved; the restore has f, which stays ready, and g; h is lost."""
    expected = LiveGroups(
        reserved=3, brought_back=2, trained=0, discarded=0, ready=1, unfinished=1, left_open=0, interrupted=1
    )

    assert expected == snapshot_of(JOB, NOW).groups


def test_the_slowest_are_those_of_the_run_that_goes_on() -> None:
    """With their prompt, group and time; the later one comes second."""
    found = [
        (one.attempt_id, one.prompt_id, one.group_id, one.since, one.refused) for one in snapshot_of(JOB, NOW).slowest
    ]

    assert [("z", "17", "g", 1015.0, False), ("v", None, None, 1016.0, False)] == found


def test_rates() -> None:
    """Since the first row 23 s have passed: 18 rows, 4 dispatches (v was resumed), 1 seal, and no step."""
    assert Rates(23.0, 18 / 23, 4 / 23, 1 / 23, 0.0) == snapshot_of(JOB, NOW).rates


def test_rates_forget_after_a_minute() -> None:
    """At 1073 the window begins after 1013: the four rows from 1014 on are in it, among them one dispatch."""
    assert Rates(60.0, 4 / 60, 1 / 60, 0.0, 0.0) == snapshot_of(JOB, 1073.0).rates


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (trained("b", 2, 5, "f"), 600 / 20),  # the counts that f was published with
        (trained("b", 2, 5, "f") | {"tokens": 500}, 500 / 20),
        (trained("b", 2, 5, "g"), None),  # a step whose tokens nobody tells
    ],
)
def test_trained_tokens(step: Row, rate: float | None) -> None:
    """Those that the step says, else those of its groups; 20 s after the first row."""
    assert rate == snapshot_of([*JOB, {**step, "t": 1018.0, "seq": 9}], 1020.0).rates.trained_tokens


def test_batch_ages() -> None:
    """Trained at 5 with tokens of 4: age 1."""
    found = snapshot_of([*JOB, {**trained("b", 2, 5, "f"), "t": 1018.0, "seq": 9}], NOW)

    assert (StepPoint(2, "b", 1018.0, 1.0),) == found.steps
    assert () == found.under_way, "the step has ended"


def test_what_happened() -> None:
    """A refit takes from its begin to its end, where its row does not say."""
    found = snapshot_of(JOB, NOW)

    assert (Happening("refit", "a", 1011.0, 1.0, "5", 2, None),) == found.refits
    assert (Happening("checkpoint", "a", 1012.0, 0.5, "ckpt-1", None, 2),) == found.checkpoints
    assert (Happening("restore", "b", 1014.0, 2.0, "ckpt-1", None, 2),) == found.restores
    assert (UnderWay("training step", "b", 1017.0, 2),) == found.under_way


def test_what_a_killed_run_was_in_the_middle_of_is_not_under_way() -> None:
    """A refit that began before the kill never ends."""
    rows = trace(started("a"), event("a", "weight_sync_started"), started("b"))

    assert ["refit"] == [one.phase for one in snapshot_of(rows[:2], NOW).under_way]
    assert () == snapshot_of(rows, NOW).under_way


def test_the_weights_that_a_run_loads_are_no_refit() -> None:
    """Nothing is replaced."""
    assert () == snapshot_of(trace(started("a"), refit("a", 4, 4)), NOW).refits


def test_an_attempt_of_a_run_that_ended_is_left_open() -> None:
    """It neither runs nor was it interrupted."""
    found = snapshot_of(trace(started("a"), reserved("a", "g"), dispatched("a", "x"), ended("a")), NOW)
    found.self_check()

    assert (0, 1, 0) == (found.attempts.running, found.attempts.left_open, found.attempts.interrupted)
    assert (0, 0, 1) == (found.groups.ready, found.groups.unfinished, found.groups.left_open)
    assert () == found.slowest


def test_an_attempt_that_is_dispatched_again_is_as_old_as_before() -> None:
    """It was refused at 1002 and runs since 1003, but is open since 1001."""
    rows = trace(started("a"), dispatched("a", "x"), refused("a", "x"), dispatched("a", "x"))
    (found,) = snapshot_of(rows, NOW).slowest

    assert (1001.0, False) == (found.since, found.refused)


def test_an_id_that_a_later_run_uses_again_is_new() -> None:
    """Its age counts from the later run's dispatch."""
    rows = trace(started("a"), dispatched("a", "x"), started("b"), dispatched("b", "x"), sealed("b", "x"))
    (found,) = snapshot_of(rows[:4], NOW).slowest

    assert ("b", 1003.0) == (found.run, found.since)
    assert () == snapshot_of(rows, NOW).slowest


def test_rows_lost_and_clock_steps() -> None:
    """As the recorders say; a number that is none does not count."""
    rows = trace(
        event("a", "trace_gap", lost=3, reason="disk full"),
        event("a", "trace_gap", lost="many", reason="disk full"),
        event("a", "trace_gap", lost=4, reason="fork"),
        event("a", "clock_adjusted", offset_s=3.0),
    )

    assert (7, 1) == ((found := snapshot_of(rows, NOW)).rows_lost, found.clock_steps)


def test_an_empty_file() -> None:
    """Nothing is known."""
    found = snapshot_of([], NOW)
    found.self_check()

    assert (0, None, (), Rates(None, 0.0, 0.0, 0.0, 0.0)) == (found.rows, found.last_row, found.runs, found.rates)


def test_too_many_open_attempts_are_forgotten_and_counted() -> None:
    """The oldest goes, refused or not; its end is no end then."""
    book = WatchedAttempts(most=2)
    for name in "xyz":
        book.begin(dispatched("a", name) | {"t": 1.0})
        book.refuse(refused("a", name))
    assert not book.end(sealed("a", "x"), "sealed")

    assert LiveAttempts(3, 0, 0, running=2, refused=2, left_open=0, interrupted=0, forgotten=1) == book.counts(
        ["a"], []
    )


def test_what_is_kept_of_a_long_job_is_bounded() -> None:
    """The latest steps and refits, however many there were."""
    rows = trace(*(one for step in range(300) for one in (trained("a", step, step), refit("a", step, step + 1))))
    found = snapshot_of(rows, 2000.0)

    assert (MAX_STEPS, 299) == (len(found.steps), found.steps[-1].step)
    assert (MAX_HAPPENINGS, "300") == (len(found.refits), found.refits[-1].what)


def test_the_latest_runs_are_those_of_all() -> None:
    """Each as if all were told of."""
    fold = RunFold()
    for row in trace(*(started(f"r{place}") for place in range(5))):
        fold.add(row)

    assert fold.result()[3:] == fold.latest(2)
    assert (fold.result(), 5) == (fold.latest(9), len(fold))


@given(histories(), st.integers(0, 400))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_counts_are_those_of_the_summary(given_settings: SimulationSettings, cut: int) -> None:
    """Of a whole simulated job, and of it up to any row."""
    rows = simulate(given_settings).rows
    for part in (rows, rows[:cut]):
        found, summary = snapshot_of(part, 1e9), summarise(part)
        found.self_check()
        a, g = summary.attempts, summary.groups

        assert (a.begun, a.sealed, sum(a.abandoned.values()), a.interrupted, a.open) == (
            found.attempts.begun, found.attempts.sealed, found.attempts.abandoned, found.attempts.interrupted,
            found.attempts.running + found.attempts.left_open,
        )  # fmt: skip
        assert (g.reserved, g.brought_back, g.trained, sum(g.discarded.values()), g.interrupted, g.open) == (
            found.groups.reserved, found.groups.brought_back, found.groups.trained, found.groups.discarded,
            found.groups.interrupted, found.groups.ready + found.groups.unfinished + found.groups.left_open,
        )  # fmt: skip
        assert (summary.runs, summary.rows) == (found.runs, found.rows)


_ODD: Any = st.sampled_from(
    [None, True, -1, 0, 2**70, 10**400, 1e308, float("nan"), float("inf"), -5.0, "", "x\x1b", [], [[]], {}, {"a": 1}]
) | st.text(max_size=3)
_FIELDS = sorted({field.name for one in EVENTS for field in one.fields})


@given(
    st.lists(
        st.fixed_dictionaries(
            {"event": st.sampled_from([one.name for one in EVENTS]), "run": st.sampled_from("ab"), "t": _ODD},
            optional=dict.fromkeys(_FIELDS, _ODD),
        ),
        max_size=12,
    )
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_odd_rows_are_survived(rows: list[Row]) -> None:
    """Any field of any event with any value: the counts add up."""
    fold = WatchFold()
    for row in rows:
        fold.add(row)
    fold.snapshot(NOW).self_check()
