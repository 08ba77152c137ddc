"""Which attempts a picture holds: all that are asked for, or a sample of a fixed size that has the remarkable ones."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush, heappushpop
from typing import Final, NamedTuple
from zlib import crc32

from rtrace_otel.analysis.flow_records import AttemptRecord, Outcome

MAX_ATTEMPTS: Final = 100_000
"""Attempts that a picture holds, at most, unless told otherwise."""

LONGEST_SHARE: Final = 10
"""One in so many of them is kept for being long."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which attempts to look at; every condition that is given must hold.

    Attributes:
        run: Head of the run's id.
        first_step: Trained by this step or a later one.
        last_step: Trained by this step or an earlier one.
        since: Open at this moment or later, in Unix seconds.
        until: Open at this moment or earlier.
        max_attempts: How many to hold.

    Raises:
        ValueError: ``max_attempts`` is less than 1.
    """

    run: str | None = None
    first_step: int | None = None
    last_step: int | None = None
    since: float | None = None
    until: float | None = None
    max_attempts: int = MAX_ATTEMPTS

    def __post_init__(self) -> None:
        """Check the range."""
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1: {self.max_attempts}")

    def takes(self, bar: Bar) -> bool:
        """Whether an attempt meets every condition."""
        step = bar.record.trained_step
        return (
            (self.run is None or bar.record.run.startswith(self.run))
            and (self.first_step is None or (step is not None and step >= self.first_step))
            and (self.last_step is None or (step is not None and step <= self.last_step))
            and (self.since is None or bar.end >= self.since)
            and (self.until is None or bar.start <= self.until)
        )


class Bar(NamedTuple):
    """An attempt with its times.

    Attributes:
        start: In Unix seconds.
        end: Not before ``start``.
        record: The attempt.
        group_outcome: How its group ended.
        reserved: When its group was reserved.
        published: When its group was published.
        tokens: Tokens that it generated, as far as the rows tell.
    """

    start: float
    end: float
    record: AttemptRecord
    group_outcome: Outcome | None
    reserved: float | None
    published: float | None
    tokens: int | None


class KeptBars:
    """Holds at most so many bars, the same ones for the same file.

    One in ten is kept for being long. Of the others those come first that ended without a result or did not end; within
    both kinds a hash of the ids decides, as a draw of lots would.

    Args:
        most: Bars to hold.
    """

    def __init__(self, most: int) -> None:
        """Begin with none."""
        self._most = most
        self._most_long = most // LONGEST_SHARE
        self._long: list[tuple[float, int, int, Bar]] = []
        self._others: list[tuple[bool, int, int, Bar]] = []
        self._count = 0

    def add(self, bar: Bar) -> None:
        """Take a bar, and let another one go if there are too many."""
        self._count += 1
        entry = (bar.end - bar.start, _lot(bar), -self._count, bar)
        if len(self._long) < self._most_long:
            heappush(self._long, entry)
            return
        _, lot, place, shorter = heappushpop(self._long, entry)
        other = (shorter.record.outcome is not Outcome.SEALED, lot, place, shorter)
        if len(self._others) < self._most - self._most_long:
            heappush(self._others, other)
        else:
            heappushpop(self._others, other)

    def bars(self) -> list[Bar]:
        """The bars held, in no order."""
        return [entry[3] for entry in (*self._long, *self._others)]

    def copy(self) -> KeptBars:
        """The same bars again, to go on separately."""
        other = KeptBars(self._most)
        other._long, other._others, other._count = self._long[:], self._others[:], self._count
        return other


def _lot(bar: Bar) -> int:
    return crc32(f"{bar.record.run}/{bar.record.attempt_id}".encode("utf-8", "surrogatepass"))
