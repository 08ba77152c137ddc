"""A stop while its consequences are followed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, Restored, Window
from rtrace_otel.analysis.ledger.settled import Settled
from rtrace_otel.analysis.ledger.work import Amount, Ended, Loss, PromptGroup, Rollout, amount_of


@dataclass(slots=True, eq=False)
class OpenStop:
    """One stop: a run that a later one took over from.

    Attributes:
        number: Its number among the stops of the file.
        stopped: The run that stopped.
        restored: The run that went on.
        said: What that run says of its checkpoint; ``None`` if it began from nothing.
        checkpoint: That checkpoint, if the file has it.
        losses: The rollouts that the stop took, but those that are settled.
        settled: The latter, added up.
        windows: What was finished since the checkpoint.
        forgotten: Further ones, too many to remember one by one.
        steps_lost: Steps trained after the checkpoint, each with the run that trained it.
        steps_late: Those that the stopped run trained after the next one had begun.
        steps_again: Those of them that a later run trained again.
        at_risk: What had been sealed since the checkpoint.
        at_risk_half: The same, had checkpoints been taken twice as often.
        at_risk_twice: The same, had they been taken half as often, on average over which ones are left out.
        previous_taken_at: When the checkpoint before was taken.
        idle_runs: Runs that began in between and did no work.
        rows_late: Rows of the stopped run's work that came after the next one's first work.
    """

    number: int
    stopped: Branch
    restored: Branch
    said: Restored | None
    checkpoint: Checkpoint | None
    losses: list[Loss] = field(default_factory=list)
    settled: Settled = field(default_factory=Settled)
    windows: list[Window] = field(default_factory=list)
    forgotten: Amount = field(default_factory=Amount)
    steps_lost: list[tuple[str, int]] = field(default_factory=list)
    steps_late: list[int] = field(default_factory=list)
    steps_again: set[int] = field(default_factory=set)
    previous_taken_at: float | None = None
    idle_runs: tuple[str, ...] = ()
    rows_late: int = 0
    at_risk: Amount | None = None
    at_risk_half: Amount | None = None
    at_risk_twice: Amount | None = None


def take(stop: OpenStop, job: Iterable[Branch]) -> tuple[list[Window], list[PromptGroup]]:
    """Give up everything after the stop's checkpoint: windows, and the rollouts in them and in unfinished groups.

    Args:
        stop: The stop.
        job: The runs of its job before the one that goes on.

    Returns:
        The windows that were given up, and all groups.
    """
    windows: list[Window] = []
    groups: list[PromptGroup] = []
    for branch in job:
        taken = _take_windows(stop, branch)
        windows += taken
        stop.steps_lost += [(branch.run, step) for window in taken for _, step in window.steps]
        if not branch.given_up:
            groups += branch.groups.values()
            branch.stopped_by = stop.number
    stop.windows = windows
    groups += [group for window in windows for _, group in window.finished]
    for window in windows:
        stop.forgotten += window.forgotten
    alive = [group for group in groups if group.discarded is None]
    rollouts = (rollout for group in alive for rollout in group.rollouts)
    stop.losses = [lose(rollout, stop.number) for rollout in rollouts if rollout.ended is not Ended.ABANDONED]
    return windows, groups


def _take_windows(stop: OpenStop, branch: Branch) -> list[Window]:
    if stop.checkpoint is None and stop.said is not None and stop.said.step is not None:
        return branch.take_after_step(stop.said.step)
    return branch.take_after(timeline(stop.checkpoint).get(branch, 0))


def settle(stop: OpenStop) -> list[Rollout]:
    """Add up what is known of an old stop, and let go of the rollouts one by one, and of those beside them.

    A rollout that has not come back stays. Rows that its run writes later than this are not taken, and a restore that
    goes on from a checkpoint behind which this stop went back finds nothing of these groups.

    Args:
        stop: The stop; two more have come since.

    Returns:
        The rollouts that are let go of.
    """
    known = [loss for loss in stop.losses if loss.fate is not None or loss.rollout.ended is Ended.ABANDONED]
    stop.settled = stop.settled.plus(known, stop.stopped.pace.last, finished=False)
    gone = {id(loss) for loss in known}
    stop.losses = [loss for loss in stop.losses if id(loss) not in gone]
    groups = [group for window in stop.windows if window.given_up for _, group in window.finished]
    for window in stop.windows:
        if window.given_up:
            window.finished = []
    if stop.stopped.stopped_by == stop.number:
        groups += stop.stopped.groups.values()
        stop.stopped.groups = {}
        stop.stopped.open = {
            name: rollout for name, rollout in stop.stopped.open.items() if id(rollout.taken) not in gone
        }
    stop.windows = []
    let_go: list[Rollout] = []
    for group in groups:
        let_go += group.let_go(lambda rollout: rollout.taken is None or id(rollout.taken) in gone)
    for rollout in let_go:
        rollout.taken = None
    return let_go


def timeline(checkpoint: Checkpoint | None) -> dict[Branch, int]:
    """How many windows of each run a checkpoint holds."""
    return {} if checkpoint is None else {**checkpoint.branch.follows, checkpoint.branch: checkpoint.windows_before}


def lose(rollout: Rollout, stop: int = 0) -> Loss:
    """The stop of this number takes a rollout."""
    rollout.taken = Loss(rollout, stop)
    return rollout.taken


def weigh_intervals(stop: OpenStop, before: Window | None, killed_at: float | None) -> None:
    """What other checkpoint intervals would have put at risk.

    Args:
        stop: The stop, with its losses.
        before: The window between the checkpoint before and the one restored.
        killed_at: The last sign of life.
    """
    checkpoint = stop.checkpoint
    if checkpoint is None or checkpoint.taken_at is None or killed_at is None:
        return
    taken_at = checkpoint.taken_at
    stop.at_risk = _sealed_after(stop.losses, taken_at)
    if before is None or stop.previous_taken_at is None or stop.previous_taken_at >= taken_at:
        return
    half = (taken_at - stop.previous_taken_at) / 2
    last_half = taken_at + (killed_at - taken_at) // half * half if killed_at > taken_at else taken_at
    stop.at_risk_half = _sealed_after(stop.losses, last_half)
    earlier = [Loss(rollout) for _, group in before.finished for rollout in group.rollouts]
    if before.forgotten.rollouts:
        return
    older = _sealed_after([*stop.losses, *earlier], stop.previous_taken_at)
    stop.at_risk_twice = _mean(stop.at_risk, older)


def _sealed_after(losses: Iterable[Loss], t: float) -> Amount:
    return amount_of(
        loss for loss in losses if loss.rollout.ended is Ended.SEALED and (loss.rollout.ended_at or 0.0) > t
    )


def _mean(one: Amount, other: Amount) -> Amount:
    both = one + other
    return Amount(both.rollouts // 2, both.tokens // 2, both.tokens_exact, 0, both.attempt_seconds / 2)
