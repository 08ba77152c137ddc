"""The runs of a file: how each began and ended, and what it went on from."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.runs import RunFold, RunSummary
from rtrace_otel.events import EVENTS, Row
from tests.report.history import dispatched, ended, event, restored, started, trace, trained


def runs(*events: Row) -> tuple[RunSummary, ...]:
    """The runs of a trace."""
    fold = RunFold()
    for row in trace(*events):
        fold.add(row)
    return fold.result()


def endings(*events: Row) -> dict[str, str]:
    """How each run of a trace ended, in the order of the report."""
    return {run.run: run.ended_how for run in runs(*events)}


def test_an_empty_file_has_no_run() -> None:
    """No rows, no runs."""
    assert () == runs()


def test_a_whole_run() -> None:
    """Every field comes from the row that states it."""
    found = runs(
        started("a", host="node7", pid=41, parent_run=None),
        restored("a", 4, from_run="z"),
        trained("a", 5, 4),
        trained("a", 6, 5),
        event("a", "trace_gap", lost=30, reason="queue full"),
        event("a", "trace_gap", lost=12, reason="disk full"),
        event("a", "clock_adjusted", offset_s=3600.0),
        ended("a", "sigterm"),
    )
    expected = RunSummary(
        run="a",
        started=1000.0,
        last_row=1007.0,
        ended_how="clean",
        reason="sigterm",
        rows=8,
        host="node7",
        pid=41,
        parent_run=None,
        restored_from="ckpt-4",
        restored_step=4,
        first_step=5,
        last_step=6,
        rows_lost=42,
        clock_steps=1,
    )

    assert (expected,) == found


def test_a_run_that_says_nothing_of_itself() -> None:
    """A file of another recorder may have neither a start nor an end: what is not known is ``None``."""
    expected = RunSummary("a", 1000.0, 1000.0, "unknown", None, 1, None, None, None, None, None, None, None, 0, 0)

    assert (expected,) == runs(dispatched("a", "x"))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([started("a"), ended("a")], {"a": "clean"}),
        ([started("a")], {"a": "unknown"}),
        ([started("a"), started("b")], {"a": "killed", "b": "unknown"}),
        ([started("a"), started("b"), ended("b")], {"a": "killed", "b": "clean"}),
        ([started("a"), ended("a"), started("b"), ended("b")], {"a": "clean", "b": "clean"}),
        ([started("a"), started("b"), started("c")], {"a": "killed", "b": "killed", "c": "unknown"}),
        ([dispatched("a", "x"), dispatched("b", "x")], {"a": "killed", "b": "unknown"}),
    ],
    ids=["clean", "alone", "followed", "last is clean", "both clean", "killed twice", "without run_started"],
)
def test_how_runs_end(events: list[Row], expected: dict[str, str]) -> None:
    """Clean with a ``run_ended``; killed without one, if a later run took over; unknown if it is the last."""
    assert expected == endings(*events)


def test_a_forked_child_takes_nothing_over() -> None:
    """A child that was forked shares the file with its parent: that it began says nothing of the parent's end."""
    child = started("child", parent_run="a")

    assert {"a": "unknown", "child": "clean"} == endings(started("a"), child, ended("child"))
    assert {"a": "unknown", "child": "unknown"} == endings(started("a"), child)
    assert {"a": "clean", "child": "clean"} == endings(started("a"), child, ended("child"), ended("a"))


def test_parent_and_child_are_both_killed_when_another_run_takes_over() -> None:
    """A restore after the loss of both shows that both were killed."""
    found = endings(started("a"), started("child", parent_run="a"), started("b"), ended("b"))

    assert {"a": "killed", "child": "killed", "b": "clean"} == found


def test_a_child_of_the_restored_run_is_no_third_run() -> None:
    """Kill, restore, fork: the restored run is not killed by its own child."""
    found = endings(started("a"), started("b"), started("child", parent_run="b"))

    assert {"a": "killed", "b": "unknown", "child": "unknown"} == found


def test_the_parent_of_a_forked_child_is_told() -> None:
    """The report says which run a child was forked from."""
    assert [None, "a"] == [run.parent_run for run in runs(started("a"), started("b", parent_run="a"))]


def test_very_many_runs() -> None:
    """Twenty thousand short runs one after the other, as of a crash loop: each is looked at once, not beside all."""
    fold = RunFold()
    for number in range(20_000):
        fold.add({"event": "run_started", "run": str(number), "t": float(number), "seq": 0})
    found = fold.result()

    assert {"killed"} == {run.ended_how for run in found[:-1]}
    assert "unknown" == found[-1].ended_how


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["start", "fork", "end", "row"])), max_size=25))
def test_a_run_was_killed_where_another_began_after_its_last_row(rows: list[tuple[str, str]]) -> None:
    """Unless it said that it ended; a forked process takes nothing over."""
    made = {"start": started, "end": ended, "fork": lambda run: started(run, parent_run="x"), "row": dispatched_once}
    events = [made[what](run) for run, what in rows]
    order = [run for run, _ in rows]

    def how(run: str) -> str:
        if (run, "end") in rows:
            return "clean"
        last = len(order) - 1 - order[::-1].index(run)
        after = {other for other in order[last + 1 :] if other not in order[:last]}
        forks = {
            other for other in after if [w for r, w in rows if r == other and w in ("start", "fork")][-1:] == ["fork"]
        }
        return "killed" if after - forks else "unknown"

    assert {run: how(run) for run in order} == endings(*events)


