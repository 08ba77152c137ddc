"""Spans that overlap, laid into as few lanes as possible."""

from __future__ import annotations

from bisect import bisect_right, insort


class Lanes:
    """Gives each span a lane in which no other span is at its time.

    Spans come in the order of their ends. Then the lane that fell free last before a span begins is the best choice:
    there are as many lanes as spans that overlap at one moment, and no more. A span that comes too late gets a lane in
    the same way, and may need one more.
    """

    def __init__(self) -> None:
        """Begin without a lane."""
        self._free_from: list[tuple[int, int]] = []

    def lane(self, start: int, end: int) -> int:
        """Lane of a span.

        Args:
            start: When it begins.
            end: When it ends, not before; in the same unit.

        Returns:
            A number from 0; the lowest that was never used is a new lane.
        """
        place = bisect_right(self._free_from, (start, len(self._free_from))) - 1
        lane = len(self._free_from) if place < 0 else self._free_from.pop(place)[1]
        insort(self._free_from, (end, lane))
        return lane
