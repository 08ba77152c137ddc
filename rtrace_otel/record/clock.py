"""Wall-clock times that never go back: an anchor on the host's clock plus a monotonic delta."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

STEP_THRESHOLD_S: Final = 0.1
"""Smaller differences are left alone: they are scheduling noise, not a stepped clock."""

now = time.monotonic
"""The stamp that the caller's thread takes; :class:`RunClock` turns it into Unix seconds later."""


class RunClock:
    """Turns monotonic stamps into Unix seconds that never decrease.

    When the host's clock is stepped forward, later times follow it. When it is stepped back, they go on from the old
    anchor, because a time that stands still for an hour would falsify every duration; either way :meth:`stepped`
    gives the offset once, for a ``clock_adjusted`` row.

    Args:
        wall: Source of Unix seconds.
        monotonic: Source of monotonic seconds.

    Attributes:
        last_unix_s: The last answer of :meth:`unix_s`.
        applied_offset_s: What is added to a monotonic stamp to get Unix seconds.
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = now) -> None:
        """Anchor the clock at this moment."""
        self._wall = wall
        self._monotonic = monotonic
        self._offset = self._measure()
        self.applied_offset_s = self._offset
        self.last_unix_s = 0.0

    def unix_s(self, stamp: float) -> float:
        """Unix seconds of a monotonic stamp, cut to microseconds; never below an earlier answer."""
        t = int((stamp + self.applied_offset_s) * 1e6) / 1e6  # a third of the time of round(t, 6)
        if t < self.last_unix_s:
            return self.last_unix_s
        self.last_unix_s = t
        return t

    def stepped(self) -> float | None:
        """Look at the host's clock; the offset in seconds if it was stepped since the last look, else ``None``."""
        offset = self._measure()
        step = offset - self._offset
        if abs(step) < STEP_THRESHOLD_S:
            return None
        self._offset = offset
        difference = offset - self.applied_offset_s
        self.applied_offset_s = max(self.applied_offset_s, offset)
        return round(difference, 6)

    def _measure(self) -> float:
        """Wall minus monotonic; of three readings the one that was least disturbed by a thread switch."""
        best = (float("inf"), 0.0)
        for _ in range(3):
            before = self._monotonic()
            wall = self._wall()
            after = self._monotonic()
            best = min(best, (after - before, wall - (before + after) / 2))
        return best[1]
