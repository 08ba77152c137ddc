"""``rtrace watch`` on a terminal of its own, with what is on its screen and a keyboard."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyte

from tests.cli.program import LIMIT_S, RTRACE, environment
from tests.cli.pseudo import Terminal, terminal

_LAUNCH: Final = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes standard input the controlling terminal, so that Ctrl-C and a new size become signals.

A test run in the background passes on that SIGINT is ignored; a shell's foreground job does not.
"""

BACK: Final = b"\x1b[?25h\x1b[?1049l"
"""The cursor is shown again, and the screen from before."""

HOME: Final = b"\x1b[H"
"""Where a new picture begins."""


class Watched:
    """A program on a terminal.

    Attributes:
        process: The program.
    """

    def __init__(
        self, tty: Terminal, process: subprocess.Popen[bytes], mode_before: list[Any], columns: int, lines: int
    ) -> None:
        """Take what has been drawn so far as nothing."""
        self.process = process
        self._tty = tty
        self._screen: Any = pyte.Screen(columns, lines)
        self._stream: Any = pyte.ByteStream(self._screen)
        self._fed = 0
        self._mode_before = mode_before

    def text(self) -> str:
        """What is on the screen now."""
        drawn = list(self._tty.drawn)
        for piece in drawn[self._fed :]:
            self._stream.feed(piece)
        self._fed = len(drawn)
        return "\n".join(line.rstrip() for line in self._screen.display)

    def drawn(self) -> bytes:
        """All that was ever drawn."""
        return b"".join(self._tty.drawn)

    def until(self, holds: Callable[[str], object], limit: float = LIMIT_S) -> str:
        """The screen, once this holds for it."""
        deadline = time.monotonic() + limit
        while not holds(text := self.text()):
            assert time.monotonic() < deadline, text
            time.sleep(0.02)
        return text

    def until_drawn(self, holds: Callable[[str], object]) -> str:
        """The same of a program that draws again and again, once a whole screen has been drawn since it held."""
        self.until(holds)
        begun = self.drawn().count(HOME)
        return self.until(lambda text: self.drawn().count(HOME) > begun + 1 and holds(text))

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._tty.keyboard, keys.encode())

    def resize(self, columns: int, lines: int) -> None:
        """Give the terminal another size."""
        self.text()
        self._screen.resize(lines, columns)
        fcntl.ioctl(self._tty.tty, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def ended(self) -> int:
        """The exit status, once the program has ended."""
        return self.process.wait(LIMIT_S)

    def restored(self) -> bool:
        """Whether the terminal is as it was: mode, cursor and screen."""
        # What it drew last may still be on its way to the reader.
        deadline = time.monotonic() + LIMIT_S
        while not (back := BACK in self.drawn()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return back and self._mode_before == termios.tcgetattr(self._tty.tty)


@contextmanager
def watched(*arguments: str | Path, columns: int = 100, lines: int = 30) -> Iterator[Watched]:
    """Run ``rtrace watch`` with a short interval; it is ended with the block if it has not ended before."""
    command = [sys.executable, "-c", _LAUNCH, RTRACE, "watch", "--interval", "0.1", *map(str, arguments)]
    with terminal(columns, lines) as tty:
        mode_before = termios.tcgetattr(tty.tty)
        process = subprocess.Popen(
            command, stdin=tty.tty, stdout=tty.tty, stderr=tty.tty, env=environment(), start_new_session=True
        )
        try:
            yield Watched(tty, process, mode_before, columns, lines)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
