"""Sets of numbers that mostly come in order, as ranges."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

_NUMBER = re.compile("[0-9]{1,18}")


class Ranges:
    """A set of non-negative integers, kept as ascending ranges.

    Its text form is ``0-511 600-700 9``; :meth:`parse` reads it.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._spans: list[list[int]] = []

    def add(self, number: int) -> None:
        """Put a number into the set."""
        place = bisect_right(self._spans, [number, number])
        before = self._spans[place - 1] if place else None
        if before is not None and number <= before[1]:
            return
        after = self._spans[place] if place < len(self._spans) else None
        if after is not None and after[0] <= number:
            return
        self._put(place, number, number)

    def take(self, numbers: Iterable[int]) -> set[int]:
        """Put numbers into the set.

        Returns:
            Those that were there before.
        """
        known: set[int] = set()
        for first, last in _ranges_of(sorted(set(numbers))):
            if self._overlaps(first, last):
                for number in range(first, last + 1):
                    known.update((number,) if number in self else ())
                    self.add(number)
            else:
                self._put(bisect_right(self._spans, [first, first]), first, last)
        return known

    def _overlaps(self, first: int, last: int) -> bool:
        place = bisect_right(self._spans, [last + 1])
        return place > 0 and self._spans[place - 1][1] >= first

    def _put(self, place: int, first: int, last: int) -> None:
        """Put in a range that overlaps none, before the range at this place."""
        before = self._spans[place - 1] if place else None
        after = self._spans[place] if place < len(self._spans) else None
        if before is not None and before[1] == first - 1:
            before[1] = last
            if after is not None and after[0] == last + 1:
                before[1] = after[1]
                del self._spans[place]
        elif after is not None and after[0] == last + 1:
            after[0] = first
        else:
            self._spans.insert(place, [first, last])

    def __contains__(self, number: int) -> bool:
        """Whether a number is in the set."""
        place = bisect_right(self._spans, [number, number])
        if place < len(self._spans) and self._spans[place][0] == number:
            return True
        return place > 0 and self._spans[place - 1][0] <= number <= self._spans[place - 1][1]

    def __len__(self) -> int:
        """How many numbers are in the set."""
        return sum(last - first + 1 for first, last in self._spans)

    def __str__(self) -> str:
        """The text form."""
        return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in self._spans)

    @classmethod
    def parse(cls, text: str) -> Ranges:
        """The set that a text form describes; parts that are none are passed over."""
        ranges = cls()
        for part in text.split():
            first, _, last = part.partition("-")
            if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last or first) and int(first) <= int(last or first):
                ranges._spans.append([int(first), int(last or first)])
        ranges.merge(cls())
        return ranges

    def merge(self, other: Ranges) -> None:
        """Put all numbers of another set into this one."""
        spans = sorted([*self._spans, *([*span] for span in other._spans)])
        merged: list[list[int]] = []
        for first, last in spans:
            if merged and first <= merged[-1][1] + 1:
                merged[-1][1] = max(merged[-1][1], last)
            else:
                merged.append([first, last])
        self._spans = merged


def _ranges_of(ascending: list[int]) -> list[tuple[int, int]]:
    if not ascending:
        return []
    first = last = ascending[0]
    ranges = []
    for number in ascending:
        if number > last + 1:
            ranges.append((first, last))
            first = number
        last = number
    ranges.append((first, last))
    return ranges
