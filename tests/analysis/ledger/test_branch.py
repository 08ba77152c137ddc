"""What a run holds of the timeline: windows between checkpoints, what is safe, given up, brought back, forgotten."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, Restored
from rtrace_otel.analysis.ledger.pace import RunPace
from rtrace_otel.analysis.ledger.retention import Retention
from rtrace_otel.analysis.ledger.work import Amount, Ended, Occurrence, PromptGroup, Rollout


def branch() -> Branch:
    """A run that has done nothing."""
    return Branch("a", RunPace())


def group(name: str, rollouts: int = 0) -> PromptGroup:
    """A group that was trained, with sealed rollouts of 3 tokens and 1 s."""
    found = PromptGroup(name, Occurrence(0, 0, 0.0, "p", None), trained=True)
    for number in range(rollouts):
        rollout = Rollout(f"{name}{number}", "a", "0", found, ended=Ended.SEALED, tokens=3, exact=True, ran_s=1.0)
        found.rollouts.append(rollout)
    return found


def train(run: Branch, step: int, t: float | None) -> None:
    """A step on one group, called ``g`` and the step's number."""
    run.train(step, [group(f"g{step}")], t)


def windows(run: Branch) -> list[tuple[list[str], list[int]]]:
    """Groups and steps of each window."""
    return [
        ([group.group_id for _, group in window.finished], [step for _, step in window.steps]) for window in run.windows
    ]


def test_a_checkpoint_that_says_when_it_began() -> None:
    """Step 2 is trained while it is written: it is not in it."""
    run = branch()
    train(run, 1, 1.0)
    run.checkpoint_started(2.0, 7)
    train(run, 2, 3.0)
    checkpoint = run.checkpoint_published("c", 1, 4.0, 3.9)

    assert [(["g1"], [1]), (["g2"], [2])] == windows(run)
    assert (1, 2.0, 7, 4.0) == (
        checkpoint.windows_before, checkpoint.taken_at, checkpoint.place, checkpoint.published_at,
    )  # fmt: skip


@pytest.mark.parametrize(("seconds", "t", "safe"), [(1.5, 4.0, 1), (0.5, 4.0, 2), (None, 4.0, 2), (1.5, None, 2)])
def test_a_checkpoint_that_says_how_long_it_took(seconds: float | None, t: float | None, safe: int) -> None:
    """It holds what was trained until then; where no time is known, all that was trained before its row."""
    run = branch()
    train(run, 1, 1.0)
    train(run, 2, 3.0)
    run.checkpoint_published("c", 1, t, seconds)

    assert safe == len(run.windows[0].steps)
    assert [1, 2] == [step for _, steps in windows(run) for step in steps]


def test_giving_up_and_bringing_back() -> None:
    """Windows stay in their places, so that checkpoints find them again."""
    run = branch()
    for step in (1, 2, 3):
        train(run, step, float(step))
        run.checkpoint_published(f"c{step}", step, float(step), None)

    taken = run.take_after(1)
    assert [[2], [3], []] == [[step for _, step in window.steps] for window in taken]
    assert 1 == run.live()
    assert [run.windows[0]] == run.take_after(0)
    assert 0 == run.live()
    assert [run.windows[0], run.windows[1]] == run.bring_back(2)
    assert 2 == run.live()
    assert [] == run.bring_back(2)


def test_giving_up_after_a_step() -> None:
    """Without a checkpoint in the file, what was trained after the step goes, and the windows behind it."""
    run = branch()
    train(run, 1, 1.0)
    train(run, 2, 2.0)
    run.checkpoint_published("c", 2, 2.0, None)
    train(run, 3, 3.0)
    (window,) = run.take_after_step(1)

    assert [2, 3] == [step for _, step in window.steps]
    assert ["g2", "g3"] == [group.group_id for _, group in window.finished]
    assert (["g1"], [1]) == windows(run)[0]
    assert [] == run.take_after_step(1)


def test_giving_up_after_a_step_in_the_last_window() -> None:
    """There is a window for what goes."""
    run = branch()
    train(run, 1, 1.0)
    train(run, 2, 2.0)

    assert [[2]] == [[step for _, step in window.steps] for window in run.take_after_step(1)]
    assert [(["g1"], [1]), (["g2"], [2])] == windows(run)


def test_what_a_checkpoint_holds() -> None:
    """By the place of its row where there is one, else by time; never a turn that has not come."""
    by_place = Checkpoint("c", 1, branch(), 1, 5.0, 10, 6.0)
    by_time = Checkpoint("c", 1, branch(), 1, 5.0, None, 6.0)
    unknown = Checkpoint("c", 1, branch(), 1, None, None, None)

    def turn(place: int | None, began_at: float | None) -> Occurrence:
        return Occurrence(0, place, began_at, "p", None)

    assert [True, False, False] == [by_place.holds(turn(place, 1.0)) for place in (9, 10, None)]
    assert [True, False, True] == [by_time.holds(turn(1, began_at)) for began_at in (5.0, 5.1, None)]
    assert [True, False] == [unknown.holds(turn(place, 9.0)) for place in (1, None)]


def test_what_a_restore_may_have_brought_back() -> None:
    """Nothing without a checkpoint; what the row lists; anything if it lists nothing."""
    turn = Occurrence(0, 0, 0.0, "p", None, group_ids={"g"})
    run = branch()
    assert not run.may_hold(turn)
    for groups, may in ((None, True), (frozenset({"g", "h"}), True), (frozenset({"h"}), False), (frozenset(), False)):
        run.said = Restored("c", 1, None, None, groups)
        assert may == run.may_hold(turn)


def test_the_oldest_groups_are_forgotten_first() -> None:
    """Ten places: a group of four rollouts takes five. What a stop took is its own matter."""
    run, retention = branch(), Retention(10)
    for name in "abc":
        done = group(name, 4)
        run.finish(done, 1.0)
        retention.add(run, done)

    assert ["b", "c"] == windows(run)[0][0]
    assert Amount(4, 12, True, 0, 4.0) == run.windows[0].forgotten
    taken = run.take_after(0)
    retention.given_up(taken)
    heir = Branch("b", RunPace())
    for name in "de":
        done = group(name, 4)
        heir.finish(done, 1.0)
        retention.add(heir, done)
    assert (["b", "c"], ["d", "e"]) == (windows(run)[0][0], windows(heir)[0][0])
    retention.add(heir, group("f", 4))
    assert ["e"] == windows(heir)[0][0]


def test_a_discarded_group_is_forgotten_without_an_amount() -> None:
    """No restore makes it count."""
    run, retention = branch(), Retention(1)
    done = group("a", 4)
    done.trained, done.discarded = False, "stale"
    run.finish(done, 1.0)
    retention.add(run, done)

    assert ([], Amount()) == (windows(run)[0][0], run.windows[0].forgotten)
