"""Sets of numbers that mostly come in order, as ranges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

_NUMBER = re.compile("[0-9]{1,18}")


class Ranges:
    """A set of non-negative integers, kept as ascending ranges.

    Its text form is ``0-511 600-700 9``; :meth:`parse` reads it.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def add(self, number: int) -> None:
        """Put a number into the set."""
        self._put(number, number, set())

    def take(self, numbers: AbstractSet[int]) -> set[int]:
        """Put numbers into the set.

        Returns:
            Those that were there before.
        """
        known: set[int] = set()
        for first, last in _ranges_of(sorted(numbers)):
            end = self._lasts[-1] if self._lasts else -2
            if first > end + 1:
                self._firsts.append(first)
                self._lasts.append(last)
            elif first > end:
                self._lasts[-1] = last
            else:
                self._put(first, last, known)
        return known

    def _put(self, first: int, last: int, known: set[int]) -> None:
        """Put in a range; what of it was there before is added to what is known."""
        firsts, lasts = self._firsts, self._lasts
        begin = bisect_left(lasts, first - 1)
        end = bisect_right(firsts, last + 1, begin)
        if begin == end:
            firsts.insert(begin, first)
            lasts.insert(begin, last)
            return
        for at in range(begin, end):
            low, high = firsts[at], lasts[at]
            if low <= last and first <= high:
                known.update(range(max(first, low), min(last, high) + 1))
        if first < firsts[begin]:
            firsts[begin] = first
        lasts[begin] = max(last, lasts[end - 1])
        if end - begin > 1:
            del firsts[begin + 1 : end], lasts[begin + 1 : end]

    def __contains__(self, number: int) -> bool:
        """Whether a number is in the set."""
        place = bisect_right(self._firsts, number)
        return place > 0 and number <= self._lasts[place - 1]

    def __len__(self) -> int:
        """How many numbers are in the set."""
        return sum(self._lasts) - sum(self._firsts) + len(self._firsts)

    def __str__(self) -> str:
        """The text form."""
        pairs = zip(self._firsts, self._lasts, strict=True)
        return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in pairs)

    @classmethod
    def parse(cls, text: str) -> Ranges:
        """The set that a text form describes; parts that are none are passed over."""
        found = []
        for part in text.split():
            first, _, last = part.partition("-")
            if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last or first) and int(first) <= int(last or first):
                found.append((int(first), int(last or first)))
        ranges = cls()
        ranges._unite(found)
        return ranges

    def merge(self, other: Ranges) -> None:
        """Put all numbers of another set into this one."""
        self._unite(zip(other._firsts, other._lasts, strict=True))

    def _unite(self, pairs: Iterable[tuple[int, int]]) -> None:
        pairs = sorted([*zip(self._firsts, self._lasts, strict=True), *pairs])
        firsts: list[int] = []
        lasts: list[int] = []
        for first, last in pairs:
            if lasts and first <= lasts[-1] + 1:
                lasts[-1] = max(lasts[-1], last)
            else:
                firsts.append(first)
                lasts.append(last)
        self._firsts, self._lasts = firsts, lasts


def _ranges_of(ascending: list[int]) -> Iterator[tuple[int, int]]:
    """The ranges in distinct numbers, each found in steps that double and then halve."""
    begin, count = 0, len(ascending)
    while begin < count:
        offset, end, step = ascending[begin] - begin, begin, 1
        while end + step < count and ascending[end + step] - end - step == offset:
            end += step
            step *= 2
        while step > 1:
            step //= 2
            if end + step < count and ascending[end + step] - end - step == offset:
                end += step
        yield ascending[begin], ascending[end]
        begin = end + 1
