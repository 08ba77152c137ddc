"""Which run a new one takes over from, and which checkpoint it means."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, Restored
from rtrace_otel.analysis.ledger.heirs import Heirs, restored_by
from rtrace_otel.analysis.ledger.pace import RunPace


def heirs(*runs: str) -> tuple[Heirs, dict[str, Branch]]:
    """Runs of one job, in order."""
    found, branches = Heirs(), {run: Branch(run, RunPace()) for run in runs}
    for branch in branches.values():
        found.add(branch)
    return found, branches


def said(checkpoint_id: str | None, step: int | None = None, from_run: str | None = None) -> Restored:
    """What a run says."""
    return Restored(checkpoint_id, step, from_run, None)


def test_nobody_to_take_over_from() -> None:
    """The first run has no one before it."""
    assert (None, None) == Heirs().stopped(None)
    assert (None, None) == Heirs().stopped(said("c"))


def test_the_newest_run_where_no_checkpoint_is_known() -> None:
    """Begun from nothing, or from a checkpoint of another file."""
    found, branches = heirs("a", "b")

    assert (branches["b"], None) == found.stopped(None)
    assert (branches["b"], None) == found.stopped(said("gone", 3))


def test_the_newest_run_of_the_checkpoints_job() -> None:
    """Runs a and b are of one job, c is another: who restores a's checkpoint takes over from b."""
    found, branches = heirs("a", "b", "c")
    branches["c"].job = 1
    checkpoint = Checkpoint("c1", 1, branches["a"], 1, 1.0, None, 1.0)
    found.published(checkpoint)

    assert (branches["b"], checkpoint) == found.stopped(said("c1"))
    assert [branches["a"], branches["b"]] == found.of_job(0)
    assert (branches["c"], None) == found.stopped(None)


@pytest.mark.parametrize(
    ("restored", "expected"),
    [
        (said("c1"), 1),
        (said("c1", from_run="a"), 0),
        (said("c1", from_run="gone"), 1),
        (said("/path", 1), 1),
        (said("/path", 1, "a"), 0),
        (said(None, 2), 2),
        (said("/path", 9), None),
        (said(None), None),
    ],
    ids=repr,
)
def test_which_checkpoint_is_meant(restored: Restored, expected: int | None) -> None:
    """By its id, else by its step; of several that of the run named, else the one published last."""
    found, branches = heirs("a", "b")
    checkpoints = [
        Checkpoint("c1", 1, branches["a"], 1, 1.0, None, 1.0),
        Checkpoint("c1", 1, branches["b"], 1, 2.0, None, 2.0),
        Checkpoint("c2", 2, branches["a"], 2, 1.5, None, 1.5),
    ]
    for checkpoint in checkpoints:
        found.published(checkpoint)

    assert (None if expected is None else checkpoints[expected]) == found.stopped(restored)[1]


def test_the_checkpoint_before() -> None:
    """The same run's, by its windows."""
    found, branches = heirs("a", "b")
    first = Checkpoint("c1", 1, branches["a"], 1, 1.0, None, 1.5)
    second = Checkpoint("c2", 2, branches["a"], 2, 2.0, None, 2.5)
    for checkpoint in (first, second, Checkpoint("c1", 1, branches["b"], 1, 9.0, None, 9.0)):
        found.published(checkpoint)

    assert (1.0, None) == (found.taken_before(second), found.taken_before(first))


def test_what_a_row_says() -> None:
    """Ids are texts; what is no step, duration or list is not known."""
    row = {"checkpoint_id": 5, "step": 5, "from_run": "a", "seconds": 2, "groups": [1, "g", 1]}
    odd = {"checkpoint_id": None, "step": True, "from_run": None, "seconds": -1, "groups": "g"}

    assert Restored("5", 5, "a", 2.0, frozenset({"1", "g"})) == restored_by(row)
    assert Restored(None, None, None, None, None) == restored_by(odd)
