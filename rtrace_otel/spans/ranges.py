"""Sets of numbers that mostly come in order, as ranges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final, TypeAlias

FEW: Final = 8
"""Ranges that are put in together are taken one by one if so many times as many lie between them."""

_NUMBER = re.compile("[0-9]{1,18}")
_Range: TypeAlias = tuple[int, int]


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
        if self._lasts and number == self._lasts[-1] + 1:
            self._lasts[-1] = number
        else:
            self._put([(number, number)])

    def take(self, numbers: Iterable[int]) -> tuple[int, set[int]]:
        """Put numbers into the set.

        Args:
            numbers: They may come in any order, and more than once.

        Returns:
            How many different ones they are, and those that were there before.
        """
        ranges = _ranges_of(sorted(numbers))
        known = self._put(ranges) if ranges else set()
        return sum([last - first + 1 for first, last in ranges]), known

    def _put(self, ranges: list[_Range]) -> set[int]:
        """Put in ascending ranges, at least one; what of them was there before."""
        firsts, lasts = self._firsts, self._lasts
        begin = bisect_left(lasts, ranges[0][0] - 1)
        end = bisect_right(firsts, ranges[-1][1] + 1, begin)
        if len(ranges) > 1 and end - begin > FEW * len(ranges):
            return set().union(*[self._put([each]) for each in ranges])
        twice: list[_Range] = []
        if end > begin:
            ranges, twice = _united([*zip(firsts[begin:end], lasts[begin:end], strict=True), *ranges])
        firsts[begin:end] = [first for first, _ in ranges]
        lasts[begin:end] = [last for _, last in ranges]
        return {number for first, last in twice for number in range(first, last + 1)}

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

    def _unite(self, pairs: Iterable[_Range]) -> None:
        ranges, _ = _united([*zip(self._firsts, self._lasts, strict=True), *pairs])
        self._firsts, self._lasts = [first for first, _ in ranges], [last for _, last in ranges]


def _united(ranges: list[_Range]) -> tuple[list[_Range], list[_Range]]:
    """Ranges in any order as ascending ones that do not touch, and where two of them overlap."""
    found: list[_Range] = []
    twice: list[_Range] = []
    begin, end = 0, -2
    for first, last in sorted(ranges):
        if first > end + 1:
            if end >= 0:
                found.append((begin, end))
            begin, end = first, last
            continue
        if first <= end:
            twice.append((first, min(last, end)))
        if last > end:
            end = last
    if end >= 0:
        found.append((begin, end))
    return found, twice


def _ranges_of(ascending: list[int]) -> list[_Range]:
    """The ranges in numbers, some of which may be there more than once."""
    found: list[_Range] = []
    first, end = 0, -2
    for number in ascending:
        step = number - end
        if step == 1:
            end = number
        elif step:
            if end >= 0:
                found.append((first, end))
            first = end = number
    if end >= 0:
        found.append((first, end))
    return found
