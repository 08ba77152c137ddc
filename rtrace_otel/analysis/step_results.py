"""What is said of the training steps of a file and of its wall time: frozen results."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final

WAIT_SHARE: Final = 0.1
"""Share of a step's cycle from which its wait is worth a verdict."""

AHEAD: Final = 2
"""Waiting groups by the groups that a step takes, from which generation is ahead."""


class Verdict(StrEnum):
    """Who waited for whom before a step."""

    TRAINER_WAITS = "trainer waits"
    ROLLOUTS_WAIT = "rollouts wait"
    BALANCED = "balanced"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One training step, as often as the file has it. What no row says is ``None``.

    Attributes:
        step: Its number.
        run: The run that trained it.
        started: In Unix seconds: ``train_step_started``, else the end minus ``seconds``.
        ended: In Unix seconds; ``None`` if no row ends the step.
        wait_s: From the end of the run's work before it (step, refit, restore) to its start.
        train_s: From its start to its end, or to the last row of a run that stopped.
        sync_s: Weight syncs between it and the next step.
        groups: Groups that it took.
        tokens: Tokens that it trained on.
        queue: Published groups that were waiting at its start, those that it took included.
        open_attempts: Attempts open at its start.
    """

    step: int | None
    run: str
    started: float | None
    ended: float | None
    wait_s: float | None
    train_s: float | None
    sync_s: float | None
    groups: int | None
    tokens: int | None
    queue: int | None
    open_attempts: int | None

    @property
    def cycle_s(self) -> float | None:
        """Wait, training and weight sync together, in seconds; without a sync, the other two."""
        if self.wait_s is None or self.train_s is None:
            return None
        return self.wait_s + self.train_s + (self.sync_s or 0.0)

    @property
    def tokens_per_s(self) -> float | None:
        """Trained tokens per second of the cycle."""
        return None if self.tokens is None or not self.cycle_s else self.tokens / self.cycle_s

    @property
    def verdict(self) -> Verdict:
        """Who waited for whom.

        ``trainer waits``: the trainer waited more than a tenth of the cycle, and no published group was left over at
        the start. ``rollouts wait``: at least twice as many published groups were waiting as the step took.
        """
        if self.queue is None or not self.groups:
            return Verdict.UNKNOWN
        if self.queue >= AHEAD * self.groups:
            return Verdict.ROLLOUTS_WAIT
        if self.queue > self.groups:
            return Verdict.BALANCED
        if self.wait_s is None or not self.cycle_s:
            return Verdict.UNKNOWN
        return Verdict.TRAINER_WAITS if self.wait_s > WAIT_SHARE * self.cycle_s else Verdict.BALANCED


@dataclass(frozen=True, slots=True)
class WallTime:
    """Where the wall time of one run went, or of all; each second counts once.

    Attributes:
        total_s: From the first row to the last.
        waiting_s: The trainer neither trained nor synchronised weights, and had done so before.
        training_s: Training steps; of a step that the run did not finish, up to the run's last row.
        syncing_s: Weight syncs; what a sync and a step share belongs to the one that ended first.
        checkpointing_s: The part of the wait during which a checkpoint was made.
        other_s: The rest: before the first work, restoring, and after the last work.
    """

    total_s: float
    waiting_s: float
    training_s: float
    syncing_s: float
    checkpointing_s: float
    other_s: float

    def self_check(self) -> None:
        """Conservation: the parts are the whole, and none is negative.

        Raises:
            AssertionError: They do not add up.
        """
        parts = (self.waiting_s, self.training_s, self.syncing_s, self.checkpointing_s, self.other_s)
        slack = 1e-9 * max(1.0, self.total_s) + 1e-6
        assert math.isclose(self.total_s, sum(parts), rel_tol=1e-9, abs_tol=slack), self
        assert min(parts) >= -slack, self


def added_up(times: Mapping[str, WallTime]) -> WallTime:
    """The wall time of several runs together."""
    return WallTime(*(sum(getattr(time, field.name) for time in times.values()) for field in fields(WallTime)))


@dataclass(frozen=True, slots=True)
class StepsReport:
    """The training steps of a file, and where its wall time went.

    Attributes:
        steps: In the order in which they end; a step that its run did not finish stands behind the run's others.
        runs: Wall time by run, without runs that were forked from another.
        all_runs: Wall time of these runs together.
        stopped_s: Time between them, when none was running.
        verdicts: Steps by verdict.
    """

    steps: tuple[StepRecord, ...]
    runs: Mapping[str, WallTime]
    all_runs: WallTime
    stopped_s: float
    verdicts: Mapping[str, int]

    def self_check(self) -> None:
        """Conservation: the parts of each run's wall time add up to it, and each step has one verdict.

        Raises:
            AssertionError: They do not add up.
        """
        for time in (*self.runs.values(), self.all_runs):
            time.self_check()
        assert sum(self.verdicts.values()) == len(self.steps), self.verdicts
