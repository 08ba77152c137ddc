"""What is told of a trace that is still being written: a frozen picture at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtrace_otel.analysis.runs import RunSummary

Phase: TypeAlias = Literal["training step", "refit", "checkpoint"]
"""What a run can be in the middle of."""

HappeningKind: TypeAlias = Literal["refit", "checkpoint", "restore"]
"""What happens to a run as a whole, now and then."""


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """An attempt that has no end yet.

    Attributes:
        attempt_id: Its id.
        run: The run that has it.
        prompt_id: Its prompt, if the rows say.
        group_id: Its group, if the rows say.
        since: When this run dispatched or resumed it first, in Unix seconds.
        refused: Whether its latest dispatch was refused, so that nothing runs.
        instance: The inference server that has it, if the rows say.
    """

    attempt_id: str
    run: str
    prompt_id: str | None
    group_id: str | None
    since: float | None
    refused: bool
    instance: str | None


@dataclass(frozen=True, slots=True)
class StepPoint:
    """A training step, as it was trained.

    Attributes:
        step: Its number.
        run: The run that trained it.
        t: When it ended, in Unix seconds.
        batch_age: The truest batch age that the file gave by then, in versions; ``None`` if it gave none.
    """

    step: int
    run: str
    t: float | None
    batch_age: float | None


@dataclass(frozen=True, slots=True)
class Happening:
    """A refit, a checkpoint or a restore.

    Attributes:
        kind: Which of them.
        run: The run in which it happened.
        t: When it ended, in Unix seconds.
        seconds: How long it took, as its row says or else by the row of its begin.
        what: The version installed, or the id of the checkpoint.
        calls_cut: Calls that a refit paused.
        groups: Groups that a checkpoint holds or a restore brought back.
    """

    kind: HappeningKind
    run: str
    t: float | None
    seconds: float | None
    what: str | None
    calls_cut: int | None
    groups: int | None


@dataclass(frozen=True, slots=True)
class UnderWay:
    """What a run is in the middle of.

    Attributes:
        phase: Of which kind it is.
        run: The run.
        since: When it began, in Unix seconds.
        step: The step, for a training step.
    """

    phase: Phase
    run: str
    since: float | None
    step: int | None


@dataclass(frozen=True, slots=True)
class LiveAttempts:
    """Attempts by outcome so far: begun = sealed + abandoned + running + left open + interrupted + forgotten.

    Attributes:
        begun: Dispatched, or resumed in the middle.
        sealed: With a result.
        abandoned: Without one.
        running: Open in a run that goes on; ``refused`` of them wait for another dispatch.
        refused: As above.
        left_open: Open when their run ended.
        interrupted: Open when their run was killed.
        forgotten: Open when too many were, and not followed further.
    """

    begun: int
    sealed: int
    abandoned: int
    running: int
    refused: int
    left_open: int
    interrupted: int
    forgotten: int


@dataclass(frozen=True, slots=True)
class LiveGroups:
    """Prompt groups by outcome so far.

    Attributes:
        reserved: Reserved anew.
        brought_back: Brought back by a restore.
        trained: Trained on.
        discarded: Discarded.
        ready: Sealed or published in a run that goes on, and waiting to be trained.
        unfinished: Reserved in a run that goes on, and not ready yet.
        left_open: Neither trained nor discarded when their run ended.
        interrupted: Unfinished when their run was killed, and not brought back.
    """

    reserved: int
    brought_back: int
    trained: int
    discarded: int
    ready: int
    unfinished: int
    left_open: int
    interrupted: int


@dataclass(frozen=True, slots=True)
class Rates:
    """What happened per second, over ``seconds`` seconds.

    Attributes:
        seconds: The last minute, or as long as the file goes back; ``None`` without a row that has a time.
        rows: Rows written.
        dispatched: Attempts dispatched.
        sealed: Attempts sealed.
        trained_tokens: Tokens trained; ``None`` if steps were trained and none says how many tokens it had.
    """

    seconds: float | None
    rows: float
    dispatched: float
    sealed: float
    trained_tokens: float | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A trace at one moment.

    Attributes:
        now: The moment, in Unix seconds.
        rows: Rows so far.
        last_row: Time of the latest row that has one.
        runs: The runs that began last, in order.
        run_count: All of them.
        attempts: By outcome.
        groups: By outcome.
        rates: Of the last minute.
        steps: The steps trained last, in order; a step that is trained again comes again.
        under_way: What runs that go on are in the middle of.
        slowest: The attempts of runs that go on that have been open longest.
        refits: The latest, in order.
        checkpoints: The same way.
        restores: The same way.
        rows_lost: Rows that recorders know to have lost.
        clock_steps: How often a host's clock was stepped.
    """

    now: float
    rows: int
    last_row: float | None
    runs: tuple[RunSummary, ...]
    run_count: int
    attempts: LiveAttempts
    groups: LiveGroups
    rates: Rates
    steps: tuple[StepPoint, ...]
    under_way: tuple[UnderWay, ...]
    slowest: tuple[OpenAttempt, ...]
    refits: tuple[Happening, ...]
    checkpoints: tuple[Happening, ...]
    restores: tuple[Happening, ...]
    rows_lost: int
    clock_steps: int

    def self_check(self) -> None:
        """Conservation: every attempt that began has one outcome.

        Raises:
            AssertionError: The counts do not add up.
        """
        a = self.attempts
        ends = a.sealed + a.abandoned + a.running + a.left_open + a.interrupted + a.forgotten
        assert a.begun == ends, a
        assert a.refused <= a.running, a
