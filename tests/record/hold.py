"""Holds the recorder's worker at a known place, without a sleep."""

from __future__ import annotations

import threading

from rtrace_otel.record.clock import RunClock


class HeldClock(RunClock):
    """A clock that answers only after :meth:`release`: until then the worker stands at a row."""

    def __init__(self) -> None:
        """Begin held."""
        super().__init__()
        self._released = threading.Event()
        self._asked = threading.Event()

    def unix_s(self, stamp: float) -> float:
        """The time, once released."""
        self._asked.set()
        self._released.wait(30.0)
        return super().unix_s(stamp)

    def wait_until_held(self) -> None:
        """Return when the worker stands still."""
        assert self._asked.wait(10.0)

    def release(self) -> None:
        """Let the worker go on."""
        self._released.set()

    def hold(self) -> None:
        """Hold the worker again, at the next row that it takes."""
        self._asked.clear()
        self._released.clear()
