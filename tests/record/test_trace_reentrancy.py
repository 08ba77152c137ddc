"""Events that come from within the recorder's own calls: signal handlers and finalizers."""

from __future__ import annotations

import gc
import itertools
import signal
from pathlib import Path

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S
from tests.record.written import all_rows


def numbered(rows: list[dict[str, object]]) -> bool:
    """Whether the rows are numbered from 0 without a gap."""
    return list(range(len(rows))) == [row["seq"] for row in rows]


def test_emit_in_a_signal_handler(file: Path) -> None:
    """A handler that emits in the middle of another emit neither blocks nor costs a row."""
    trace = RolloutTrace(file)
    numbers = itertools.count()  # its step is atomic: a handler may be interrupted by the next signal

    def on_alarm(*_: object) -> None:
        number = next(numbers)
        trace.emit("signal", n=number)
        trace.attempt_sealed("signal", number)

    before = signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    try:
        for n in range(40_000):
            trace.emit("mine", n=n, items=[n])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert trace.close()

    rows = all_rows(file)
    signals = list(range(next(numbers)))
    assert (True, list(range(40_000))) == (numbered(rows), [row["n"] for row in rows if row["event"] == "mine"])
    assert signals == sorted(row["n"] for row in rows if row["event"] == "signal")
    assert signals == sorted(row["tokens"] for row in rows if row["event"] == "attempt_sealed")
    assert signals


def test_emit_in_a_finalizer(file: Path) -> None:
    """Objects that emit when they are collected, in the middle of an emit, cost no row."""
    trace = RolloutTrace(file)
    made = 20_000

    class Rollout:
        def __init__(self) -> None:
            self.me = self  # a cycle, so that the collector finds it at a moment of its own

        def __del__(self) -> None:
            trace.emit("collected")
            trace.attempt_abandoned("a", "collected")

    before = gc.get_threshold()
    gc.set_threshold(50)
    try:
        for n in range(made):
            Rollout()
            trace.emit("mine", n=n, items=[n])
        gc.collect()
    finally:
        gc.set_threshold(*before)
    assert trace.close()

    rows = all_rows(file)
    counts = {name: sum(row["event"] == name for row in rows) for name in ("mine", "collected", "attempt_abandoned")}
    assert (True, dict.fromkeys(counts, made)) == (numbered(rows), counts)


def test_emit_in_a_finalizer_on_the_worker(file: Path) -> None:
    """A value whose last reference is the queue's emits from the worker's own thread when it is written."""
    trace = RolloutTrace(file)

    class Value:
        def __del__(self) -> None:
            trace.emit("collected")

    for _ in range(500):
        trace.emit("mine", value=Value())
    assert trace.flush(SOON_S)
    assert trace.flush(SOON_S)
    trace.close()

    assert 500 == sum(row["event"] == "collected" for row in all_rows(file))
