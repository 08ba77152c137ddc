"""Several stops in one file: who takes over from whom, from which checkpoint, and which steps count in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.lineage import Lineage, LineageRun, lineage
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.ledger.stories import Story, back, once, reserve, save, seal, send, told, train
from tests.report.history import ended, event, refit, started, trace

THREE_STEPS = (started("a"), *once("a", 1, "1"), save("a", 1), *once("a", 2, "2"), save("a", 2), *once("a", 3, "3"))
"""Run a trains steps 1, 2 and 3 on one rollout each, and saves after the first two."""


def test_every_field() -> None:
    """Run b goes on from a's checkpoint after step 2 and ends cleanly."""
    rows = trace(*THREE_STEPS, started("b"), back("b", 2, from_run="a"), *once("b", 3, "4"), ended("b"))

    expected = (
        LineageRun("a", 0, "killed", None, None, None, None, ((1, 2),), ((3, 3),)),
        LineageRun("b", 0, "clean", "a", "c2", 2, "a", ((3, 3),), ()),
    )
    assert Lineage(expected) == lineage(rows)


def test_the_first_run_of_a_file_can_have_restored_too() -> None:
    """What it went on from is in another file: it says which checkpoint, and took over from no run of this one."""
    rows = trace(started("a"), back("a", 5), *once("a", 6, "1"))

    expected = LineageRun("a", 0, "unknown", None, "c5", 5, None, ((6, 6),), ())
    assert Lineage((expected,)) == lineage(rows)


