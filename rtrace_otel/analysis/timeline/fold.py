"""The job over time, in one pass: attempts in lanes, bands, and series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from rtrace_otel.analysis.age.ages import AgeFold
from rtrace_otel.analysis.checked import time_of
from rtrace_otel.analysis.flow.flow import Flow
from rtrace_otel.analysis.flow.records import Outcome
from rtrace_otel.analysis.flow.tap import FlowTap
from rtrace_otel.analysis.ledger.follow import RolloutFollower
from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.analysis.queue_depth import Depth, Queues
from rtrace_otel.analysis.recent import Recent
from rtrace_otel.analysis.runs import RunFold, RunSummary
from rtrace_otel.analysis.timeline.band_fold import BandFold
from rtrace_otel.analysis.timeline.bands import Bands, StepBand
from rtrace_otel.analysis.timeline.believed import BelievedTimes
from rtrace_otel.analysis.timeline.columns import Drawn, columns_of
from rtrace_otel.analysis.timeline.kept import Bar, Selection, in_order
from rtrace_otel.analysis.timeline.lanes import pack_lanes
from rtrace_otel.analysis.timeline.levels import LevelFold
from rtrace_otel.analysis.timeline.results import QUEUED_GROUPS, SERIES, TRAINED_TOKENS, Timeline
from rtrace_otel.analysis.timeline.tally import Tally
from rtrace_otel.events import Row


def timeline(events: Iterable[Row], selection: Selection | None = None) -> Timeline:
    """The timeline of a trace.

    Args:
        events: Rows in file order, of all runs.
        selection: Which attempts to hold, and how many; by default up to 100,000 of all.
    """
    fold = TimelineFold(selection)
    for row in events:
        fold.add(row)
    return fold.result()


class TimelineFold:
    """Builds a :class:`Timeline` row by row.

    Memory holds what is open, the attempts that the selection keeps, the bands, and what restore costs need.

    Args:
        selection: Which attempts to hold, and how many.
        follower: What follows the rollouts, if somebody else gives it every row **before** it is given here; by default
            an own one.
        flow: What follows groups and attempts, likewise.
        ages: The ages, likewise.
    """

    def __init__(
        self,
        selection: Selection | None = None,
        follower: RolloutFollower | None = None,
        flow: FlowTap | None = None,
        ages: AgeFold | None = None,
    ) -> None:
        """Begin with no row seen."""
        self._selection = selection or Selection()
        self._follows = follower is None
        self._follower = follower or RolloutFollower()
        self._flow = flow or Flow()
        self._runs = RunFold()
        self._last_rows: dict[str, float] = {}
        levels = LevelFold(SERIES)
        self._queues = Queues(lambda: _Waiting(levels))
        self._times = BelievedTimes()
        self._tally = Tally(self._selection, levels, self._times)
        self._bands = BandFold(self._trained, ages)

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        if self._follows:
            self._follower.add(row)
        believed = self._times.row(row)
        self._runs.add(believed)
        time, last = time_of(believed), self._times.last(row["run"])
        if last is not None:
            self._last_rows[row["run"]] = last
        self._queues.add(believed)
        if row["event"] == "train_step":
            self._queues.of(row["run"])[1].forget()
        self._bands.add(believed)
        for ended in self._flow.add(row):
            self._tally.add(ended, self._last_rows, time)

    def result(self) -> Timeline:
        """The timeline over the rows so far."""
        drawn, found = self.drawn()
        attempts, tables = columns_of(drawn)
        return replace(found, attempts=attempts, tables=tables)

    def drawn(self) -> tuple[Drawn, Timeline]:
        """The attempts, and the timeline over the rows so far with none of them in its columns.

        For those who show the same timeline again and again: most attempts are as they were.
        """
        tally, runs = self._tally.copy(), [self._believed(run) for run in self._runs.result()]
        for ended in self._flow.still_open():
            tally.add(ended, self._last_rows, None)
        for run, last_row in self._last_rows.items():
            tally.levels.change(QUEUED_GROUPS, last_row, -self._queues.of(run)[0].shown)
        bars = in_order(tally.bars())
        lanes = pack_lanes([bar.start for bar in bars], [bar.end for bar in bars])
        drawn = Drawn(bars, _fates_of(bars, self._fates(), tally.kept_by), lanes)
        bands = self._believed_stops(self._bands.result(runs, self._follower.stops))
        times = [time for run in bands.runs for time in (run.start, run.end)]
        attempts, tables = columns_of(drawn.part(slice(0)))
        return drawn, Timeline(
            attempts=attempts,
            tables=tables,
            lanes=max(lanes, default=-1) + 1,
            attempts_total=tally.total,
            attempts_untimed=tally.untimed,
            attempts_matching=tally.matching,
            attempts_shown=len(bars),
            rows_doubted=self._times.doubted,
            by_outcome=dict(tally.by_outcome),
            attempt_seconds=tally.seconds,
            bands=bands,
            series=tally.levels.result(),
            start=min([*times, *(bar.start for bar in bars[:1])], default=None),
            end=max(chain(times, (bar.end for bar in bars)), default=None),
        )

    def _believed(self, run: RunSummary) -> RunSummary:
        """A run whose first rows had a time that nobody believes any more."""
        started = self._times.time(run.run, run.started)
        return replace(
            run,
            started=self._times.first(run.run) if started is None else started,
            last_row=self._times.last(run.run),
        )

    def _believed_stops(self, bands: Bands) -> Bands:
        """The stops between what is believed of their runs; restore costs take every time as it is."""
        stops = []
        for stop in bands.stops:
            start, end = self._times.time(stop.run, stop.start), self._times.time(stop.restored_run, stop.end)
            start = self._times.last(stop.run) if start is None else start
            end = self._times.first(stop.restored_run) if end is None else end
            if start is not None and end is not None:
                stops.append(replace(stop, start=start, end=max(start, end)))
        return replace(bands, stops=tuple(stops))

    def _trained(self, band: StepBand) -> None:
        if band.tokens:
            self._tally.levels.amount(TRAINED_TOKENS, band.start, band.end, band.tokens)

    def _fates(self) -> dict[tuple[str, str], Fate]:
        """What became of every attempt that a stop took, by run and id; of several stops the last one counts."""
        return {
            (loss.rollout.run, loss.rollout.attempt_id): loss.fate_if(self._follower.job_ended(stop))
            for stop in self._follower.stops
            for loss in stop.losses
        }


def _fates_of(bars: Iterable[Bar], taken: Mapping[tuple[str, str], Fate], kept_by: Recent[str]) -> list[Fate | None]:
    """The fate of each attempt; one that a later run kept although no stop took it was in a group that it discarded."""
    fates: list[Fate | None] = []
    remarkable = {attempt_id for _, attempt_id in taken} | kept_by.names()
    for bar in bars:
        run, attempt_id = bar.record.run, bar.record.attempt_id
        if attempt_id not in remarkable:
            fates.append(None)
            continue
        fate, keeper = taken.get((run, attempt_id)), kept_by.get(attempt_id)
        was_kept = fate is None and bar.record.outcome is Outcome.SEALED and keeper not in (None, run)
        fates.append(Fate.REUSED if was_kept else fate)
    return fates


class _Waiting(Depth):
    """Groups that wait, whose changes go into the series; nobody asks for their number at earlier moments.

    Attributes:
        shown: How many the series has: without those that came or went at an unknown time since the last known one.
    """

    def __init__(self, levels: LevelFold) -> None:
        super().__init__()
        self._levels = levels
        self.shown = 0

    def change(self, by: int, time: float | None) -> None:
        self.now += by
        if time is not None:
            self._levels.change(QUEUED_GROUPS, time, self.now - self.shown)
            self.shown = self.now
