"""Which attempts a picture holds: all that are asked for, or a sample of a fixed size that has the remarkable ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
from operator import attrgetter
from typing import Final, Generic, NamedTuple, TypeVar
from zlib import crc32

from rtrace_otel.analysis.flow.records import AttemptRecord, Outcome

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
        spare: How many more may be held for a while. Then those that are held change rarely, not with each new one.

    Raises:
        ValueError: ``max_attempts`` is less than 1, or ``spare`` less than 0.
    """

    run: str | None = None
    first_step: int | None = None
    last_step: int | None = None
    since: float | None = None
    until: float | None = None
    max_attempts: int = MAX_ATTEMPTS
    spare: int = 0

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts must be at least 1: {self.max_attempts}")
        if self.spare < 0:
            raise ValueError(f"spare must be at least 0: {self.spare}")

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


def in_order(bars: Iterable[Bar]) -> list[Bar]:
    """Bars by start, end, run and id.

    Few begin at the same moment: only these are compared by the rest, which takes long for a hundred thousand.
    """
    ordered: list[Bar] = []
    for _, same in groupby(sorted(bars, key=_START), key=_START):
        alike = list(same)
        ordered += alike if len(alike) == 1 else sorted(alike, key=_place)
    return ordered


class KeptBars:
    """Holds at most so many bars, the same ones for the same file.

    One in ten is kept for being long. Of the others those come first that ended without a result or did not end; within
    both kinds a hash of the ids decides, as a draw of lots would.

    Args:
        most: Bars to hold.
        spare: Further bars to hold before those are let go that come last. Between, a bar that comes after the ones let
            go is not taken, so the old and the new ones are held by the same measure.
    """

    def __init__(self, most: int, spare: int = 0) -> None:
        """Begin with none."""
        self._long: _Best[tuple[float, int, int, Bar]] = _Best(most // LONGEST_SHARE, spare // LONGEST_SHARE)
        self._others: _Best[tuple[bool, int, int, Bar]] = _Best(
            most - most // LONGEST_SHARE, spare - spare // LONGEST_SHARE
        )
        self._count = 0

    def add(self, bar: Bar) -> None:
        """Take a bar, and let another one go if there are too many."""
        self._count += 1
        for _, lot, place, shorter in self._long.add((bar.end - bar.start, _lot(bar), -self._count, bar)):
            self._others.add((shorter.record.outcome is not Outcome.SEALED, lot, place, shorter))

    def bars(self) -> list[Bar]:
        """The bars held, in no order."""
        return [entry[3] for entry in (*self._long.entries, *self._others.entries)]

    def copy(self) -> KeptBars:
        """The same bars again, to go on separately; with a spare, none of them is let go any more."""
        other = KeptBars(1)
        other._long, other._others, other._count = self._long.copy(), self._others.copy(), self._count
        return other


_Entry = TypeVar("_Entry", bound=tuple[object, ...])


class _Best(Generic[_Entry]):
    """The greatest entries so far."""

    def __init__(self, most: int, spare: float = 0) -> None:
        self.entries: list[_Entry] = []
        self._most, self._spare = most, spare
        self._let_go: _Entry | None = None

    def add(self, entry: _Entry) -> list[_Entry]:
        """Take an entry, and give those that are let go."""
        if self._let_go is not None and entry < self._let_go:
            return [entry]
        heappush(self.entries, entry)
        if len(self.entries) <= self._most + self._spare:
            return []
        gone = [heappop(self.entries) for _ in range(len(self.entries) - self._most)]
        self._let_go = gone[-1]
        return gone

    def copy(self) -> _Best[_Entry]:
        other: _Best[_Entry] = _Best(self._most, math.inf if self._spare else 0)
        other.entries, other._let_go = self.entries[:], self._let_go
        return other


def _lot(bar: Bar) -> int:
    return crc32(f"{bar.record.run}/{bar.record.attempt_id}".encode("utf-8", "surrogatepass"))


_START: Final = attrgetter("start")


def _place(bar: Bar) -> tuple[float, float, str, str]:
    return bar.start, bar.end, bar.record.run, bar.record.attempt_id
