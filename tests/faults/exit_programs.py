"""Processes that end in different ways, none of which closes its recorder."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from tests.pace import SOON_S, until


def leave(path: str, how: str) -> None:
    """Emit, and end."""
    from rtrace_otel.record.trace import RolloutTrace

    trace = RolloutTrace(path)
    trace.emit("mine", n=0)
    trace.emit("mine", n=1)
    if how in SUDDEN:
        until(lambda: trace.stats().written == 3)  # they get there by themselves
    ENDS[how]()


def fail() -> NoReturn:
    """End with an exception."""
    raise LookupError("nobody catches this")


def fail_in_a_thread() -> None:
    """End well, after a thread has failed."""
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def kill(number: int) -> None:
    """Be killed by a signal."""
    os.kill(os.getpid(), number)
    time.sleep(SOON_S)


def exit_on_sigterm() -> None:
    """Be told to end, and end by the host's own handler."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
    kill(signal.SIGTERM)


def leave_at_once() -> None:
    """End without the interpreter's own end."""
    os._exit(5)


ENDS: dict[str, Callable[[], None]] = {
    "return": lambda: None,
    "sys.exit": lambda: sys.exit(3),
    "exception": fail,
    "exception in a thread": fail_in_a_thread,
    "os._exit": leave_at_once,
    "SIGTERM": lambda: kill(signal.SIGTERM),
    "SIGTERM with a handler": exit_on_sigterm,
    "SIGINT": lambda: kill(signal.SIGINT),
    "SIGKILL": lambda: kill(signal.SIGKILL),
    "abort": lambda: kill(signal.SIGABRT),
}

SUDDEN = {"os._exit", "SIGTERM", "SIGKILL", "abort"}
"""Ends at which nobody writes what is queued."""


def leave_a_backlog(path: str, rows: str) -> None:
    """End with a large backlog."""
    from rtrace_otel.record.trace import RolloutTrace

    trace = RolloutTrace(path)
    for n in range(int(rows)):
        trace.emit("mine", n=n)


def leave_many_recorders(folder: str, count: str) -> None:
    """End with many open recorders."""
    from rtrace_otel.record.trace import RolloutTrace

    for n in range(int(count)):
        RolloutTrace(f"{folder}/{n}.jsonl").emit("mine", n=n)


def emit_at_exit(path: str) -> None:
    """Host callbacks at exit emit: one registered before the recorder's module came, one after, one by a thread."""
    traces: list[Any] = []
    atexit.register(lambda: traces[0].emit("registered before"))
    from rtrace_otel.record.trace import RolloutTrace

    trace = RolloutTrace(path)
    traces.append(trace)
    atexit.register(trace.emit, "registered after")

    def outlive() -> None:
        threading.main_thread().join()
        trace.emit("thread that outlives main")

    threading.Thread(target=outlive).start()
    trace.emit("mine")


class EmitsWhenCollected:
    """Lives until the interpreter takes its modules apart."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit

    def __del__(self) -> None:
        self._emit("collected at the end")


def emit_when_collected(path: str) -> None:
    """A module's last object emits when it is taken apart, after everything was closed."""
    from rtrace_otel.record.trace import RolloutTrace

    trace = RolloutTrace(path)
    trace.emit("mine")
    sys.modules["last"] = EmitsWhenCollected(trace.emit)  # type: ignore[assignment]


def emit_for_ever(path: str) -> None:
    """Daemon threads emit while the process ends."""
    from rtrace_otel.record.trace import RolloutTrace

    trace = RolloutTrace(path)

    def emit() -> None:
        n = 0
        while True:
            trace.emit("mine", n=n)
            n += 1
            if n % 20 == 0:
                time.sleep(0.0005)

    for _ in range(3):
        threading.Thread(target=emit, daemon=True).start()
    time.sleep(0.1)


def leave_signals_alone(path: str) -> None:
    """Say whether any handler of a signal, or of an exception, is not as it was before the recorder came."""
    numbers = [number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]
    before = [signal.getsignal(number) for number in numbers], sys.excepthook, threading.excepthook
    from rtrace_otel.record.trace import RolloutTrace

    with RolloutTrace(path) as trace:
        trace.emit("mine")
        after = [signal.getsignal(number) for number in numbers], sys.excepthook, threading.excepthook
    sys.exit(before != after)
