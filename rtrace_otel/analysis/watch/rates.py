"""How much happened in the last minute, second by second, in memory that does not grow."""

from __future__ import annotations

from typing import Final

WINDOW_S: Final = 60
"""Seconds that a rate looks back."""

_SLOTS: Final = 64


class RecentCounts:
    """Adds up what happened in each second, and forgets what is older than the window.

    A second has its slot; a time that is far off, from a damaged row, costs one slot and no more.
    """

    def __init__(self) -> None:
        """Begin without counts."""
        self._slots: list[tuple[int, dict[str, int]]] = [(-1, {})] * _SLOTS

    def add(self, what: str, t: float, amount: int = 1) -> None:
        """Count something.

        Args:
            what: Its name.
            t: When it happened, in Unix seconds.
            amount: How much of it.
        """
        second = int(t)
        held, counts = self._slots[second % _SLOTS]
        if held != second:
            counts = {}
            self._slots[second % _SLOTS] = (second, counts)
        counts[what] = counts.get(what, 0) + amount

    def totals(self, now: float) -> dict[str, int]:
        """What happened in the ``WINDOW_S`` seconds that end with the second of ``now``, by name."""
        last = int(now)
        found: dict[str, int] = {}
        for second, counts in self._slots:
            if last - WINDOW_S < second <= last:
                for what, amount in counts.items():
                    found[what] = found.get(what, 0) + amount
        return found