def test_one_stop_after_another() -> None:
    """Run b loses a's step 3, run c loses b's step 4; the prompts of both come round again."""
    rows = trace(
        *THREE_STEPS, started("b"), back("b", 2), *once("b", 3, "3"), save("b", 3), *once("b", 4, "4"),
        started("c"), back("c", 3), *once("c", 4, "4"), ended("c"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c2"), ("b", "c", "c3")],
        [{"a3": "trained_again"}, {"a4": "trained_again"}],
        [((3,), (3,)), ((4,), (4,))],
        [("a", ((1, 2),), ((3, 3),)), ("b", ((3, 3),), ((4, 4),)), ("c", ((4, 4),), ())],
        {"trained": 4, "lost trained_again": 2},
    ) == told(rows)


def test_an_older_checkpoint() -> None:
    """Run b goes back to step 1 although step 2 was saved: steps 2 and 3 are lost."""
    rows = trace(*THREE_STEPS, started("b"), back("b", 1), *once("b", 2, "2"), ended("b"))

    assert Story(
        [("a", "b", "c1")], [{"a2": "trained_again", "a3": "never_came_back"}], [((2, 3), (2,))],
        [("a", ((1, 1),), ((2, 3),)), ("b", ((2, 2),), ())],
        {"trained": 2, "lost trained_again": 1, "lost never_came_back": 1},
    ) == told(rows)  # fmt: skip


def test_two_restores_of_one_checkpoint() -> None:
    """Runs b and c both go back to step 2: each of them takes step 3 away from the run before."""
    rows = trace(
        *THREE_STEPS, started("b"), back("b", 2), *once("b", 3, "3"), started("c"), back("c", 2),
        reserve("c", "g3", "p3"), send("c", "again", "g3", "p3"), seal("c", "again"), train("c", 3, "g3"), ended("c"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c2"), ("b", "c", "c2")],
        [{"a3": "trained_again"}, {"a3": "trained_again"}],
        [((3,), (3,)), ((3,), (3,))],
        [("a", ((1, 2),), ((3, 3),)), ("b", (), ((3, 3),)), ("c", ((3, 3),), ())],
        {"trained": 3, "lost trained_again": 2},
    ) == told(rows)


def test_a_newer_checkpoint_after_an_older_one() -> None:
    """Run b tries step 1, run c returns to step 2: what b did is lost, and a's step 2 counts again.

    The result a2 was lost at the first stop and is in the checkpoint of the second, and so is its step.
    """
    rows = trace(
        *THREE_STEPS, started("b"), back("b", 1), reserve("b", "g2", "p2"), send("b", "x", "g2", "p2"), seal("b", "x"),
        train("b", 2, "g2"), started("c"), back("c", 2), *once("c", 3, "4"), ended("c"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c1"), ("b", "c", "c2")],
        [{"a2": "reused", "a3": "never_came_back"}, {"x": "never_came_back"}],
        [((3,), (3,)), ((2,), ())],
        [("a", ((1, 2),), ((3, 3),)), ("b", (), ((2, 2),)), ("c", ((3, 3),), ())],
        {"trained": 3, "lost never_came_back": 2},
    ) == told(rows)


def test_what_was_kept_and_given_up_and_is_kept_again() -> None:
    """Run a's checkpoint of step 2 holds x. Run b goes back to step 1, keeps x and trains it; run c returns to step 2.

    In run a, x was trained by step 2. The same result stands in b's group at the second stop. It counts once.
    """
    rows = trace(
        started("a"), reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x"), save("a", 1),
        train("a", 2, "g"), save("a", 2), started("b"), back("b", 1), event("b", "group_published", group_id="g"),
        train("b", 2, "g"), started("c"), back("c", 2), *once("c", 3, "3"), ended("c"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c1"), ("b", "c", "c2")], [{"x": "reused"}, {"x": "reused"}], [((), ()), ((2,), ())],
        [("a", ((2, 2),), ()), ("b", (), ((2, 2),)), ("c", ((3, 3),), ())], {"trained": 2},
    ) == told(rows)  # fmt: skip


def test_a_run_that_started_over_by_mistake() -> None:
    """Run b begins from nothing, run c returns to a's checkpoint: it takes over from b, whose work is lost."""
    rows = trace(
        *THREE_STEPS, started("b"), *once("b", 1, "x"), send("b", "open", "g", "p"),
        started("c"), back("c", 2), *once("c", 3, "4"), ended("c"),
    )  # fmt: skip

    gone = "never_came_back"
    assert Story(
        [("a", "b", None), ("b", "c", "c2")],
        [{"a1": "reused", "a2": "reused", "a3": gone}, {"open": gone, "ax": gone}],
        [((3,), (3,)), ((1,), ())],
        [("a", ((1, 2),), ((3, 3),)), ("b", (), ((1, 1),)), ("c", ((3, 3),), ())],
        {"trained": 3, "lost never_came_back": 3},
    ) == told(rows)


def test_a_checkpoint_of_a_run_that_was_given_up() -> None:
    """Runs b and c both go on from a; run d returns to b's checkpoint and takes over from c, the newest run."""
    rows = trace(
        *THREE_STEPS, started("b"), back("b", 2), *once("b", 3, "4"), save("b", 3),
        started("c"), back("c", 2), *once("c", 3, "5"), started("d"), back("d", 3), *once("d", 4, "6"), ended("d"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c2"), ("b", "c", "c2"), ("c", "d", "c3")],
        [{"a3": "never_came_back"}, {"a4": "reused"}, {"a5": "never_came_back"}],
        [((3,), (3,)), ((), ()), ((3,), ())],
        [("a", ((1, 2),), ((3, 3),)), ("b", ((3, 3),), ()), ("c", (), ((3, 3),)), ("d", ((4, 4),), ())],
        {"trained": 4, "lost never_came_back": 2},
    ) == told(rows)


@pytest.mark.parametrize(
    ("source", "of_a", "of_b"),
    [
        ({"from_run": "a"}, (((1, 2),), ((3, 3),)), ((), ((2, 2),))),
        ({"from_run": "b"}, (((1, 1),), ((2, 3),)), (((2, 2),), ())),
        ({}, (((1, 1),), ((2, 3),)), (((2, 2),), ())),
    ],
    ids=["a", "b", "newest"],
)
def test_step_numbers_and_checkpoint_ids_that_repeat(source: dict[str, str], of_a: Any, of_b: Any) -> None:
    """Runs a and b both saved ``c2``: the restore says from which; if it does not, the newest one is meant."""
    rows = trace(
        *THREE_STEPS, started("b"), back("b", 1), *once("b", 2, "x"), save("b", 2),
        started("c"), back("c", 2, **source), *once("c", 3, "4"),
    )  # fmt: skip

    assert [("a", *of_a), ("b", *of_b), ("c", ((3, 3),), ())] == told(rows).lineage


def test_a_checkpoint_is_found_by_its_step_if_its_id_is_unknown() -> None:
    """Run a saves ``c2`` and run b restores ``/ckpt/2`` of the same step."""
    rows = trace(*THREE_STEPS, started("b"), back("b", 2, checkpoint_id="/ckpt/2"), *once("b", 3, "4"))

    assert ("/ckpt/2", 2, "a", ((3, 3),)) == (
        (run := lineage(rows).runs[1]).checkpoint_id, run.checkpoint_step, run.checkpoint_run, run.steps_surviving,
    )  # fmt: skip


def test_after_a_checkpoint_that_is_not_in_the_file() -> None:
    """Run b goes on from step 3 of another file's checkpoint, and run c from b's own: a's steps count all along."""
    rows = trace(
        *THREE_STEPS, started("b"), back("b", 3), *once("b", 4, "4"), save("b", 4), *once("b", 5, "5"),
        started("c"), back("c", 4), *once("c", 5, "6"), ended("c"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c3"), ("b", "c", "c4")], [{}, {"a5": "never_came_back"}], [((), ()), ((5,), (5,))],
        [("a", ((1, 3),), ()), ("b", ((4, 4),), ((5, 5),)), ("c", ((5, 5),), ())],
        {"trained": 5, "lost never_came_back": 1},
    ) == told(rows)  # fmt: skip


def test_a_weight_version_counter_that_restarts() -> None:
    """Versions play no part in whose work it is: run b counts from 0 again, and its refit sees 6 tokens of y."""
    rows = trace(
        *THREE_STEPS, refit("a", 3, 4), started("b"), back("b", 2), refit("b", 0, 0), *once("b", 3, "3"),
        send("b", "y", "g", "p"), refit("b", 0, 1, ("y-0", 6)), started("c"), back("c", 2),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c2"), ("b", "c", "c2")],
        [{"a3": "trained_again"}, {"y": "unknown", "a3": "unknown"}],
        [((3,), (3,)), ((3,), ())],
        [("a", ((1, 2),), ((3, 3),)), ("b", (), ((3, 3),)), ("c", (), ())],
        {"trained": 2, "lost trained_again": 1, "lost unknown": 2},
    ) == told(rows)


def test_rows_of_two_runs_interleave() -> None:
    """Run a lives on for a while after b took over: what it seals, trains and begins then is lost too."""
    rows = trace(
        started("a"), save("a", 0), send("a", "x", "g", "p"), started("b"), back("b", 0), seal("a", "x", 33),
        train("a", 1, "g"), send("a", "late", "h", "q"), send("b", "x2", "g", "p"), seal("b", "x2"),
        train("b", 1, "g"), ended("b"),
    )  # fmt: skip

    assert Story(
        [("a", "b", "c0")], [{"x": "trained_again", "late": "never_came_back"}], [((1,), (1,))],
        [("a", (), ((1, 1),)), ("b", ((1, 1),), ())],
        {"trained": 1, "lost trained_again": 1, "lost never_came_back": 1},
    ) == told(rows)  # fmt: skip


def test_a_run_that_restores_in_the_middle_of_its_life() -> None:
    """Run a gives up its own step 3: it is there twice, as what it was before and after."""
    rows = trace(*THREE_STEPS, back("a", 2), *once("a", 3, "3"), ended("a"))

    assert Story(
        [("a", "a", "c2")], [{"a3": "trained_again"}], [((3,), (3,))],
        [("a", ((1, 2),), ((3, 3),)), ("a", ((3, 3),), ())], {"trained": 3, "lost trained_again": 1},
    ) == told(rows)  # fmt: skip
    assert ["a", "a"] == [run.run for run in lineage(rows).runs]


def test_a_restore_that_is_said_twice() -> None:
    """Two rows of one restore, for example of two components, are one stop."""
    rows = trace(*THREE_STEPS, started("b"), back("b", 2), back("b", 2), *once("b", 3, "4"), ended("b"))

    assert [("a", "b", "c2")] == told(rows).stops


def test_a_process_and_its_forks_are_one_run() -> None:
    """A worker of a worker of run a writes rows under its own run id: nothing stopped."""
    rows = trace(
        started("a"), save("a", 0), started("k", parent_run="a"), send("k", "x", "g", "p"),
        started("kk", parent_run="k"), seal("kk", "x"), train("a", 1, "g"), ended("a"),
    )  # fmt: skip

    assert Story(lineage=[("a", ((1, 1),), ())], accounts={"trained": 1}) == told(rows)


def test_two_jobs_in_one_file() -> None:
    """Run b begins from nothing after a clean end, and run c goes on with the first job: b's steps stay."""
    rows = trace(
        *THREE_STEPS, ended("a"), started("b"), *once("b", 1, "4"), ended("b"), started("c"), back("c", 2),
        *once("c", 3, "5"),
    )  # fmt: skip

    found = lineage(rows)
    assert [("a", 0, None), ("b", 1, None), ("c", 0, "a")] == [(r.run, r.job, r.took_over_from) for r in found.runs]
    assert [((1, 2),), ((1, 1),), ((3, 3),)] == [run.steps_surviving for run in found.runs]


def test_stretches_of_steps() -> None:
    """Steps 1, 2, 4 and 7 are three stretches, in whatever order they were trained."""
    rows = trace(started("a"), *(train("a", step) for step in (7, 1, 4, 2, 2)))

    assert ((1, 2), (4, 4), (7, 7)) == lineage(rows).runs[0].steps_surviving


def test_a_lineage_that_does_not_hold() -> None:
    """A run cannot take over from one that has not begun."""
    (run,) = lineage(trace(started("a"), train("a", 1))).runs
    wrong = Lineage((replace(run, took_over_from="b"), replace(run, run="b")))

    with pytest.raises(AssertionError):
        wrong.self_check()


@given(st.integers(0, 300))
@settings(deadline=None)
def test_the_law_holds_for_any_job(seed: int) -> None:
    """Whatever is simulated, a run takes over from one before it."""
    lineage(simulate(varied_settings(seed)).rows).self_check()
