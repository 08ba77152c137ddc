"""The installed program on a terminal of a given width."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cli.program import LIMIT_S, RTRACE, Result, environment


@dataclass(frozen=True)
class Terminal:
    """A terminal: the end that a program gets, the keyboard, and what has been drawn so far."""

    tty: int
    keyboard: int
    drawn: list[bytes]


@contextmanager
def terminal(columns: int, lines: int = 50) -> Iterator[Terminal]:
    """A terminal whose screen is read all the time; what was drawn is complete when the block is left."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    drawn: list[bytes] = []

    def read() -> None:
        try:
            while data := os.read(ours, 65536):
                drawn.append(data)
        except OSError:
            return

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield Terminal(theirs, ours, drawn)
    finally:
        os.close(theirs)
        reader.join(LIMIT_S)
        os.close(ours)


def on_terminal(
    *arguments: str | Path,
    columns: int = 100,
    streams: str = "in out err",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> Result:
    """Run ``rtrace`` with these of its streams on a terminal and the others in pipes.

    What is drawn counts as output, unless only errors go to the terminal; line ends are the program's.
    """
    with terminal(columns) as screen:
        tty = screen.tty
        process = subprocess.Popen(
            [RTRACE, *arguments],
            stdin=tty if "in" in streams.split() else subprocess.DEVNULL,
            stdout=tty if "out" in streams.split() else subprocess.PIPE,
            stderr=tty if "err" in streams.split() else subprocess.PIPE,
            cwd=cwd,
            env=environment(**env or {}),
            start_new_session=True,
        )
        out, err = process.communicate(timeout=LIMIT_S)
    shown = b"".join(screen.drawn).replace(b"\r\n", b"\n")
    if out is None:
        out, err = shown, err or b""
    elif err is None:
        err = shown
    return Result(process.returncode, out.decode(), err.decode())
