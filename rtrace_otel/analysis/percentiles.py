"""Percentiles of many durations in memory that does not grow with them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

EXACT_UP_TO: Final = 1000
"""Values that are kept one by one; with more of them the percentiles are approximate."""

RELATIVE_ERROR: Final = 0.02
"""An approximate percentile is at most this share away from the exact one."""

SMALLEST_S: Final = 1e-6
"""Rows have microseconds; an approximate percentile below one is given as 0."""

_GROWTH: Final = 1.04
"""Upper end of a bucket by its lower end: its geometric middle is at most sqrt(1.04) - 1 = 1.98 % off."""

_ZERO: Final = -1
"""The bucket of what is shorter than a microsecond."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Percentiles by the nearest rank: the smallest value that at least this share of the values does not exceed.

    Attributes:
        count: How many values.
        p50: Median, in the unit of the values; ``None`` without values.
        p95: 95th percentile.
        p99: 99th percentile.
        max: Largest value; always exact.
        exact: Whether the percentiles are values that occurred; else they are off by at most 2 %.
    """

    count: int
    p50: float | None
    p95: float | None
    p99: float | None
    max: float | None
    exact: bool


class Percentiles:
    """Collects values: exactly up to a thousand, then by buckets whose bounds grow by a constant factor.

    Values from a microsecond to the year 10000 fall into about a thousand buckets, so memory is constant.
    """

    def __init__(self) -> None:
        """Begin without values."""
        self._values: list[float] | None = []
        self._buckets: dict[int, int] = {}
        self._count = 0
        self._max: float | None = None

    def add(self, value: float | None) -> None:
        """Take a value in seconds, not negative; ``None`` is unknown and does not count."""
        if value is None:
            return
        self._count += 1
        self._max = value if self._max is None else max(self._max, value)
        if self._values is None:
            self._put(value)
            return
        self._values.append(value)
        if self._count > EXACT_UP_TO:
            for kept in self._values:
                self._put(kept)
            self._values = None

    def result(self) -> Distribution:
        """The percentiles of the values so far."""
        p50, p95, p99 = (self._at(per_mille) for per_mille in (500, 950, 990))
        return Distribution(self._count, p50, p95, p99, self._max, exact=self._values is not None)

    def survival(self) -> tuple[tuple[float, int], ...]:
        """Values from small to large, each with how many values are at least as large.

        Each value that occurred, up to a thousand of them; beyond that the middles of the buckets.
        """
        counts = self._counts()
        left, curve = self._count, []
        for value in sorted(counts):
            curve.append((value, left))
            left -= counts[value]
        return tuple(curve)

    def _counts(self) -> dict[float, int]:
        counts: dict[float, int] = {}
        if self._values is not None:
            for value in self._values:
                counts[value] = counts.get(value, 0) + 1
            return counts
        for place, number in self._buckets.items():
            middle = self._middle(place)
            counts[middle] = counts.get(middle, 0) + number
        return counts

    def _middle(self, place: int) -> float:
        middle = 0.0 if place == _ZERO else SMALLEST_S * _GROWTH ** (place + 0.5)
        return middle if self._max is None else min(middle, self._max)

    def _put(self, value: float) -> None:
        place = _ZERO if value < SMALLEST_S else int(math.log(value / SMALLEST_S) / math.log(_GROWTH))
        self._buckets[place] = self._buckets.get(place, 0) + 1

    def _at(self, per_mille: int) -> float | None:
        rank = -(-self._count * per_mille // 1000)
        if self._values is not None:
            return sorted(self._values)[rank - 1] if self._values else None
        seen = 0
        for place in sorted(self._buckets):
            seen += self._buckets[place]
            if seen >= rank:
                return self._middle(place)
        return self._max
