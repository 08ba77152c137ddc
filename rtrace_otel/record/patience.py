"""Time limits that do not run while the process stands still."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rtrace_otel.record.clock import now

SLICE_S: Final = 0.05
"""Longest single wait."""

STILL_S: Final = 0.5
"""A wait of a slice that took longer than this: the process stood still, so no more of it is counted."""


class Patience:
    """A time limit, in seconds in which the process runs.

    A process that is stopped, or suspended with its machine, finds a deadline passed although nobody had a chance to
    meet it. So a wait is cut into slices, and of a slice that took far too long only ``STILL_S`` counts.

    Args:
        limit_s: The limit.
        clock: Seconds that never go back.
    """

    def __init__(self, limit_s: float, clock: Callable[[], float] = now) -> None:
        """The limit begins to run with the first wait."""
        self._limit_s = self._left_s = limit_s
        self._clock = clock

    def begin_again(self) -> None:
        """Something moved: the whole limit is left again."""
        self._left_s = self._limit_s

    def spend(self, seconds: float) -> None:
        """Count seconds that have passed otherwise."""
        self._left_s -= seconds

    def until(self, done: Callable[[float], bool]) -> bool:
        """Wait until something is done, or the limit has passed; one slice is waited for in any case.

        Args:
            done: Waits for as many seconds as it is given, or less, and says whether it is done.

        Returns:
            Whether it is done.
        """
        while True:
            begun = self._clock()
            if done(SLICE_S):
                return True
            self._left_s -= min(self._clock() - begun, STILL_S)
            if self._left_s <= 0:
                return False