def dispatched_once(run: str) -> Row:
    """Any row that neither begins nor ends a run."""
    return dispatched(run, "x")


def test_a_run_that_goes_on_writing_was_not_killed_by_another() -> None:
    """Two controllers share a file: one that writes after the other has ended was alive all the time."""
    found = endings(started("a"), started("b"), dispatched("b", "x"), ended("b"), dispatched("a", "y"))

    assert {"a": "unknown", "b": "clean"} == found


def test_interleaved_runs_are_counted_apart() -> None:
    """Rows, times and steps belong to the run that wrote them; runs come in the order of their first rows."""
    found = runs(
        started("b"), started("a"), trained("b", 1, 0), trained("a", 9, 8), trained("b", 2, 1), ended("a"), ended("b")
    )

    assert [
        ("b", 1000.0, 1006.0, 4, 1, 2, "clean"),
        ("a", 1001.0, 1005.0, 3, 9, 9, "clean"),
    ] == [(r.run, r.started, r.last_row, r.rows, r.first_step, r.last_step, r.ended_how) for r in found]


def beside(*events: Row) -> int:
    """How many runs may be of another job."""
    fold = RunFold()
    for row in trace(*events):
        fold.add(row)
    return fold.side_by_side()


@pytest.mark.parametrize(
    ("number", "rows_late", "second"),
    [
        (1, 20, (started("b"), dispatched_once("b"), dispatched_once("b"))),
        (0, 19, (started("b"), dispatched_once("b"), dispatched_once("b"))),
        (0, 20, (started("b"), restored("b", 4, from_run="a"), dispatched_once("b"))),
        (0, 20, (started("b"), ended("b"))),
        (0, 20, (started("b", parent_run="a"), dispatched_once("b"), dispatched_once("b"))),
    ],
    ids=["two jobs", "few late rows", "it restored", "it did no work", "a forked child"],
)
def test_runs_side_by_side_may_be_two_jobs(number: int, rows_late: int, second: tuple[Row, ...]) -> None:
    """Run a goes on for so many rows after run b began."""
    assert number == beside(started("a"), *second, *[dispatched_once("a")] * rows_late)


def test_step_zero_is_a_step() -> None:
    """The first step may have number 0."""
    assert [(0, 1)] == [(run.first_step, run.last_step) for run in runs(trained("a", 0, 0), trained("a", 1, 1))]


def test_a_run_with_one_row_has_lasted_no_time() -> None:
    """Its first row is its last."""
    assert [(1000.0, 1000.0)] == [(run.started, run.last_row) for run in runs(started("a"))]


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_events_of_the_vocabulary_are_known(name: str) -> None:
    """The fold tells events of the vocabulary from others."""
    assert RunFold().add(trace(event("a", name))[0])


def test_other_events_are_rows_of_their_run_all_the_same() -> None:
    """An event of the user's own is not of the vocabulary, and counts as a row."""
    fold = RunFold()

    assert not fold.add(trace(event("a", "tool_call"))[0])
    assert [1] == [run.rows for run in fold.result()]


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        (name, field, value)
        for name, field in [
            ("run_started", "host"), ("run_started", "parent_run"), ("run_ended", "reason"), ("trace_gap", "lost"),
            ("checkpoint_restored", "checkpoint_id"), ("checkpoint_restored", "step"), ("train_step", "step"),
        ]
        for value in (None, True, 1.5, "x", [], [1], {}, {"x": 1}, float("nan"), 10**400)
    ],
)  # fmt: skip
def test_odd_values_never_raise(name: str, field: str, value: Any) -> None:
    """Whatever a field holds, the run is reported."""
    assert ["a", "b"] == [run.run for run in runs(event("a", name, **{field: value}), started("b"), ended("b"))]


ODD_TIMES: list[Any] = [None, "soon", float("nan"), float("inf"), float("-inf"), 10**400, [], True]


@pytest.mark.parametrize(("place", "began"), [(0, 1001.0), (1, 1000.0)], ids=["first row", "later row"])
@pytest.mark.parametrize("t", ODD_TIMES, ids=lambda t: repr(t)[:20])
def test_a_row_without_a_time_moves_neither_begin_nor_end(t: Any, place: int, began: float) -> None:
    """A run begins with its first row that has a time, which is not the year 1970."""
    rows = trace(started("a"), dispatched("a", "x"), ended("a"))
    rows[place]["t"] = t
    fold = RunFold()
    for row in rows:
        fold.add(row)

    assert [(began, 1002.0, 3)] == [(run.started, run.last_row, run.rows) for run in fold.result()]


def test_rows_without_any_field_of_their_own() -> None:
    """Every event of the vocabulary, bare: the rows are counted."""
    assert [len(EVENTS)] == [run.rows for run in runs(*(event("a", known.name) for known in EVENTS))]
