"""Recorders on a disk that is full; ``RLIMIT_FSIZE`` is a disk that any user can fill."""

from __future__ import annotations

import json
import resource
import signal
import time

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S, AwakeClock, until

UNLIMITED = resource.getrlimit(resource.RLIMIT_FSIZE)[1]


def limit(size: int) -> None:
    """No file of this process may grow beyond a size; a write beyond it fails, in part or whole."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, UNLIMITED))


def wait_for_trouble(trace: RolloutTrace) -> None:
    """Return once the recorder has met the limit."""
    until(lambda: trace.stats().last_error is not None)


def fill_then_free(path: str, *sizes: str) -> None:
    """Emit while the disk is full; each time it is, emit more, then make room."""
    trace = RolloutTrace(path, run="r")
    n = 0
    for size in sizes:
        limit(int(size))
        for _ in range(1000):
            trace.emit("mine", n=(n := n + 1))
        flushed = trace.flush(0.3)
        for _ in range(10):
            trace.emit("mine", n=(n := n + 1))
    limit(UNLIMITED)
    answer = {"flushed_when_full": flushed, "flushed": trace.flush(SOON_S), "closed": trace.close(), "emitted": n}
    print(json.dumps(answer | {"lost": trace.stats().lost, "error": trace.stats().last_error}))


def emit_next(trace: RolloutTrace, n: int) -> int:
    """Emit a numbered row; the number of the next one."""
    trace.emit("mine", n=n)
    return n + 1


def overflow(path: str, size: str) -> None:
    """Fill the disk, then the queue, then make room."""
    trace = RolloutTrace(path, run="r", queue_rows=100)
    limit(int(size))
    n = 0
    while n < 500:  # more than the disk holds, so that the queue overflows only once the disk is full
        n = emit_next(trace, n)
        until(lambda: trace.stats().queued < 50 or trace.stats().last_error is not None)
    while n < 5000:
        n = emit_next(trace, n)
    stats = trace.stats()
    limit(UNLIMITED)
    flushed = trace.flush(SOON_S)
    trace.emit("mine", n=5000)
    print(json.dumps({"flushed": flushed, "closed": trace.close(), "lost": stats.lost}))


def close_when_full(path: str, size: str) -> None:
    """Close while the disk is full."""
    limit(int(size))
    trace = RolloutTrace(path, run="r")
    for n in range(1000):
        trace.emit("mine", n=n)
    wait_for_trouble(trace)
    awake = AwakeClock()
    begun = awake()
    closed = trace.close()
    print(json.dumps({"closed": closed, "seconds": awake() - begun, "lost": trace.stats().lost}))


def exit_when_full(path: str, size: str) -> None:
    """End the process while the disk is full."""
    limit(int(size))
    trace = RolloutTrace(path, run="r")
    for n in range(1000):
        trace.emit("mine", n=n)
    wait_for_trouble(trace)
    print(json.dumps({"left": time.monotonic()}), flush=True)


def two_recorders(path: str, size: str) -> None:
    """Two recorders of one file meet a full disk at the same time."""
    limit(int(size))
    traces = [RolloutTrace(path, run=run) for run in ("r", "s")]
    for n in range(2000):
        for trace in traces:
            trace.emit("mine", n=n)
    for trace in traces:
        wait_for_trouble(trace)
    limit(UNLIMITED)
    print(json.dumps({"closed": [trace.close() for trace in traces]}))
