"""Recorders whose file system does not answer."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S, AwakeClock

EMITS = 50_000
awake = AwakeClock()
HANG_S = 600.0


def hang(*_: object) -> int:
    """Do not answer, as a call to a dead network file system does not."""
    time.sleep(HANG_S)
    return 0


def hang_in(function: str) -> None:
    """Let a call of the operating system hang from now on; ``fifo`` is a file that hangs by itself."""
    if function in ("write", "open", "fstat", "fdatasync"):
        setattr(os, function, hang)
    if function == "mkdir":
        os.mkdir = hang  # type: ignore[assignment]


def emit(trace: RolloutTrace) -> float:
    """Emit a lot; the longest time that one call took."""
    longest_s = 0.0
    for n in range(EMITS):
        begun = awake()
        trace.emit("mine", n=n)
        longest_s = max(longest_s, awake() - begun)
    return longest_s


def timed(act: Callable[[], object]) -> tuple[object, float]:
    """What a call answers, and how long it takes."""
    begun = awake()
    answer = act()
    return answer, awake() - begun


def emit_and_close(path: str, function: str) -> None:
    """Emit, flush and close while the file system hangs, and say how long each took."""
    hang_in(function)
    trace, made_s = timed(lambda: RolloutTrace(path))
    assert isinstance(trace, RolloutTrace)
    emit_s = emit(trace)
    flushed, flush_s = timed(lambda: trace.flush(0.1))
    closed, close_s = timed(trace.close)
    answer = {"flushed": flushed, "closed": closed, "left": time.monotonic()}
    print(json.dumps(answer | {"made_s": made_s, "emit_s": emit_s, "flush_s": flush_s, "close_s": close_s}), flush=True)


def emit_and_leave(path: str, function: str, recorders: str) -> None:
    """Emit while the file system hangs, and end the process without a close."""
    hang_in(function)
    traces = [RolloutTrace(path) for _ in range(int(recorders))]
    for trace in traces:
        trace.emit("mine")
    time.sleep(0.1)
    print(json.dumps({"left": time.monotonic()}), flush=True)


def hang_in_fdatasync(path: str) -> None:
    """Write well, and hang when the file is forced to the disk at the close."""
    trace = RolloutTrace(path)
    trace.emit("mine", n=0)
    trace.flush(SOON_S)
    hang_in("fdatasync")
    closed, close_s = timed(trace.close)
    print(json.dumps({"closed": closed, "close_s": close_s, "left": time.monotonic()}), flush=True)
