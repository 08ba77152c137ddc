"""The fate of every rollout over one stop: each awkward case as a job of a few rows."""

from __future__ import annotations

from dataclasses import replace

from rtrace_otel.analysis.ledger.settled import LongLoss
from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.restore_results import Barrier, Interval
from tests.analysis.ledger.stories import (
    ONE_STOP,
    RunTold,
    Story,
    back,
    drop,
    keep,
    once,
    reserve,
    save,
    seal,
    send,
    told,
    train,
)
from tests.report.history import abandoned, ended, event, started, trace
from tests.report.stops import STOP

SAFE = (started("a"), *once("a", 1, "1"), save("a", 1))
"""Run a trains step 1 on one rollout and saves a checkpoint after it."""

LINEAGE_2: list[RunTold] = [("a", ((1, 1),), ()), ("b", ((2, 2),), ())]
"""Run a's step 1 counts, and run b's step 2."""


def test_one_stop_in_full() -> None:
    """Every number of a stop.

    The checkpoint is taken at 10. After it, a1 (10 tokens, 2 s) is trained by step 2 at 14; x is sealed at 16 with 30
    tokens after 4 s; y runs from 13 to the stop at 20 and a refit at 15 saw 7 tokens of it; z runs from 18. Run b
    begins at 50: nothing ran for 30 s. It keeps x, goes on with 5 tokens of y, begins z and a1 again. Lost are the 10
    tokens of a1, of z nobody knows, and 2 of the 7 of y.
    The first checkpoint was taken at 2: the interval is 8 s, the age 10 s. Since 10, a1 and x were sealed. Taken twice
    as often, the last one would have been taken at 18, after both. Half as often, either the one at 10 or only the one
    at 2 is there: nothing was sealed between, so the mean is the same.
    """
    report = restore_report(ONE_STOP)

    report.self_check()
    nothing, sealed_since = Amount(), Amount(2, 40, True, 0, 6.0)
    expected = replace(
        STOP,  # run a killed at 20 and restored by run b from checkpoint c1, after 30 s
        restore_s=1.5,
        first_dispatch_s=3.0,
        first_seal_s=7.0,
        first_train_step_s=8.0,
        throughput_back_s=None,
        steps_lost=(2,),
        steps_trained_again=(2,),
        in_flight=Amount(2, 7, False, 5, 7.0 + 2.0),
        fates={
            Fate.REUSED: Amount(1, 30, True, 30, 4.0),
            Fate.RESUMED: Amount(1, 7, False, 5, 7.0),
            Fate.REDONE: Amount(1, 0, False, 0, 2.0),
            Fate.TRAINED_AGAIN: Amount(1, 10, True, 0, 2.0),
            Fate.DISCARDED: nothing,
            Fate.NEVER_CAME_BACK: nothing,
            Fate.UNKNOWN: nothing,
        },
        longest=(
            LongLoss("a1", "p1", "0", Fate.TRAINED_AGAIN, 10, True, 2.0),
            LongLoss("y", "p2", "1", Fate.RESUMED, 2, False, 7.0),
        ),
        interval=Interval(10.0, 8.0, sealed_since, nothing, sealed_since),
    )
    assert (expected,) == report.stops
    assert Amount(2, 12 + 5, False, 5, 4.0) == report.stops[0].lost
    assert Barrier(2, None, 1, 0, 0.0, 0.0) == report.barrier


def test_no_run_took_over() -> None:
    """One run that ends cleanly is no stop."""
    rows = trace(*SAFE, ended("a"))

    assert Story(lineage=[("a", ((1, 1),), ())], accounts={"trained": 1}) == told(rows)


def test_another_job_after_one_that_ended() -> None:
    """A run that begins from nothing after a clean end goes on with nothing."""
    rows = trace(started("a"), *once("a", 1, "1"), ended("a"), started("b"), *once("b", 1, "1"), ended("b"))

    assert Story(lineage=[("a", ((1, 1),), ()), ("b", ((1, 1),), ())], accounts={"trained": 2}) == told(rows)


