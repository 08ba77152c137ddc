"""Simulates a job: its runs one after the other, each from a checkpoint of an earlier one."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import Final

from rtrace_otel.events import Row
from rtrace_otel.testing.books import Books
from rtrace_otel.testing.controller import Controller
from rtrace_otel.testing.observer import Observer
from rtrace_otel.testing.rows import Ids
from rtrace_otel.testing.settings import SimulationSettings, Stop
from rtrace_otel.testing.state import Snapshot
from rtrace_otel.testing.truth import Truth

LATE_AFTER: Final = 3
"""Rows of the next run that come before a late row."""


class Simulation:
    """A simulated job. Its rows and its truth follow from its settings alone.

    Args:
        settings: The job.

    Attributes:
        settings: As above.
    """

    def __init__(self, settings: SimulationSettings) -> None:
        """Simulate nothing yet."""
        self.settings = settings

    @cached_property
    def rows(self) -> list[Row]:
        """All rows in the order of the file, as the reader gives them: keys of ``tokens_by_version`` are numbers."""
        return self._rows_and_truth[0]

    @cached_property
    def truth(self) -> Truth:
        """What really happened."""
        return self._rows_and_truth[1]

    def iter_rows(self) -> Iterator[Row]:
        """The same rows one by one, simulated anew: memory does not grow with their number."""
        return _job(self.settings, Observer())

    @cached_property
    def _rows_and_truth(self) -> tuple[list[Row], Truth]:
        books = Books()
        rows = list(_job(self.settings, books))
        return rows, books.close(self.settings.ending)


def simulate(settings: SimulationSettings) -> Simulation:
    """Simulate a job.

    Args:
        settings: Its size, its faults and its stops.

    Returns:
        Its rows and its truth, computed when they are first used.
    """
    return Simulation(settings)


def _job(settings: SimulationSettings, observer: Observer) -> Iterator[Row]:
    rng = random.Random(f"job/{settings.seed}")  # noqa: S311 - lengths and faults, not secrets
    ids = Ids(settings.seed)
    stops = settings.planned_stops()
    depth = 1 + max((stop.checkpoint or 0 for stop in stops), default=0)
    published: deque[Snapshot] = deque(maxlen=depth)
    snapshot: Snapshot | None = None
    now, late = settings.start, list[Row]()
    for stop in (*stops, None):
        controller = Controller(settings, rng, ids, observer, now, snapshot, stop, published)
        rows = _insert_late(controller.rows(), late)
        late = []
        yield from _hold_last(rows, late) if stop is not None and stop.late_row else rows
        if stop is None or not controller.was_stopped:
            break
        snapshot = _restored(published, stop)
        observer.stopped(controller.now, stop, controller.run, snapshot, controller.untrained)
        now = controller.now + stop.down_s
    yield from late


def _restored(published: deque[Snapshot], stop: Stop) -> Snapshot | None:
    """The checkpoint that the next run restores; those after it are on a timeline that nobody goes on from."""
    if stop.checkpoint is None:
        published.clear()
    for _ in range(min(stop.checkpoint or 0, len(published) - 1)):
        published.pop()
    return published[-1] if published else None


def _hold_last(rows: Iterable[Row], late: list[Row]) -> Iterator[Row]:
    """All rows but the last, which becomes late unless it says that the run began or that a checkpoint is complete."""
    last: Row | None = None
    for row in rows:
        if last is not None:
            yield last
        last = row
    if last is None:
        return
    if last["event"] in {"run_started", "checkpoint_published"}:
        yield last
    else:
        late.append(last)


def _insert_late(rows: Iterator[Row], late: list[Row]) -> Iterator[Row]:
    yield from islice(rows, LATE_AFTER)
    yield from late
    yield from rows
