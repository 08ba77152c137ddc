"""What a picture of spans shows beside them: counters, runs and stops.

The rows pass through on their way to the spans, so that one pass over the file serves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from rtrace_otel.analysis.age.ages import AgeFold, TrainedStep
from rtrace_otel.analysis.checked import number, time_of
from rtrace_otel.analysis.queue_depth import Queues
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import Stop
from rtrace_otel.analysis.runs import RunFold, RunSummary
from rtrace_otel.events import Row


class Counter(StrEnum):
    """What is counted, over all runs that go on."""

    OPEN_ATTEMPTS = "open attempts"
    QUEUE = "published groups waiting"
    BATCH_AGE = "batch age"


UNITS = {Counter.OPEN_ATTEMPTS: "rollouts", Counter.QUEUE: "groups", Counter.BATCH_AGE: "versions"}
"""Unit of each counter."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A counter from one moment on.

    Attributes:
        counter: Which counter.
        t: Since when, in Unix seconds.
        value: Its value.
    """

    counter: Counter
    t: float
    value: float


class Backdrop:
    """Follows rows; memory is that of what is open and of the samples that were not taken yet.

    Args:
        run: Head of the id of the run that is wanted; all of them if left out.
    """

    def __init__(self, run: str | None = None) -> None:
        """Begin with no row seen."""
        self._wanted = run or ""
        self._queues = Queues()
        self._ages = AgeFold(self._trained)
        self._restores = RestoreFold()
        self._runs = RunFold()
        self._clock: dict[str, float] = {}
        self._open: dict[Counter, dict[str, int]] = {Counter.OPEN_ATTEMPTS: {}, Counter.QUEUE: {}}
        self._samples: list[Sample] = []

    def through(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows, each one seen here before it is given on."""
        for row in rows:
            self.add(row)
            yield row

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        run, t = row["run"], time_of(row)
        if t is not None:
            self._clock[run] = max(t, self._clock.get(run, t))
        self._runs.add(row)
        self._restores.add(row)
        self._queues.add(row)
        self._ages.add(row)
        groups, attempts = self._queues.of(run)
        groups.forget()
        attempts.forget()
        if row["event"] == "run_started" and row.get("parent_run") is None:
            self._take_over(run)
        ended = row["event"] == "run_ended"
        self._count(Counter.OPEN_ATTEMPTS, run, 0 if ended else attempts.now)
        self._count(Counter.QUEUE, run, 0 if ended else groups.now)

    def taken(self) -> list[Sample]:
        """The samples since the last call; they are given once."""
        samples, self._samples = self._samples, []
        return samples

    def runs(self) -> tuple[RunSummary, ...]:
        """The wanted runs."""
        return tuple(run for run in self._runs.result() if run.run.startswith(self._wanted))

    def stops(self) -> tuple[Stop, ...]:
        """The stops of the file before which or after which a wanted run was."""
        stops = self._restores.result().stops
        return tuple(stop for stop in stops if any(r.startswith(self._wanted) for r in (stop.run, stop.restored_run)))

    def _take_over(self, run: str) -> None:
        """A run that begins tells that those before it are no more: what they had open has gone with their last row."""
        for counter, by_run in self._open.items():
            for before in [other for other in by_run if other != run]:
                self._count(counter, before, 0)

    def _trained(self, trained: TrainedStep) -> None:
        age, t = number(trained.age.best), self._clock.get(trained.age.run)
        if age is not None and t is not None and trained.age.run.startswith(self._wanted):
            self._samples.append(Sample(Counter.BATCH_AGE, t, age))

    def _count(self, counter: Counter, run: str, value: int) -> None:
        """A run has another number of them; one whose clock is unknown does not count."""
        by_run, t = self._open[counter], self._clock.get(run)
        if t is None or not run.startswith(self._wanted) or by_run.get(run, 0) == value:
            return
        by_run[run] = value
        if not value:
            del by_run[run]
        self._samples.append(Sample(counter, t, sum(by_run.values())))
