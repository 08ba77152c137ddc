"""Follows steps, refits, checkpoints and restores from start to end, run by run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from rtrace_otel.analysis.age.ages import AgeFold, TrainedStep
from rtrace_otel.analysis.checked import amount, duration, integer, name, names, time_of
from rtrace_otel.analysis.ledger.stops import OpenStop
from rtrace_otel.analysis.runs import RunSummary
from rtrace_otel.analysis.timeline.bands import (
    Bands,
    CheckpointBand,
    RefitBand,
    RestoreBand,
    RunBand,
    StepBand,
    StopBand,
)
from rtrace_otel.events import Row


@dataclass(slots=True)
class _Begun:
    """What has a start and no end yet, in one run."""

    step: tuple[float, int | None] | None = None
    refit: float | None = None
    checkpoint: float | None = None


@dataclass(slots=True)
class _Found:
    steps: list[StepBand] = field(default_factory=list)
    refits: list[RefitBand] = field(default_factory=list)
    checkpoints: list[CheckpointBand] = field(default_factory=list)
    restores: list[RestoreBand] = field(default_factory=list)


class BandFold:
    """Builds the bands row by row. Memory grows with steps, refits and checkpoints, not with attempts.

    Args:
        watch: Called with each step that ended.
        ages: The ages, if another analysis of the same pass has each row added to them before it comes here.
    """

    def __init__(self, watch: Callable[[StepBand], None], ages: AgeFold | None = None) -> None:
        """Begin with no row seen."""
        self._watch = watch
        self._found = _Found()
        self._begun: dict[str, _Begun] = {}
        self._ages = AgeFold(keep_steps=False) if ages is None else ages
        self._adds_to_ages = ages is None
        self._ages.tell(self._aged)
        self._age: TrainedStep | None = None
        self._handlers: dict[str, Callable[[_Begun, Row], None]] = {
            "train_step_started": self._begin_step,
            "train_step": self._end_step,
            "weight_sync_started": self._begin_refit,
            "weight_sync": self._end_refit,
            "checkpoint_started": self._begin_checkpoint,
            "checkpoint_published": self._end_checkpoint,
            "checkpoint_restored": self._restore,
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        if self._adds_to_ages:
            self._ages.add(row)
        handler = self._handlers.get(row["event"])
        if handler is not None:
            handler(self._begun.setdefault(row["run"], _Begun()), row)

    def result(self, runs: Iterable[RunSummary], stops: Iterable[OpenStop]) -> Bands:
        """The bands so far; what has no end yet ends with the last row of its run.

        Args:
            runs: The runs so far.
            stops: The stops so far.
        """
        runs, stops = tuple(runs), tuple(stops)
        given_up = {lost for stop in stops for lost in stop.steps_lost}
        last_rows = {run.run: run.last_row for run in runs}
        found = self._with_unfinished(last_rows)
        ended_how = {run.run: run.ended_how for run in runs}
        return Bands(
            runs=tuple(band for run in runs if (band := _run_band(run)) is not None),
            steps=_marked(found.steps, given_up),
            refits=tuple(found.refits),
            checkpoints=tuple(found.checkpoints),
            restores=tuple(found.restores),
            stops=tuple(
                StopBand(
                    run=stop.stopped.run,
                    restored_run=stop.restored.run,
                    start=stop.stopped.pace.last,
                    end=max(stop.stopped.pace.last, stop.restored.pace.started),
                    ended_how=ended_how.get(stop.stopped.run, "unknown"),
                    rollouts=len(stop.losses) + stop.forgotten.rollouts,
                    steps_lost=len({step for _, step in stop.steps_lost}),
                )
                for stop in stops
                if stop.stopped.pace.last is not None and stop.restored.pace.started is not None
            ),
        )

    def _with_unfinished(self, last_rows: Mapping[str, float | None]) -> _Found:
        found = _Found(self._found.steps[:], self._found.refits[:], self._found.checkpoints[:], self._found.restores[:])
        for run, begun in self._begun.items():
            last = last_rows.get(run)
            if begun.step is not None:
                start, step = begun.step
                end = max(start, last or start)
                found.steps.append(StepBand(run, start, end, False, step, None, None, None, None, False))
            if begun.refit is not None:
                end = max(begun.refit, last or begun.refit)
                found.refits.append(RefitBand(run, begun.refit, end, False, None, None, None, None))
            if begun.checkpoint is not None:
                end = max(begun.checkpoint, last or begun.checkpoint)
                found.checkpoints.append(CheckpointBand(run, begun.checkpoint, end, False, None, None, None, None))
        return found

    def _aged(self, trained: TrainedStep) -> None:
        self._age = trained

    @staticmethod
    def _begin_step(begun: _Begun, row: Row) -> None:
        time = time_of(row)
        begun.step = None if time is None else (time, integer(row.get("step")))

    def _end_step(self, begun: _Begun, row: Row) -> None:
        step, trained, self._age = integer(row.get("step")), self._age, None
        told = begun.step[0] if begun.step is not None and begun.step[1] == step else None
        begun.step = None
        times = _times(row, told)
        if times is None:
            return
        tokens = amount(row.get("tokens"))
        known = trained.age.tokens if trained is not None and trained.age.groups_with_tokens else None
        band = StepBand(
            run=row["run"],
            start=times[0],
            end=times[1],
            finished=True,
            step=step,
            trained_version=integer(row.get("trained_version")),
            batch_age=trained.age.best if trained is not None else None,
            groups=_length(row.get("group_ids")),
            tokens=known if tokens is None else tokens,
            given_up=False,
        )
        self._found.steps.append(band)
        self._watch(band)

    @staticmethod
    def _begin_refit(begun: _Begun, row: Row) -> None:
        begun.refit = time_of(row)

    def _end_refit(self, begun: _Begun, row: Row) -> None:
        times = _times(row, begun.refit)
        begun.refit = None
        replaced, new = integer(row.get("replaced_version")), integer(row.get("new_version"))
        if times is None or (replaced == new and new is not None):
            return
        calls = row.get("calls")
        self._found.refits.append(
            RefitBand(row["run"], *times, True, replaced, new, _length(calls), _tokens_in_flight(calls))
        )

    @staticmethod
    def _begin_checkpoint(begun: _Begun, row: Row) -> None:
        begun.checkpoint = time_of(row)

    def _end_checkpoint(self, begun: _Begun, row: Row) -> None:
        times = _times(row, begun.checkpoint)
        begun.checkpoint = None
        if times is not None:
            checkpoint, step, kind = name(row.get("checkpoint_id")), integer(row.get("step")), name(row.get("kind"))
            groups = _length(row.get("groups"))
            self._found.checkpoints.append(CheckpointBand(row["run"], *times, True, checkpoint, step, kind, groups))

    def _restore(self, _: _Begun, row: Row) -> None:
        times = _times(row, None)
        if times is not None:
            checkpoint, step, origin = (
                name(row.get("checkpoint_id")),
                integer(row.get("step")),
                name(row.get("from_run")),
            )
            groups = _length(row.get("groups"))
            self._found.restores.append(RestoreBand(row["run"], *times, checkpoint, step, origin, groups))


def _times(row: Row, told: float | None) -> tuple[float, float] | None:
    """Start and end of what this row ends: its start is what a row told, else its end minus its ``seconds``."""
    end = time_of(row)
    if end is None:
        return None
    seconds = duration(row.get("seconds")) or 0.0
    start = max(end - seconds, 0.0) if told is None else told
    return min(start, end), end


def _length(value: object) -> int | None:
    return len(names(value)) if isinstance(value, (list, tuple)) else None


def _tokens_in_flight(calls: object) -> int | None:
    if not isinstance(calls, (list, tuple)):
        return None
    counts = (amount(call[1]) for call in calls if isinstance(call, (list, tuple)) and len(call) > 1)
    return amount(sum(count for count in counts if count is not None))


def _run_band(run: RunSummary) -> RunBand | None:
    if run.started is None or run.last_row is None:
        return None
    end = max(run.started, run.last_row)
    return RunBand(run.run, run.started, end, run.ended_how, name(run.reason), name(run.restored_from))


def _marked(steps: Iterable[StepBand], given_up: set[tuple[str, int]]) -> tuple[StepBand, ...]:
    """The steps with those marked that a restore went back behind."""
    return tuple(
        replace(band, given_up=True) if band.step is not None and (band.run, band.step) in given_up else band
        for band in steps
    )
