"""Amounts over time in few buckets, exact on average within each bucket, whatever the order of the rows."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import Final

MAX_BUCKETS: Final = 2_000
"""Buckets of a series, at most."""

FINEST_S: Final = 2.0**-6
"""Width of a bucket at first, in seconds; it doubles whenever the buckets become too many."""


@dataclass(slots=True)
class _Sums:
    """Per bucket: how much the level changes in it, and what the changes add to the area within it."""

    steps: array[float]
    areas: array[float]


@dataclass(frozen=True, slots=True)
class Levels:
    """Series over the same buckets.

    Attributes:
        start: Where the first bucket begins, in Unix seconds.
        width: Width of each bucket, in seconds: a power of two.
        values: By name, the mean of each bucket.
    """

    start: float
    width: float
    values: dict[str, array[float]]

    def total(self, name: str) -> float:
        """The area under a series: its values times seconds."""
        return math.fsum(self.values[name]) * self.width


class LevelFold:
    """Adds up levels, none of them negative: how much of something there was, from when to when.

    Memory is a constant: two sums for each bucket and name.

    Args:
        names: Names of the series.
        most: Buckets, at most.
    """

    def __init__(self, names: tuple[str, ...], most: int = MAX_BUCKETS) -> None:
        """Begin with none."""
        self._most = most
        self._width = FINEST_S
        self._first = self._buckets = 0
        self._sums = {name: _Sums(array("d"), array("d")) for name in names}

    def span(self, name: str, start: float, end: float, level: float = 1.0) -> None:
        """There was this much more of it from one moment to another, in Unix seconds."""
        if end > start:
            self.change(name, start, level)
            self.change(name, end, -level)

    def amount(self, name: str, start: float, end: float, amount: float) -> None:
        """So much of it was made from one moment to another, evenly; all at once if that is no time to speak of."""
        if end - start >= FINEST_S:
            self.span(name, start, end, amount / (end - start))
        else:
            place = self._place(end)
            self._sums[name].areas[place] += amount

    def change(self, name: str, time: float, by: float) -> None:
        """The level changed at a moment, in Unix seconds."""
        place = self._place(time)
        sums = self._sums[name]
        sums.steps[place] += by
        sums.areas[place] += by * ((self._first + place + 1) * self._width - time)

    def copy(self) -> LevelFold:
        """The same sums again, to go on separately."""
        other = LevelFold(tuple(self._sums), self._most)
        other._width, other._first, other._buckets = self._width, self._first, self._buckets
        other._sums = {name: _Sums(sums.steps[:], sums.areas[:]) for name, sums in self._sums.items()}
        return other

    def result(self) -> Levels:
        """The mean of each bucket so far."""
        return Levels(self._first * self._width, self._width, {name: self._means(name) for name in self._sums})

    def _means(self, name: str) -> array[float]:
        sums, level, means = self._sums[name], 0.0, array("d")
        noise = 1e-9 * max(map(abs, sums.steps), default=0.0)
        for step, area in zip(sums.steps, sums.areas, strict=True):
            mean = level + area / self._width
            means.append(mean if mean > noise else 0.0)
            level += step
        return means

    def _place(self, time: float) -> int:
        """Number of a moment's bucket, made if it is not there."""
        bucket = math.floor(time / self._width)
        if self._first <= bucket < self._first + self._buckets:
            return bucket - self._first
        if not self._buckets:
            self._first = bucket
        while max(bucket, self._first + self._buckets - 1) - min(bucket, self._first) >= self._most:
            self._widen()
            bucket = math.floor(time / self._width)
        before = max(self._first - bucket, 0)
        after = max(bucket - (self._first + self._buckets - 1), 0)
        if before or after:
            for sums in self._sums.values():
                sums.steps = _padded(sums.steps, before, after)
                sums.areas = _padded(sums.areas, before, after)
            self._first -= before
            self._buckets += before + after
        return bucket - self._first

    def _widen(self) -> None:
        """Make one bucket of each two."""
        odd = self._first % 2
        for sums in self._sums.values():
            steps, areas = _padded(sums.steps, odd, 0), _padded(sums.areas, odd, 0)
            if len(steps) % 2:
                steps.append(0.0)
                areas.append(0.0)
            pairs = range(0, len(steps), 2)
            sums.areas = array("d", (areas[at] + steps[at] * self._width + areas[at + 1] for at in pairs))
            sums.steps = array("d", (steps[at] + steps[at + 1] for at in pairs))
        self._first //= 2
        self._buckets = (self._buckets + odd + 1) // 2
        self._width *= 2


def _padded(values: array[float], before: int, after: int) -> array[float]:
    if not before:
        values.extend([0.0] * after)
        return values
    return array("d", [0.0] * before) + values + array("d", [0.0] * after)
