"""What a trace holds: frozen results, without how they come about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtrace_otel.analysis.age.results import AgeReport
from rtrace_otel.analysis.runs import RunSummary


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """Rollout attempts by outcome: sealed + abandoned + interrupted + open = begun.

    Attributes:
        begun: Attempts dispatched, or resumed in the middle; each counts once, however often it was dispatched.
        sealed: With a result; ``masked`` of them are masked.
        masked: As above.
        abandoned: By reason.
        interrupted: Open when their run was killed.
        open: Open at the end of the file, or when their run ended.
        refusals: Dispatches refused; such an attempt stays open and is dispatched again.
        resumed: Attempts that a restore kept or continued, by level.
    """

    begun: int
    sealed: int
    masked: int
    abandoned: Mapping[str, int]
    interrupted: int
    open: int
    refusals: int
    resumed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Prompt groups by outcome.

    Attributes:
        reserved: Groups reserved anew.
        brought_back: Groups that a restore brought back, by its own row or by reserving them again.
        trained: Groups that a step trained on.
        trained_again: Trainings of a group that an earlier run had trained or discarded already.
        discarded: By reason.
        interrupted: Unfinished when their run was killed, and not brought back.
        open: Unfinished at the end of the file, or when their run ended.
    """

    reserved: int
    brought_back: int
    trained: int
    trained_again: int
    discarded: Mapping[str, int]
    interrupted: int
    open: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What a trace holds.

    Attributes:
        runs: In the order in which they begin.
        rows: Events read.
        attempts: By outcome.
        groups: By outcome.
        steps_trained: Training steps, each trained again counted again.
        steps_again: Steps that a later run trained again.
        refits: Weight syncs that installed another version.
        calls_cut: Calls that these refits paused.
        refit_s: What they took together, in seconds; ``None`` if no row says.
        checkpoints: Checkpoints published.
        restores: Checkpoints restored.
        ages: Staleness of every step.
        other_events: Events outside the vocabulary, by name.
        perhaps_two_jobs: Runs that may belong to another job: the run before them went on, and they restored nothing.
    """

    runs: tuple[RunSummary, ...]
    rows: int
    attempts: AttemptCounts
    groups: GroupCounts
    steps_trained: int
    steps_again: int
    refits: int
    calls_cut: int
    refit_s: float | None
    checkpoints: int
    restores: int
    ages: AgeReport
    other_events: Mapping[str, int]
    perhaps_two_jobs: int = 0

    def self_check(self) -> None:
        """Conservation: every attempt that began ended in exactly one way, and every row belongs to a run.

        Raises:
            AssertionError: The counts do not add up.
        """
        a = self.attempts
        assert a.begun == a.sealed + sum(a.abandoned.values()) + a.interrupted + a.open, a
        assert self.rows == sum(run.rows for run in self.runs), self.rows
