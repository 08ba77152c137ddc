"""Sets of numbers that mostly come in order, as ranges."""

from __future__ import annotations

import re
from bisect import bisect_right

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
        joins_before = before is not None and before[1] == number - 1
        joins_after = after is not None and after[0] == number + 1
        if before is not None and joins_before:
            before[1] = number
            if after is not None and joins_after:
                before[1] = after[1]
                del self._spans[place]
        elif after is not None and joins_after:
            after[0] = number
        else:
            self._spans.insert(place, [number, number])

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
