"""What is said of the stops of a file: frozen results, without how they come about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.ledger.settled import LongLoss
from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.lineage import Lineage
from rtrace_otel.analysis.runs import MANY_LATE_ROWS, HowEnded

LOST: Final = (Fate.REDONE, Fate.TRAINED_AGAIN, Fate.DISCARDED, Fate.NEVER_CAME_BACK)
"""Fates of rollouts whose results the stop cost."""


@dataclass(frozen=True, slots=True)
class Interval:
    """What the age of the last checkpoint cost, and what other intervals would have.

    Attributes:
        age_s: Age of the checkpoint at the stop.
        interval_s: Time between it and the one before.
        sealed_since: What had been sealed since it was taken.
        if_half: The same, had checkpoints been taken twice as often.
        if_twice: The same, had they been taken half as often: the mean over which of them are left out.
    """

    age_s: float | None
    interval_s: float | None
    sealed_since: Amount | None
    if_half: Amount | None
    if_twice: Amount | None


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop: a run that ended, and a later one that went on with its job.

    Attributes:
        run: The run that stopped.
        ended_how: How it ended.
        restored_run: The run that went on.
        checkpoint_restored: Whether this run says that it restored a checkpoint, rather than begin from nothing.
        checkpoint_id: That checkpoint, if it says.
        checkpoint_step: That checkpoint's step.
        checkpoint_in_file: Whether the file tells of its publication.
        killed_at: Last sign of life of the run that stopped, in Unix seconds.
        dead_s: Seconds until the first row of the next run; negative if the two overlap.
        restore_s: How long the restore took, as its row says.
        first_dispatch_s: Seconds from the next run's first row to its first dispatch.
        first_seal_s: To its first sealed attempt.
        first_train_step_s: To the end of its first step.
        throughput_back_s: Until it sealed attempts at 90 % of the pace before the stop.
        steps_lost: Steps trained after the checkpoint.
        steps_trained_again: Those of them that a later run trained again.
        in_flight: Attempts that were open at the stop.
        fates: What became of every rollout that was alive, or done after the checkpoint.
        forgotten: Of the unknown ones, those that were trained too long before the stop to be remembered one by one.
        longest: The dearest losses, most tokens first.
        interval: What the checkpoint's age cost.
        length_bias: Mean running time of what never came back, divided by that of the rest; ``None`` for fewer than 5.
        idle_runs: Runs that began in between and did no work, in a loop of crashes for example.
        rows_late: Rows of the stopped run's work that came after the first work of the next one.
    """

    run: str
    ended_how: HowEnded
    restored_run: str
    checkpoint_restored: bool
    checkpoint_id: str | None
    checkpoint_step: int | None
    checkpoint_in_file: bool
    killed_at: float | None
    dead_s: float | None
    restore_s: float | None
    first_dispatch_s: float | None
    first_seal_s: float | None
    first_train_step_s: float | None
    throughput_back_s: float | None
    steps_lost: tuple[int, ...]
    steps_trained_again: tuple[int, ...]
    in_flight: Amount
    fates: Mapping[Fate, Amount]
    forgotten: Amount
    longest: tuple[LongLoss, ...]
    interval: Interval
    length_bias: float | None
    idle_runs: tuple[str, ...] = ()
    rows_late: int = 0

    @property
    def may_be_two_jobs(self) -> bool:
        """Whether the run went on for long, and the next one restored nothing: nothing tells that they are one job."""
        return self.rows_late >= MANY_LATE_ROWS and not self.checkpoint_restored

    @property
    def total(self) -> Amount:
        """Everything that was alive, or done after the checkpoint."""
        return added(self.fates.values())

    @property
    def lost(self) -> Amount:
        """What the stop cost: results that had to be made again, were discarded, or never came back."""
        return added(self.fates[fate] for fate in LOST) + without_rollouts(self.fates[Fate.RESUMED])


@dataclass(frozen=True, slots=True)
class Barrier:
    """What taking checkpoints cost while the job ran.

    Attributes:
        published: Checkpoints published.
        seconds: Time from start to publication, added up; ``None`` if no row says.
        refusals: Dispatches refused.
        redispatched: Those that were dispatched again.
        delay_s: Their delays, added up.
        longest_delay_s: The longest of them.
    """

    published: int
    seconds: float | None
    refusals: int
    redispatched: int
    delay_s: float
    longest_delay_s: float


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """What every stop of a file cost.

    Attributes:
        stops: In file order.
        lineage: The runs.
        barrier: What taking checkpoints cost.
        rows_lost: Rows that are missing by the recorder's own account; numbers can be wrong by what they said.
    """

    stops: tuple[Stop, ...]
    lineage: Lineage
    barrier: Barrier
    rows_lost: int

    @property
    def totals(self) -> Mapping[Fate, Amount]:
        """The fates over all stops."""
        return {fate: added(stop.fates[fate] for stop in self.stops) for fate in Fate}

    def self_check(self) -> None:
        """Conservation: every rollout that a stop took has one fate, and keeps no more than it had.

        Raises:
            AssertionError: It does not add up.
        """
        self.lineage.self_check()
        for stop in self.stops:
            assert set(stop.fates) == set(Fate), stop
            assert stop.in_flight.rollouts <= stop.total.rollouts, stop
            assert stop.forgotten.rollouts <= stop.fates[Fate.UNKNOWN].rollouts, stop
            for amount in stop.fates.values():
                assert 0 <= amount.tokens_kept <= amount.tokens, amount
            assert set(stop.steps_trained_again) <= set(stop.steps_lost), stop


def added(amounts: Iterable[Amount]) -> Amount:
    """The sum of several amounts."""
    return sum(amounts, Amount())


def without_rollouts(amount: Amount) -> Amount:
    """Only what was not kept: the rollouts themselves went on."""
    return Amount(0, amount.tokens, amount.tokens_exact, amount.tokens_kept, 0.0)
