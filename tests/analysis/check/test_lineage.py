"""What a row descends from: restores, forks, and what is not in the file."""

from __future__ import annotations

import math

import pytest

from rtrace_otel.analysis.check.lineage import Life, Lineage
from rtrace_otel.events import Row
from tests.analysis.check.checking import saved
from tests.report.history import event, refit, restored, started, trace


def lives(*events: Row) -> dict[str, Life]:
    """The latest life of each run, by run."""
    lineage = Lineage()
    for row in trace(*events):
        lineage.add(row)
    return {life.run: life for life in lineage.lives}


def test_a_restored_run_descends_from_its_checkpoint() -> None:
    """Run b has run a's past up to step 2, run c run b's up to step 5: of run a still only up to step 2."""
    found = lives(saved("a", 2), started("b"), restored("b", 2), saved("b", 5), restored("c", 5))

    assert [("c", math.inf), ("b", 5), ("a", 2)] == [(life.run, limit) for life, limit in found["c"].ancestry()]
    assert [True, False] == [found["c"].has_on_its_timeline(found["a"], step) for step in (2, 3)]
    assert [True, False] == [found["c"].has_on_its_timeline(found["b"], step) for step in (5, 6)]
    assert found["c"].has_on_its_timeline(found["b"], None) is None
    assert found["a"].has_on_its_timeline(found["c"], 1) is False


def test_a_fork_shares_the_timeline() -> None:
    """What the parent trains at any time is part of it."""
    found = lives(started("a"), started("b", parent_run="a"))

    assert (found["a"].timeline, "a") == (found["b"].timeline, found["b"].process)
    assert found["b"].has_on_its_timeline(found["a"], None) is True
    assert found["a"].has_on_its_timeline(found["b"], None) is True


@pytest.mark.parametrize(
    "rows",
    [
        [restored("b", 2)],
        [saved("a", 2), {**restored("b", 2), "from_run": "z"}],
        [saved("a", 2), event("b", "checkpoint_restored", from_run="a")],
        [started("b", parent_run="z")],
    ],
    ids=["checkpoint not in the file", "another run's", "no step", "parent not in the file"],
)
def test_a_past_that_is_not_in_the_file(rows: list[Row]) -> None:
    """What it descends from is unknown, so nothing is said of steps before it."""
    found = lives(started("a"), *rows)

    assert (False, None) == (found["b"].known, found["b"].has_on_its_timeline(found["a"], 1))


def test_the_step_of_the_checkpoint_stands_in_for_that_of_the_restore() -> None:
    """A restore that does not say its step has that of the checkpoint."""
    found = lives(saved("a", 2), event("b", "checkpoint_restored", checkpoint_id="ckpt-2"))

    assert (2, True) == (found["b"].restored_step, found["b"].known)


@pytest.mark.parametrize("parents", [("a", "a"), ("b", "a")], ids=["itself", "each other"])
def test_processes_that_claim_to_be_their_own_parents(parents: tuple[str, str]) -> None:
    """The walk through the past ends."""
    found = lives(started("a"), started("b"), started("a", parent_run=parents[0]), started("b", parent_run=parents[1]))

    assert [] == [life.run for life in found.values() if len(list(life.ancestry())) > 2]


def test_versions_installed_on_the_timeline() -> None:
    """Run b has version 4 of run a's checkpoint, not the 9 that came after it; a fork has its parent's."""
    found = lives(refit("a", 3, 4), saved("a", 4), refit("a", 4, 9), restored("b", 4), started("c", parent_run="a"))

    assert (9, 4, 9) == (found["a"].installed, found["b"].installed, found["c"].installed)
