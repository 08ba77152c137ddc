"""What happened besides attempts: runs, steps, refits, checkpoints, restores and stops, each from when to when."""

from __future__ import annotations

from dataclasses import dataclass

from rtrace_otel.analysis.runs import HowEnded


@dataclass(frozen=True, slots=True)
class RunBand:
    """One run. Times are in Unix seconds.

    Attributes:
        run: Its id.
        start: Its first row.
        end: Its last row.
        ended_how: How it ended.
        reason: The reason in ``run_ended``.
        restored_from: The checkpoint that it restored.
    """

    run: str
    start: float
    end: float
    ended_how: HowEnded
    reason: str | None
    restored_from: str | None


@dataclass(frozen=True, slots=True)
class StepBand:
    """One training step, each time that it was trained.

    Attributes:
        run: The run that trained it.
        start: Its start; its end, if no row tells the start.
        end: Its end; the run's last row, if it has none.
        finished: Whether it has an end.
        step: Its number.
        trained_version: Weight version that it updates.
        batch_age: The truest batch age that the file gives, in versions.
        groups: Groups that it trained on.
        tokens: Tokens that it trained on.
        given_up: Whether a later restore went back behind it.
    """

    run: str
    start: float
    end: float
    finished: bool
    step: int | None
    trained_version: int | None
    batch_age: float | None
    groups: int | None
    tokens: int | None
    given_up: bool


@dataclass(frozen=True, slots=True)
class RefitBand:
    """One refit.

    Attributes:
        run: Its run.
        start: As for a step.
        end: As for a step.
        finished: Whether it has an end.
        replaced_version: Weight version before.
        new_version: Weight version installed.
        calls: Calls that it paused; ``None`` if its row does not say.
        tokens_in_flight: Tokens that they had, as far as it says.
    """

    run: str
    start: float
    end: float
    finished: bool
    replaced_version: int | None
    new_version: int | None
    calls: int | None
    tokens_in_flight: int | None


@dataclass(frozen=True, slots=True)
class CheckpointBand:
    """One checkpoint being made.

    Attributes:
        run: Its run.
        start: As for a step.
        end: As for a step.
        finished: Whether it was published.
        checkpoint_id: Its name.
        step: Its step.
        kind: What it holds.
        groups: Groups that it holds.
    """

    run: str
    start: float
    end: float
    finished: bool
    checkpoint_id: str | None
    step: int | None
    kind: str | None
    groups: int | None


@dataclass(frozen=True, slots=True)
class RestoreBand:
    """One restore.

    Attributes:
        run: The run that restored.
        start: As for a step.
        end: Its end.
        checkpoint_id: The checkpoint.
        step: Its step.
        from_run: The run that published it.
        groups: Groups that it brought back.
    """

    run: str
    start: float
    end: float
    checkpoint_id: str | None
    step: int | None
    from_run: str | None
    groups: int | None


@dataclass(frozen=True, slots=True)
class StopBand:
    """One stop: no run of the job lived.

    Attributes:
        run: The run that stopped.
        restored_run: The run that went on.
        start: Last row of the first.
        end: First row of the second; never before ``start``.
        ended_how: How the first ended.
        rollouts: Rollouts that it took.
        steps_lost: Steps that it took.
    """

    run: str
    restored_run: str
    start: float
    end: float
    ended_how: HowEnded
    rollouts: int
    steps_lost: int


@dataclass(frozen=True, slots=True)
class Bands:
    """All bands, each kind in the order of the file.

    Attributes:
        runs: Runs with a time.
        steps: Steps, each time that one was trained.
        refits: Refits that installed another version.
        checkpoints: Checkpoints made.
        restores: Restores.
        stops: Stops.
    """

    runs: tuple[RunBand, ...]
    steps: tuple[StepBand, ...]
    refits: tuple[RefitBand, ...]
    checkpoints: tuple[CheckpointBand, ...]
    restores: tuple[RestoreBand, ...]
    stops: tuple[StopBand, ...]
