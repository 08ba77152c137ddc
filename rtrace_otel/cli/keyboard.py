"""Keys and signals of a full-screen program, and the terminal as it was when it ends."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


class Keyboard:
    """Waits for keys and signals.

    Attributes:
        suspended: Whether Ctrl-Z was pressed.
    """

    def __init__(self, wake: int, keys: int | None) -> None:
        """Wait on these descriptors.

        Args:
            wake: Gets a byte for each signal.
            keys: Standard input, if that is a terminal.
        """
        self._wake = wake
        self._keys = keys
        self.suspended = False

    def wait(self, timeout: float) -> str:
        """Wait until a key is pressed, a signal comes or the time is over.

        Returns:
            The keys pressed; ``q`` if the terminal is gone; nothing for a signal or at the end of the time.
        """
        wanted = [self._wake] if self._keys is None else [self._wake, self._keys]
        ready, _, _ = select.select(wanted, [], [], timeout)
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._keys is None or self._keys not in ready:
            return ""
        try:
            return os.read(self._keys, 4096).decode("ascii", "replace") or "q"
        except OSError:
            return "q"


@contextmanager
def keyboard() -> Iterator[Keyboard]:
    """Keys as they are pressed, without echo; signals end the block or wake who waits, and all is undone at its end."""
    keys = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    found = Keyboard(ours, keys)

    def suspend(_number: int, _frame: FrameType | None) -> None:
        found.suspended = True

    before = {number: signal.signal(number, _end) for number in _ENDING}
    before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, suspend)
    before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda _number, _frame: None)
    wakeup = signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)
    mode = None if keys is None else termios.tcgetattr(keys)
    try:
        if keys is not None:
            tty.setcbreak(keys)
        yield found
    finally:
        if keys is not None and mode is not None:
            with suppress(termios.error):  # the terminal is gone
                termios.tcsetattr(keys, termios.TCSAFLUSH, mode)
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.close(ours)
        os.close(theirs)


def _end(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
