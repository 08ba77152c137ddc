"""Training steps of a small job with one kill: every field worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.analysis.step_results import StepRecord, StepsReport, Verdict, WallTime
from rtrace_otel.analysis.steps import StepsFold, train_steps
from rtrace_otel.events import Row
from tests.report.history import event, restored, started, trace
from tests.report.timed import JOB, at, dispatch, group, seal, step, sync


def report(*events: Row) -> StepsReport:
    """The report of a trace, checked."""
    found = train_steps(trace(*events))
    found.self_check()
    return found


def begin(time: float, number: int, run: str = "a") -> Row:
    """A training step begins."""
    return event(run, "train_step_started", step=number, t=time)


def published(time: float, *groups: str, run: str = "a") -> list[Row]:
    """Groups are published."""
    return [group(time, run, "published", group_id) for group_id in groups]


def test_the_steps_of_the_job() -> None:
    """Step 5 began at 12, 5 s after the refit at 7; it took 3 s, and the refit after it 1 s.

    One published group was waiting and two attempts were open. 5 of 9 s is more than a tenth, and no group
    was left over.
    """
    expected = StepRecord(
        step=5, run="a", started=12.0, ended=15.0, wait_s=5.0, train_s=3.0, sync_s=1.0, groups=1, tokens=150, queue=1,
        open_attempts=2,
    )  # fmt: skip
    found = train_steps(JOB)
    found.self_check()

    assert (expected,) == found.steps
    assert (9.0, 150 / 9, Verdict.TRAINER_WAITS) == (expected.cycle_s, expected.tokens_per_s, expected.verdict)


def test_the_wall_time_of_the_job() -> None:
    """Run a: other to 6.5, sync to 7, wait to 12, training to 15, sync to 16, other to 20.

    Run b begins 10 s later: restored at 31, wait to 33.5, sync to 34, other to 36.
    """
    found = train_steps(JOB)

    assert {
        "a": WallTime(20.0, waiting_s=5.0, training_s=3.0, syncing_s=1.5, checkpointing_s=0.0, other_s=10.5),
        "b": WallTime(6.0, waiting_s=2.5, training_s=0.0, syncing_s=0.5, checkpointing_s=0.0, other_s=3.0),
    } == found.runs
    assert (WallTime(26.0, 7.5, 3.0, 2.0, 0.0, 13.5), 10.0, {"trainer waits": 1}) == (
        found.all_runs, found.stopped_s, found.verdicts
    )  # fmt: skip


def test_an_empty_file_has_no_steps() -> None:
    """And no time."""
    assert StepsReport((), {}, WallTime(0, 0, 0, 0, 0, 0), 0.0, {}) == report()


def test_a_step_that_was_not_announced_begins_at_its_end_minus_its_seconds() -> None:
    """It began at 6: one group waited, published at 5, and one attempt was open; what came at 7 and 8 came later."""
    (found,) = report(
        sync(2, "a", 1), dispatch(3, "a", "x"), dispatch(3, "a", "y"), seal(4, "a", "x"), *published(5, "g"),
        seal(7, "a", "y"), *published(8, "h"), step(10, "a", 1, "g", seconds=4.0),
    ).steps  # fmt: skip

    assert (6.0, 4.0, 4.0, 1, 1) == (found.started, found.wait_s, found.train_s, found.queue, found.open_attempts)


def test_without_start_and_seconds_nothing_is_known_of_the_time() -> None:
    """Nor of who waited for whom."""
    (found,) = report(sync(2, "a", 1), *published(5, "g"), step(10, "a", 1, "g")).steps

    assert (None, None, None, None, None, Verdict.UNKNOWN) == (
        found.started, found.wait_s, found.train_s, found.queue, found.open_attempts, found.verdict
    )  # fmt: skip


def test_the_first_step_waits_from_the_first_work_of_the_run() -> None:
    """Without any, nobody knows since when the trainer waited."""
    (bare,) = report(at(0, started("a")), begin(5, 1), step(6, "a", 1)).steps
    (loaded,) = report(at(0, started("a")), sync(2, "a", 1), begin(5, 1), step(6, "a", 1)).steps
    (back,) = report(at(0, started("a")), at(3, restored("a", 0)), begin(5, 1), step(6, "a", 1)).steps

    assert (None, 3.0, 2.0) == (bare.wait_s, loaded.wait_s, back.wait_s)


def test_a_sync_that_goes_on_during_the_next_step_leaves_no_wait() -> None:
    """It ends at 9, and the step began at 8; it belongs to the step before."""
    first, second = report(
        begin(1, 1), step(5, "a", 1), event("a", "weight_sync_started", t=6.0), begin(8, 2), sync(9, "a", 1),
        step(12, "a", 2),
    ).steps  # fmt: skip

    assert (3.0, None) == (first.sync_s, second.sync_s)
    assert (3.0, 4.0) == (second.wait_s, second.train_s)


def test_a_step_that_its_run_did_not_finish() -> None:
    """It trained until the run's last row; the next run's step stands behind it."""
    found = report(
        begin(1, 1), step(2, "a", 1), begin(4, 2), at(9, event("a", "mark")), at(10, started("b")), begin(11, 2, "b"),
        step(12, "b", 2),
    )  # fmt: skip

    assert [(1, "a", 2.0, 1.0), (2, "a", None, 5.0), (2, "b", 12.0, 1.0)] == [
        (step.step, step.run, step.ended, step.train_s) for step in found.steps
    ]
    assert 1.0 + 5.0 == found.runs["a"].training_s


def test_a_step_that_begins_twice_is_two() -> None:
    """The end of the first is lost; so is the end of a step after which another one ends."""
    found = report(begin(1, 1), begin(3, 2), step(6, "a", 3, seconds=1.0))

    assert [(1, None, None), (2, None, None), (3, 5.0, 1.0)] == [
        (step.step, None if step.ended is None else step.started, step.train_s) for step in found.steps
    ]


@pytest.mark.parametrize(
    ("queue", "groups", "wait_s", "expected"),
    [
        (2, 2, 1.01, Verdict.TRAINER_WAITS),
        (1, 2, 5.0, Verdict.TRAINER_WAITS),
        (2, 2, 1.0, Verdict.BALANCED),
        (3, 2, 5.0, Verdict.BALANCED),
        (4, 2, 0.0, Verdict.ROLLOUTS_WAIT),
        (4, 2, 5.0, Verdict.ROLLOUTS_WAIT),
        (4, 2, None, Verdict.ROLLOUTS_WAIT),
        (3, 2, None, Verdict.BALANCED),
        (2, 2, None, Verdict.UNKNOWN),
        (None, 2, 5.0, Verdict.UNKNOWN),
        (4, 0, 5.0, Verdict.UNKNOWN),
        (4, None, 5.0, Verdict.UNKNOWN),
    ],
)
def test_verdicts(queue: int | None, groups: int | None, wait_s: float | None, expected: Verdict) -> None:
    """Training and sync take 9 s, so a wait of 1 s is a tenth of the cycle, and no more."""
    found = StepRecord(1, "a", 0.0, 9.0, wait_s, 8.0, 1.0, groups, 10, queue, 0)

    assert expected == found.verdict


def test_a_cycle_needs_wait_and_training() -> None:
    """A step without a sync has a shorter one; without time there is no rate."""
    found = StepRecord(1, "a", 0.0, 9.0, 2.0, 3.0, None, 1, 10, 1, 0)

    assert (5.0, 2.0) == (found.cycle_s, found.tokens_per_s)
    assert (None, None) == ((odd := replace(found, wait_s=None)).cycle_s, odd.tokens_per_s)
    assert (0.0, None) == ((odd := replace(found, wait_s=0.0, train_s=0.0)).cycle_s, odd.tokens_per_s)
    assert replace(found, tokens=None).tokens_per_s is None


def test_a_checkpoint_during_the_wait_is_told_apart() -> None:
    """It goes on from 6 to 12; the trainer waits from 5 to 8 and from 10 to 14."""
    found = report(
        begin(1, 1), step(5, "a", 1), event("a", "checkpoint_started", t=6.0), begin(8, 2), step(10, "a", 2),
        event("a", "checkpoint_published", checkpoint_id="c", step=2, t=12.0), begin(14, 3), step(15, "a", 3),
    )  # fmt: skip

    assert WallTime(14.0, 1.0 + 2.0, 4.0 + 2.0 + 1.0, 0.0, 2.0 + 2.0, 0.0) == found.runs["a"]
    assert [None, 3.0, 4.0] == [step.wait_s for step in found.steps]


def test_runs_that_were_forked_are_no_time_of_the_job() -> None:
    """Their time is that of their parent."""
    found = report(
        at(0, started("a")), at(1, started("c", parent_run="a")), at(5, event("c", "mark")), at(9, event("a", "mark"))
    )

    assert (["a"], 9.0, 0.0) == (list(found.runs), found.all_runs.total_s, found.stopped_s)


def test_runs_that_overlap_leave_no_time_between_them() -> None:
    """The second begins at 5 while the first still writes, until 8; the third begins at 12."""
    found = report(
        at(0, started("a")), at(5, started("b")), at(8, event("a", "mark")), at(7, event("b", "mark")),
        at(12, started("c")),
    )  # fmt: skip

    assert 4.0 == found.stopped_s


def test_the_result_can_be_asked_for_twice() -> None:
    """Asking changes nothing: what is going on may end later."""
    fold = StepsFold()
    for place, row in enumerate(JOB):
        fold.add(row)
        assert train_steps(JOB[: place + 1]) == fold.result()


QUEUE: list[tuple[list[Row], int | None, str]] = [
    ([*published(1, "g", "h", "i")], 3, "three were published"),
    ([*published(1, "g", "h"), group(2, "a", "discarded", "h")], 1, "one of two was discarded"),
    ([*published(1, "g"), *published(2, "g")], 1, "one was published twice"),
    ([*published(1, "g", "h"), step(2, "a", 0, "h")], 1, "one of two was trained"),
    ([*published(1, "h")], None, "the step's own group was never published"),
    ([*published(1, "g", "h", run="z"), group(2, "a", "reserved", origin_run="z")], 1, "one of two was brought back"),
    ([*published(1, "g", "h", run="z"), at(2, restored("a", 1, groups=["g", "h"]))], 2, "the restore names both"),
    (
        [*published(1, "g", "h", run="z"), at(2, restored("a", 1, groups=["g", "h"])), dispatch(3, "a", "x", "h")],
        1,
        "one was published after the checkpoint, and is worked on again",
    ),
    (
        [*published(1, "g", "h", run="z"), step(1, "z", 9, "g"), at(2, restored("a", 1, groups=["g"]))],
        1,
        "a step that the restore gave up had trained it",
    ),
    (
        [*published(1, "g"), started("b"), group(2, "b", "reserved", origin_run="a"), *published(3, "h")],
        1,
        "a later run has one of two",
    ),
]


@pytest.mark.parametrize(("rows", "expected", "why"), QUEUE, ids=[why for _, _, why in QUEUE])
def test_the_queue_at_a_steps_start(rows: list[Row], expected: int | None, why: str) -> None:
    """Published groups that neither a step nor a discard has taken, in this run or brought back into it."""
    found = report(*rows, begin(8, 1), step(9, "a", 1, "g")).steps[-1]

    assert expected == found.queue, why


def test_open_attempts_at_a_steps_start() -> None:
    """Three began; one was sealed, one is another run's, and a kept result is none."""
    kept = event("a", "attempt_resumed", attempt_id="k", level="sibling", t=1.0)
    rows = [dispatch(1, "a", "x"), dispatch(1, "a", "x"), dispatch(1, "a", "y"), dispatch(1, "b", "z"), kept]
    (found,) = report(*rows, seal(2, "a", "y"), seal(2, "a", "z"), begin(8, 1), step(9, "a", 1, "g")).steps

    assert 1 == found.open_attempts


@pytest.mark.parametrize("wrong", [{"waiting_s": 9.0}, {"other_s": 0.0}, {"waiting_s": -1.0, "other_s": 17.0}], ids=str)
def test_the_check_of_conservation_can_fail(wrong: dict[str, Any]) -> None:
    """A second too many, too few, or less than none is caught."""
    found = train_steps(JOB)
    with pytest.raises(AssertionError):
        replace(found, all_runs=replace(found.all_runs, **wrong)).self_check()


def test_a_step_without_verdict_is_caught() -> None:
    """The check counts steps too."""
    with pytest.raises(AssertionError):
        replace(train_steps(JOB), verdicts={}).self_check()
