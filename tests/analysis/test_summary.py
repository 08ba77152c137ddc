"""What a trace holds besides its attempts and groups, and how all counts stand together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.analysis.age.ages import AgeReport, step_ages
from rtrace_otel.analysis.summary import MAX_OTHER, summarise
from rtrace_otel.analysis.summary_results import AttemptCounts, GroupCounts, Summary
from rtrace_otel.events import Row
from tests.report.history import (
    dispatched,
    ended,
    event,
    published,
    refit,
    reserved,
    restored,
    sealed,
    started,
    trace,
    trained,
)  # fmt: skip

NO_ATTEMPTS = AttemptCounts(0, 0, 0, {}, 0, 0, 0, {})
NO_GROUPS = GroupCounts(0, 0, 0, 0, {}, 0, 0)
NOTHING = Summary((), 0, NO_ATTEMPTS, NO_GROUPS, 0, 0, 0, 0, None, 0, 0, AgeReport((), (), 0, None), {})


def summary(*events: Row) -> Summary:
    """The summary of a trace; its conservation laws hold."""
    found = summarise(trace(*events))
    found.self_check()
    return found


def test_an_empty_file_holds_nothing() -> None:
    """No rows: all counts are zero, and what is unknown is ``None``."""
    found = summarise([])
    found.self_check()

    assert NOTHING == found


def test_a_whole_job() -> None:
    """One kill, one restore: every count of the summary, worked out by hand."""
    rows = [
        started("a"),
        refit("a", 0, 0),
        reserved("a", "g"),
        dispatched("a", "x"),
        sealed("a", "x", masked=True),
        refit("a", 0, 1, ("c1", 5), ("c2", 0), seconds=0.5),
        published("a", "g", {0: 10}),
        trained("a", 1, 0, "g", logged=0.0),
        event("a", "checkpoint_published", checkpoint_id="ckpt-1", step=1),
        reserved("a", "h"),
        dispatched("a", "y"),
        started("b"),
        restored("b", 1),
        reserved("b", "i"),
        dispatched("b", "z"),
        refit("b", 1, 2, ("c3", 1), seconds=0.25),
        event("b", "tool_call", attempt_id="z"),
        ended("b"),
    ]
    expected = Summary(
        runs=summarise(trace(*rows)).runs,
        rows=18,
        attempts=replace(NO_ATTEMPTS, begun=3, sealed=1, masked=1, interrupted=1, open=1),
        groups=replace(NO_GROUPS, reserved=3, trained=1, interrupted=1, open=1),
        steps_trained=1,
        steps_again=0,
        refits=2,
        calls_cut=3,
        refit_s=0.75,
        checkpoints=1,
        restores=1,
        ages=step_ages(trace(*rows)),
        other_events={"tool_call": 1},
    )

    assert expected == summary(*rows)
    assert [("a", "killed", 11), ("b", "clean", 7)] == [(r.run, r.ended_how, r.rows) for r in expected.runs]


def test_loaded_weights_are_no_refit() -> None:
    """A run that reports the weights that it loaded has not refitted."""
    found = summary(refit("a", 3, 3, ("c", 9), seconds=4.0))

    assert (0, 0, None) == (found.refits, found.calls_cut, found.refit_s)


def test_refits_without_times_or_calls() -> None:
    """What no row says is not known; what some say is added up."""
    bare = event("a", "weight_sync", replaced_version=0, new_version=1)

    assert (1, 0, None) == ((found := summary(bare)).refits, found.calls_cut, found.refit_s)
    assert (2, 1, 0.5) == ((found := summary(bare, refit("a", 1, 2, ("c", 1), seconds=0.5))).refits, found.calls_cut,
                           found.refit_s)  # fmt: skip


def test_steps_trained_again_by_a_later_run() -> None:
    """Each training counts; those of a step that an earlier run had trained are told apart."""
    found = summary(trained("a", 1, 0), trained("a", 2, 1), trained("b", 2, 1), trained("b", 3, 2), trained("c", 2, 1))

    assert (5, 2) == (found.steps_trained, found.steps_again)


def test_a_step_that_one_run_trains_twice_is_no_later_runs_work() -> None:
    """Steps count as trained again if a later run did it."""
    found = summary(trained("a", 1, 0), trained("a", 1, 0))

    assert (2, 0) == (found.steps_trained, found.steps_again)


def test_a_step_without_a_number_is_not_one_trained_again() -> None:
    """A training whose step is missing is a training, and nothing else is known of it."""
    bare = event("a", "train_step", trained_version=1, group_ids=[])

    assert (3, 0) == ((found := summary(bare, bare, trained("a", 1, 1))).steps_trained, found.steps_again)


def test_checkpoints_and_restores() -> None:
    """Published ones and restored ones; a checkpoint that only began is neither."""
    found = summary(
        event("a", "checkpoint_started"),
        event("a", "checkpoint_published", checkpoint_id="c1", step=1),
        event("a", "checkpoint_published", checkpoint_id="c2", step=2),
        restored("b", 2),
    )

    assert (2, 1) == (found.checkpoints, found.restores)


def test_other_events_are_counted_by_name() -> None:
    """Events of the user's own are kept and named; those of the vocabulary are not among them."""
    found = summary(started("a"), event("a", "tool_call"), event("a", "judge"), event("a", "tool_call"), ended("a"))

    assert ({"tool_call": 2, "judge": 1}, 5) == (dict(found.other_events), found.rows)


def test_very_many_other_names_are_counted_together() -> None:
    """A file that makes up a name for every row neither fills memory nor loses a row."""
    found = summary(*(event("a", f"name-{number}") for number in range(MAX_OTHER + 20)), event("a", "name-0"))

    assert {f"name-{n}": 1 for n in range(MAX_OTHER)} | {"name-0": 2, "(others)": 20} == dict(found.other_events)


def test_the_ages_are_those_of_the_ages_command() -> None:
    """The summary holds the whole age report."""
    rows = trace(refit("a", 3, 4, ("c", 40)), published("b", "g", {3: 100}, ("c", 3, 100)), trained("b", 1, 5, "g"))

    assert step_ages(rows) == summarise(rows).ages


@pytest.mark.parametrize(
    "wrong",
    [{"begun": 2}, {"sealed": 2}, {"abandoned": {"timeout": 1}}, {"interrupted": 1}, {"open": 1}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_the_check_of_conservation_can_fail(wrong: dict[str, Any]) -> None:
    """An attempt too many or too few, in any outcome, is caught."""
    found = summary(dispatched("a", "x"), sealed("a", "x"))
    with pytest.raises(AssertionError):
        replace(found, attempts=replace(found.attempts, **wrong)).self_check()


def test_rows_that_belong_to_no_run_are_caught() -> None:
    """The check counts rows too."""
    with pytest.raises(AssertionError):
        replace(summary(started("a")), rows=2).self_check()