def test_a_clean_end_is_a_stop_if_a_run_goes_on() -> None:
    """Run a closes itself with x open; run b goes on with 5 tokens of it, under the same id."""
    rows = trace(
        *SAFE, send("a", "x", "g", "p"), ended("a"), started("b"), back("b", 1),
        keep("b", "x", "g", "prefix", tokens_kept=5), seal("b", "x", 8), train("b", 2, "g"), ended("b"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c1")], [{"x": "resumed"}], [((), ())], LINEAGE_2, {"trained": 2, "lost resumed": 1}
    ) == told(rows)


def test_ids_of_groups_that_persist() -> None:
    """Group g had x sealed, y and z open: b keeps x, goes on with y as y2, begins z anew as z2."""
    rows = trace(
        *SAFE, reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x"), send("a", "y", "g", "p", 1),
        send("a", "z", "g", "p", 2), started("b"), back("b", 1), reserve("b", "g", "p", origin_run="a"),
        keep("b", "x", "g"), keep("b", "y2", "g", "turn", 1, previous_attempt_id="y", tokens_kept=4),
        send("b", "z2", "g", "p", 2), seal("b", "y2"), seal("b", "z2"), train("b", 2, "g"), ended("b"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c1")], [{"x": "reused", "y": "resumed", "z": "redone"}], [((), ())], LINEAGE_2,
        {"trained": 4, "lost resumed": 1, "lost redone": 1},
    ) == told(rows)  # fmt: skip


def test_a_group_that_is_published_without_generating_again() -> None:
    """No row names x after the restore, but its group is published: what was sealed of it was kept."""
    rows = trace(
        *SAFE, reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x"), started("b"), back("b", 1),
        reserve("b", "g", "p", origin_run="a"), event("b", "group_published", group_id="g"), train("b", 2, "g"),
        ended("b"),
    )  # fmt: skip

    assert Story([("a", "b", "c1")], [{"x": "reused"}], [((), ())], LINEAGE_2, {"trained": 2}) == told(rows)


def test_work_that_comes_back_and_is_discarded() -> None:
    """The result x is kept and its group found stale: all of it is lost, and kept tokens count for nothing."""
    rows = trace(
        *SAFE, reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x"), started("b"), back("b", 1),
        reserve("b", "g", "p", origin_run="a"), keep("b", "x", "g"), drop("b", "g"), *once("b", 2, "2"), ended("b"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c1")], [{"x": "discarded"}], [((), ())], LINEAGE_2, {"trained": 2, "discarded stale": 1}
    ) == told(rows)
    assert Amount(1, 10, True, 0, 1.0) == restore_report(rows).stops[0].fates[Fate.DISCARDED]


def test_whether_the_job_ended_decides_what_absence_means() -> None:
    """Attempt x does not come back: nobody knows while the last run may go on; once it has ended it never will."""
    rows = trace(*SAFE, send("a", "x", "g", "p"), started("b"), back("b", 1), *once("b", 2, "2"))

    expected = Story([("a", "b", "c1")], [{"x": "unknown"}], [((), ())], LINEAGE_2, {"trained": 2, "lost unknown": 1})
    assert expected == told(rows)
    gone = {"trained": 2, "lost never_came_back": 1}
    expected = Story([("a", "b", "c1")], [{"x": "never_came_back"}], [((), ())], LINEAGE_2, gone)
    assert expected == told([*rows, *trace(ended("b"))])


def test_what_was_written_off_before_the_stop_is_not_its_doing() -> None:
    """Attempt x was abandoned and y discarded before the stop; z was running for y's group in vain."""
    rows = trace(
        *SAFE, send("a", "x", "g", "p"), abandoned("a", "x"), send("a", "y", "h", "q"), seal("a", "y"),
        send("a", "z", "h", "q", 1), drop("a", "h", "no valid rollout"),
        started("b"), back("b", 1), *once("b", 2, "2"), ended("b"),
    )  # fmt: skip

    accounts = {"trained": 2, "abandoned timeout": 1, "discarded no valid rollout": 2}
    assert Story([("a", "b", "c1")], [{}], [((), ())], LINEAGE_2, accounts) == told(rows)


def test_a_checkpoint_holds_what_there_was_when_it_began() -> None:
    """Step 2 is trained while the checkpoint is written: with its first row, or its duration, step 2 is lost."""
    begun = event("a", "checkpoint_started")
    for first, second in (((begun,), save("a", 1)), ((), save("a", 1, seconds=4.5))):
        rows = trace(
            started("a"), *once("a", 1, "1"), *first, *once("a", 2, "2"), second,
            started("b"), back("b", 1), *once("b", 2, "2"), ended("b"),
        )  # fmt: skip

        assert Story(
            [("a", "b", "c1")], [{"a2": "trained_again"}], [((2,), (2,))],
            [("a", ((1, 1),), ((2, 2),)), ("b", ((2, 2),), ())], {"trained": 2, "lost trained_again": 1},
        ) == told(rows)  # fmt: skip


def test_no_checkpoint() -> None:
    """Run b starts over: step 1 of run a is given up, and its prompt comes round again."""
    rows = trace(started("a"), *once("a", 1, "1"), started("b"), reserve("b", "h", "p1"), send("b", "y", "h", "p1"))

    assert Story(
        [("a", "b", None)], [{"a1": "trained_again"}], [((1,), ())], [("a", (), ((1, 1),)), ("b", (), ())],
        {"open": 1, "lost trained_again": 1},
    ) == told(rows)  # fmt: skip
    assert not restore_report(rows).stops[0].checkpoint_restored


def test_a_checkpoint_whose_publication_is_not_in_the_file() -> None:
    """With its step, what was trained up to it is safe; without, everything counts as given up."""
    head = (started("a"), *once("a", 1, "1"), *once("a", 2, "2"), started("b"))
    tail = (*once("b", 2, "3"), ended("b"))
    safe, gone = {"trained": 2, "lost never_came_back": 1}, {"trained": 1, "lost never_came_back": 2}

    assert Story(
        [("a", "b", "c1")], [{"a2": "never_came_back"}], [((2,), (2,))],
        [("a", ((1, 1),), ((2, 2),)), ("b", ((2, 2),), ())], safe,
    ) == told(trace(*head, back("b", 1), *tail))  # fmt: skip
    assert Story(
        [("a", "b", "c?")], [{"a1": "never_came_back", "a2": "never_came_back"}], [((1, 2), (2,))],
        [("a", (), ((1, 2),)), ("b", ((2, 2),), ())], gone,
    ) == told(trace(*head, back("b", None, checkpoint_id="c?"), *tail))  # fmt: skip
