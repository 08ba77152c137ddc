"""Runs a function of a module of this folder as a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.pace import SOON_S

ROOT = Path(__file__).resolve().parents[2]
END_S = 3.0
"""Most that a machine needs to end an interpreter, once it is let; a limit on the end of a process has it on top."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended.

    Attributes:
        code: Its exit status; negative for a signal.
        out: What it printed.
        err: What it printed as errors.
        ended: When, by the machine's monotonic clock.
    """

    code: int
    out: str
    err: str
    ended: float


def command(program: Callable[..., None], *args: object) -> list[str]:
    """The command line that calls a function with its arguments as text."""
    # A shell that starts the tests in the background has SIGINT ignored, which processes inherit.
    interruptible = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    call = f"from {program.__module__} import {program.__name__} as program; program(*sys.argv[1:])"
    code = f"{interruptible}; {call}"
    return [sys.executable, "-c", code, *map(str, args)]


def run(program: Callable[..., None], *args: object, timeout_s: float = SOON_S) -> Finished:
    """Run a program to its end; it is killed, and the test fails, if that takes too long."""
    with started(program, *args) as process:
        out, err = process.communicate(timeout=timeout_s)
    return Finished(process.returncode, out, err, time.monotonic())


@contextmanager
def started(program: Callable[..., None], *args: object) -> Iterator[subprocess.Popen[str]]:
    """A running program, killed at the end of the block if it still runs."""
    process = subprocess.Popen(
        command(program, *args),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )
    try:
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
    finally:
        process.wait()
