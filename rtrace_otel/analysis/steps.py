"""Training steps: how long each waited, trained and synchronised weights, and who waited for whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace

from rtrace_otel.analysis.checked import amount, between, duration, integer, names, time_of
from rtrace_otel.analysis.queue_depth import Queues
from rtrace_otel.analysis.step_results import StepRecord, StepsReport, WallTime, added_up
from rtrace_otel.analysis.wall_time import Part, WallClock
from rtrace_otel.events import Row


def train_steps(events: Iterable[Row]) -> StepsReport:
    """The training steps of a trace and its wall time, in one pass.

    Args:
        events: Rows in file order, of all runs.
    """
    fold = StepsFold()
    for row in events:
        fold.add(row)
    return fold.result()


@dataclass(slots=True)
class _Run:
    run: str
    clock: WallClock | None = None
    first: float | None = None
    last: float | None = None
    forked: bool = False
    begun: StepRecord | None = None
    """The step whose start has been told of, and not its end."""
    sync_since: float | None = None
    checkpoint_since: float | None = None
    idle_since: float | None = None
    """End of the latest work."""
    latest: int | None = None
    """Place of its latest finished step."""

    def worked(self, part: Part, start: float | None, end: float | None) -> None:
        """Work ended; without its start it is a moment."""
        if end is None or self.clock is None:
            return
        self.clock.work(part, end if start is None else start, end)
        self.idle_since = end if self.idle_since is None else max(self.idle_since, end)

    def wait_before(self, start: float | None) -> float | None:
        """Seconds from the end of the latest work, in Unix seconds; 0 if work and step overlap."""
        if start is None or self.idle_since is None:
            return None
        return max(start - self.idle_since, 0.0)


class StepsFold:
    """Builds a :class:`StepsReport` row by row."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._queues = Queues()
        self._runs: dict[str, _Run] = {}
        self._steps: list[StepRecord] = []
        self._handlers: dict[str, Callable[[_Run, Row], None]] = {
            "run_started": self._start_run,
            "train_step_started": self._begin_step,
            "train_step": self._end_step,
            "weight_sync_started": self._begin_sync,
            "weight_sync": self._end_sync,
            "checkpoint_started": self._begin_checkpoint,
            "checkpoint_published": self._end_checkpoint,
            "checkpoint_restored": self._restore,
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        run = self._runs.get(row["run"])
        if run is None:
            run = self._runs[row["run"]] = _Run(row["run"])
        time = time_of(row)
        if time is not None:
            if run.clock is None:
                run.first, run.clock = time, WallClock(time)
            run.last = time if run.last is None else max(run.last, time)
        handler = self._handlers.get(row["event"])
        if handler is not None:
            handler(run, row)
        self._queues.add(row)

    def result(self) -> StepsReport:
        """The report over the rows so far."""
        steps = list(self._steps)
        begun = [(len(steps) if run.latest is None else run.latest + 1, run) for run in self._runs.values()]
        for place, run in sorted(begun, key=lambda entry: entry[0], reverse=True):
            if run.begun is not None:
                steps.insert(place, replace(run.begun, train_s=between(run.begun.started, run.last)))
        own = [run for run in self._runs.values() if not run.forked]
        times = {run.run: _wall_time(run) for run in own}
        verdicts = Counter(str(step.verdict) for step in steps)
        return StepsReport(tuple(steps), times, added_up(times), _stopped(own), dict(verdicts))

    @staticmethod
    def _start_run(run: _Run, row: Row) -> None:
        run.forked = row.get("parent_run") is not None

    def _begin_step(self, run: _Run, row: Row) -> None:
        if run.begun is not None:
            self._append(run, run.begun)
        start = time_of(row)
        groups, attempts = self._queues.of(run.run)
        run.begun = StepRecord(
            step=integer(row.get("step")),
            run=run.run,
            started=start,
            ended=None,
            wait_s=run.wait_before(start),
            train_s=None,
            sync_s=None,
            groups=None,
            tokens=None,
            queue=groups.now,
            open_attempts=attempts.now,
        )

    def _end_step(self, run: _Run, row: Row) -> None:
        step, end = integer(row.get("step")), time_of(row)
        begun, run.begun = run.begun, None
        if begun is not None and begun.step != step:
            self._append(run, begun)
            begun = None
        if begun is None:
            begun = self._begun_before(run, row, step, end)
        group_ids = names(row.get("group_ids"))
        known = not group_ids or self._queues.knows_one_of(group_ids)
        train_s = between(begun.started, end)
        record = replace(
            begun,
            ended=end,
            train_s=duration(row.get("seconds")) if train_s is None else train_s,
            groups=len(group_ids) if isinstance(row.get("group_ids"), (list, tuple)) else None,
            tokens=amount(row.get("tokens")),
            queue=begun.queue if known else None,
        )
        self._append(run, record)
        run.worked(Part.TRAINING, begun.started, end)
        for depth in self._queues.of(run.run):
            depth.forget()

    def _begun_before(self, run: _Run, row: Row, step: int | None, end: float | None) -> StepRecord:
        """The start of a step that no row told of: its end minus its ``seconds``."""
        start = _start(row, end)
        groups, attempts = (None if start is None else depth.at(start) for depth in self._queues.of(run.run))
        wait_s = run.wait_before(start)
        return StepRecord(step, run.run, start, None, wait_s, None, None, None, None, groups, attempts)

    def _append(self, run: _Run, record: StepRecord) -> None:
        run.latest = len(self._steps)
        self._steps.append(record)

    @staticmethod
    def _begin_sync(run: _Run, row: Row) -> None:
        run.sync_since = time_of(row)

    def _end_sync(self, run: _Run, row: Row) -> None:
        end = time_of(row)
        start = _start(row, end) if run.sync_since is None else run.sync_since
        run.sync_since = None
        run.worked(Part.SYNCING, start, end)
        seconds = between(start, end)
        if run.latest is not None and seconds is not None:
            step = self._steps[run.latest]
            self._steps[run.latest] = replace(step, sync_s=(step.sync_s or 0.0) + seconds)

    @staticmethod
    def _begin_checkpoint(run: _Run, row: Row) -> None:
        run.checkpoint_since = time_of(row)
        if run.checkpoint_since is not None and run.clock is not None:
            run.clock.checkpoint_started(run.checkpoint_since)

    @staticmethod
    def _end_checkpoint(run: _Run, row: Row) -> None:
        end = time_of(row)
        start = _start(row, end) if run.checkpoint_since is None else run.checkpoint_since
        run.checkpoint_since = None
        if end is not None and run.clock is not None:
            run.clock.checkpoint_ended(end if start is None else start, end)

    @staticmethod
    def _restore(run: _Run, row: Row) -> None:
        end = time_of(row)
        run.worked(Part.OTHER, _start(row, end), end)


def _start(row: Row, end: float | None) -> float | None:
    """The start of what ended then and took the row's ``seconds``; ``None`` if one of them is unknown."""
    seconds = duration(row.get("seconds"))
    return None if seconds is None or end is None or seconds > end else end - seconds


def _wall_time(run: _Run) -> WallTime:
    if run.clock is None or run.first is None or run.last is None:
        return WallTime(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    clock = deepcopy(run.clock)
    for part, since in (
        (Part.TRAINING, run.begun.started if run.begun is not None else None),
        (Part.SYNCING, run.sync_since),
    ):
        if since is not None:
            clock.work(part, since, run.last)
    seconds = clock.seconds()
    return WallTime(
        total_s=run.last - run.first,
        waiting_s=seconds[Part.WAITING],
        training_s=seconds[Part.TRAINING],
        syncing_s=seconds[Part.SYNCING],
        checkpointing_s=seconds[Part.CHECKPOINTING],
        other_s=seconds[Part.OTHER] + (run.last - clock.settled),
    )


def _stopped(runs: Iterable[_Run]) -> float:
    """Seconds between runs in which none was running."""
    stopped, until = 0.0, None
    for run in runs:
        if run.first is None or run.last is None:
            continue
        stopped += 0.0 if until is None else max(run.first - until, 0.0)
        until = run.last if until is None else max(until, run.last)
    return stopped
