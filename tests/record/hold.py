"""Holds the recorder's worker at a known place, without a sleep."""

from __future__ import annotations

import threading

from rtrace_otel.record.clock import RunClock
from tests.pace import SOON_S


class HeldClock(RunClock):
    """A clock that answers only after :meth:`release`: until then the worker stands at a row."""

    def __init__(self) -> None:
        """Begin held."""
        self._released = threading.Event()
        self._asked = threading.Event()
        self._offset_s = 0.0
        super().__init__()

    @property
    def applied_offset_s(self) -> float:
        """The offset, once released: whoever makes a time of a stamp asks for it."""
        self._asked.set()
        self._released.wait(SOON_S)
        return self._offset_s

    @applied_offset_s.setter
    def applied_offset_s(self, value: float) -> None:
        self._offset_s = value

    def wait_until_held(self) -> None:
        """Return when the worker stands still."""
        assert self._asked.wait(SOON_S)

    def release(self) -> None:
        """Let the worker go on."""
        self._released.set()

    def hold(self) -> None:
        """Hold the worker again, at the next row that it takes."""
        self._asked.clear()
        self._released.clear()
