"""Times that a picture believes: those that are not far away from the other rows of their run.

One row with a time of another decade would stretch the axis until nothing else can be seen. A week away from its run is
far; a clock that has really been set is believed again from the third row that agrees.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from rtrace_otel.analysis.checked import duration, time_of
from rtrace_otel.events import Row

FAR_S: Final = 7 * 86_400.0
"""A time that is so far from those of its run is doubted, in seconds."""

AGREE: Final = 3
"""Rows in a row that must agree on a time far away before it is believed."""

HELD: Final = 1_000
"""Rows that wait, at most, for what the next ones of their run say."""


@dataclass(slots=True)
class _Clock:
    first: float
    last: float
    rows: int = 1
    doubted: list[float] = field(default_factory=list)

    def is_near(self, time: float) -> bool:
        return self.first - FAR_S <= time <= self.last + FAR_S

    def take(self, time: float) -> bool:
        if self.is_near(time):
            self._stretch([time])
            return True
        if self.doubted and abs(time - self.doubted[-1]) > FAR_S:
            self.doubted = []
        self.doubted.append(time)
        if len(self.doubted) < AGREE:
            return False
        if self.rows < AGREE:  # the few rows before were the odd ones
            self.first, self.last = time, time
        self._stretch(self.doubted)
        return True

    def _stretch(self, times: list[float]) -> None:
        self.first, self.last = min(self.first, *times), max(self.last, *times)
        self.rows += len(times)
        self.doubted = []


class BelievedTimes:
    """Follows the time of each run. Memory is a constant for each run.

    Attributes:
        doubted: Rows whose time was not believed.
        placed: Rows that :meth:`through` gave another time.
    """

    def __init__(self) -> None:
        """Begin with no row seen."""
        self.doubted = self.placed = 0
        self._clocks: dict[str, _Clock] = {}

    def row(self, row: Row) -> Row:
        """The row, without a time or a duration that is not believed."""
        time = time_of(row)
        if time is None:
            return row
        clock = self._clocks.get(row["run"])
        if clock is None:
            self._clocks[row["run"]] = _Clock(time, time)
        elif not clock.take(time):
            self.doubted += 1
            return {**row, "t": None}
        return _without_odd_duration(row)

    def through(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows, each with a time: one that has none that is believed has the latest one of its run so far.

        For pictures that must put everything somewhere. The first rows of a run are held back until so many agree that
        it is known which of them is odd; a run that says too little, or no time at all, holds back at most ``HELD``
        rows, and stays as it is.
        """
        held: deque[Row] = deque()
        latest: dict[str, float] = {}
        for row in rows:
            self.row(row)
            held.append(row)
            while held and (self._is_settled(held[0]["run"]) or len(held) > HELD):
                yield self._placed(held.popleft(), latest)
        for row in held:
            yield self._placed(row, latest)

    def time(self, run: str, time: float | None) -> float | None:
        """A time of a run, in Unix seconds; ``None`` if it is far from that run and from every other one."""
        if time is None:
            return None
        clock = self._clocks.get(run)
        if clock is not None and clock.is_near(time):
            return time
        others = (one for one in self._clocks.values() if one.rows >= AGREE)
        return time if any(one.is_near(time) for one in others) else None

    def first(self, run: str) -> float | None:
        """The earliest time of a run that is believed."""
        clock = self._clocks.get(run)
        return None if clock is None else clock.first

    def last(self, run: str) -> float | None:
        """The latest time of a run that is believed."""
        clock = self._clocks.get(run)
        return None if clock is None else clock.last

    def _is_settled(self, run: str) -> bool:
        clock = self._clocks.get(run)
        return clock is not None and clock.rows >= AGREE

    def _placed(self, row: Row, latest: dict[str, float]) -> Row:
        """A row with its own time, or with the latest one of its run among the rows before."""
        clock, time = self._clocks.get(row["run"]), time_of(row)
        if clock is None:
            return row
        if time is not None and clock.is_near(time):
            latest[row["run"]] = max(time, latest.get(row["run"], time))
            return _without_odd_duration(row)
        self.placed += 1
        return _without_odd_duration({**row, "t": latest.get(row["run"], clock.first)})


def _without_odd_duration(row: Row) -> Row:
    return {**row, "seconds": None} if (duration(row.get("seconds")) or 0.0) > FAR_S else row
