"""What stops took and what came back: found by attempt, by group, or by the prompt's turn."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, Restored
from rtrace_otel.analysis.ledger.missing import MissingWork, dispatched_again, kept
from rtrace_otel.analysis.ledger.pace import RunPace
from rtrace_otel.analysis.ledger.stops import lose
from rtrace_otel.analysis.ledger.work import Ended, Fate, Loss, Occurrence, PromptGroup, Rollout


def turn(order: int, prompt: str | None = "p", epoch: object = None) -> Occurrence:
    """A turn of a prompt that came with this row."""
    return Occurrence(order, order, float(order), prompt, epoch)


def group(occurrence: Occurrence, name: str, *rollouts: str, ended: Ended = Ended.SEALED) -> PromptGroup:
    """A group with rollouts of one generation each, of 10 tokens."""
    found = PromptGroup(name, occurrence)
    for number, attempt in enumerate(rollouts):
        found.rollouts.append(Rollout(attempt, "a", str(number), found, tokens=10, exact=True, ended=ended))
    return found


def run_at(place: int | None) -> Branch:
    """A run that goes on from a checkpoint at this row; ``None`` for from nothing."""
    run = Branch("b", RunPace())
    if place is not None:
        run.base = Checkpoint("c", 1, Branch("a", RunPace()), 1, None, place, None)
        run.said = Restored("c", 1, "a", None)
    return run


def taken(run: Branch, *groups: PromptGroup) -> MissingWork:
    """What is missing after a stop that took these groups."""
    missing = MissingWork()
    missing.go_back(run)
    missing.add(run, groups, [lose(rollout) for found in groups for rollout in found.rollouts])
    return missing


def test_by_attempt() -> None:
    """The first id that is known; what has come back is not missing any more, but known."""
    lost = group(turn(1), "g", "x", "y")
    missing = taken(run_at(None), lost)

    loss = missing.by_attempt("gone", "y")
    assert lost.rollouts[1].taken is loss
    assert [loss] == missing.come_back(lost.occurrence, "1")
    assert (None, lost.rollouts[1], None) == (missing.by_attempt("y"), missing.taken("y"), missing.taken("gone"))
    assert [] == missing.come_back(lost.occurrence, "1")


@pytest.mark.parametrize(
    ("prompt", "epoch", "found"),
    [(None, None, True), ("p", 2, True), ("p", None, True), ("q", None, False), ("p", 3, False)],
)
def test_by_group(prompt: str | None, epoch: object, found: bool) -> None:
    """A group of the same id is the same turn, unless it names another prompt or epoch."""
    lost = turn(1, "p", 2)
    missing = taken(run_at(None), group(lost, "g", "x"))

    assert (lost if found else None) is missing.by_group("g", prompt, epoch)
    assert missing.by_group("h", None, None) is None


def test_by_prompt_behind_the_checkpoint() -> None:
    """The checkpoint was taken at row 5: turns 7 and 9 come round again in their order, each once."""
    old, first, second = turn(3), turn(7), turn(9)
    run = run_at(5)
    missing = taken(run, group(second, "g9", "z"), group(old, "g3", "x"), group(first, "g7", "y"))

    for expected in (first, second, old, None):
        found = missing.by_prompt(run, "p", None, brought_back=False)
        assert expected is found
        if found is not None:
            run.link(found)


def test_by_prompt_in_the_checkpoint() -> None:
    """A group that says that it was brought back stands for a turn that the checkpoint holds."""
    old, later = turn(3), turn(7)
    run = run_at(5)
    missing = taken(run, group(later, "g7", "y"), group(old, "g3", "x"))

    assert old is missing.by_prompt(run, "p", None, brought_back=True)
    assert missing.by_prompt(run, "q", None, brought_back=True) is None
    assert missing.by_prompt(run, None, None, brought_back=True) is None


def test_epochs_tell_turns_apart() -> None:
    """With an epoch in the row only that turn will do."""
    first, second = turn(7, "p", 0), turn(9, "p", 1)
    run = run_at(5)
    missing = taken(run, group(first, "g7", "x"), group(second, "g9", "y"))

    assert second is missing.by_prompt(run, "p", 1, brought_back=False)
    assert missing.by_prompt(run, "p", 2, brought_back=False) is None


def test_what_a_checkpoint_holds_and_nothing_misses_is_over() -> None:
    """A later stop forgets turns whose work came back before its checkpoint, and keeps those behind it."""
    done, behind = turn(3), turn(7)
    missing = taken(run_at(1), group(done, "g3", "x"), group(behind, "g7", "y"))
    missing.come_back(done, "0")
    missing.come_back(behind, "0")
    done.place, behind.place = 3, 7
    missing.go_back(run_at(5))

    assert (None, behind) == (missing.by_group("g3", None, None), missing.by_group("g7", None, None))
    assert [3, None] == [found.place for found in (done, behind)]


def test_dropping_one_loss() -> None:
    """Two were missing of one generation; the other one still is."""
    lost = turn(1)
    first, second = group(lost, "g", "x"), group(lost, "h", "y")
    missing = taken(run_at(None), first, second)
    x, y = (rollout.taken for rollout in (first.rollouts[0], second.rollouts[0]))
    assert x is not None
    assert y is not None
    missing.drop(x)

    assert (None, y) == (missing.by_attempt("x"), missing.by_attempt("y"))
    assert {"0": [y]} == lost.missing
    missing.drop(y)
    assert {} == lost.missing
    missing.drop(y)


def test_a_generation_that_runs_anew() -> None:
    """Redone, or trained again if a step had trained it."""
    open_group, done = group(turn(1), "g", "x"), group(turn(2), "h", "y")
    done.trained = True
    losses = [Loss(open_group.rollouts[0]), Loss(done.rollouts[0])]
    dispatched_again(losses)

    assert [Fate.REDONE, Fate.TRAINED_AGAIN] == [loss.fate for loss in losses]


def test_a_result_that_was_kept() -> None:
    """Of several losses of one generation the sealed one lives on in the new group; the others were for nothing."""
    lost = turn(1)
    running, done = group(lost, "g", "x", ended=Ended.OPEN), group(lost, "h", "y")
    new = PromptGroup("n", lost)
    losses = [Loss(running.rollouts[0]), Loss(done.rollouts[0])]
    again = kept(losses, new)

    assert again is not None
    assert ([Fate.REDONE, Fate.REUSED], [0, 10]) == ([x.fate for x in losses], [x.tokens_carried for x in losses])
    assert ([again], [losses[1]], again) == (new.rollouts, new.came_back, done.rollouts[0].copy)
    assert (new, Ended.SEALED, None, None) == (again.group, again.ended, again.booked, again.taken)
    assert kept([], new) is None
