"""Recorders in trouble, in a process of their own because the host's log is told once a minute."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S, AwakeClock, until
from tests.record.hold import HeldClock

TROUBLE_S = 0.7
"""Long enough that a recorder tries to write several times."""


class Collector(logging.Handler):
    """What the host's log is told, and by which thread; it may do something of its own then."""

    def __init__(self, act: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self._act = act
        self._answered = threading.Event()
        self.told: list[tuple[str, str, str]] = []
        self.answers: list[object] = []
        logging.getLogger().addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append((record.name, record.levelname, threading.current_thread().name))
        self.answers.append(None)
        try:
            self.answers[-1] = self._act()
        finally:
            self._answered.set()

    def wait(self) -> None:
        """Return once something was told; the answer may still be on its way."""
        until(lambda: self.told)

    def wait_for_the_answer(self) -> None:
        """Return once something was told and answered."""
        assert self._answered.wait(SOON_S)


def emit_in_trouble(*traces: RolloutTrace) -> None:
    """Emit more than a small queue holds, for a while, and until each recorder has met the trouble."""
    end = time.monotonic() + TROUBLE_S
    while time.monotonic() < end or any(trace.stats().last_error is None for trace in traces):
        for _ in range(100):
            for trace in traces:
                trace.emit("mine")
        time.sleep(0.01)


def obstacle(folder: str) -> Path:
    """A file where a trace's folder should be."""
    path = Path(folder) / "obstacle"
    path.write_bytes(b"")
    return path


def from_trouble_to_close(folder: str) -> None:
    """A place that cannot be written, an overflow, and a close that gives up."""
    collector = Collector()
    trace = RolloutTrace(obstacle(folder) / "trace.jsonl", queue_rows=50)
    emit_in_trouble(trace)
    print(json.dumps({"closed": trace.close(), "told": collector.told}))


def trouble_that_comes_and_goes(folder: str) -> None:
    """A recorder that fails, recovers and fails again."""
    collector = Collector()
    place = Path(folder) / "place"
    trace = RolloutTrace(place / "trace.jsonl", queue_rows=50)
    for _ in range(3):
        trace.flush(SOON_S)
        (place / "trace.jsonl").unlink()
        place.rmdir()
        place.write_bytes(b"")
        emit_in_trouble(trace)
        place.unlink()
    print(json.dumps({"closed": trace.close(), "told": collector.told}))


def overflow(folder: str) -> None:
    """A queue that overflows although the file is well."""
    collector = Collector()
    trace = RolloutTrace(Path(folder) / "trace.jsonl", queue_rows=1)
    for _ in range(20_000):
        trace.emit("mine")
    print(json.dumps({"closed": trace.close(), "told": collector.told}))


def several_recorders(folder: str) -> None:
    """Four recorders in the same trouble."""
    collector = Collector()
    place = obstacle(folder)
    traces = [RolloutTrace(place / f"{n}.jsonl") for n in range(4)]
    emit_in_trouble(*traces)
    place.unlink()
    closed = [trace.close() for trace in traces]
    print(json.dumps({"closed": all(closed), "told": collector.told}))


def no_trouble(folder: str) -> None:
    """A recorder that works."""
    collector = Collector()
    trace = RolloutTrace(Path(folder) / "trace.jsonl")
    for n in range(10_000):
        trace.emit("mine", n=n)
    print(json.dumps({"closed": trace.close(), "told": collector.told}))


def stuck_handler(folder: str) -> None:
    """A log handler that does not return while events are emitted."""
    release = threading.Event()
    collector = Collector(lambda: release.wait(SOON_S))
    place = obstacle(folder)
    trace = RolloutTrace(place / "trace.jsonl", queue_rows=100)
    collector.wait()
    awake = AwakeClock()
    begun = awake()
    for _ in range(10_000):
        trace.emit("mine")
    seconds = awake() - begun
    release.set()
    place.unlink()
    print(json.dumps({"closed": trace.close(), "told": collector.told, "seconds": seconds}))


def handler_that_acts(folder: str, what: str) -> None:
    """A log handler that uses the recorder, or fails."""

    def fail() -> None:
        raise RuntimeError("the log server is down")

    def flush() -> bool:
        return trace.flush()

    def close() -> None:
        trace.close("trouble")

    acts: dict[str, Callable[[], object]] = {
        "emits": lambda: trace.emit("warned"),
        "flushes": flush,
        "closes": close,
        "fails": fail,
    }
    collector = Collector(acts[what])
    place = obstacle(folder)
    clock = HeldClock()
    trace = RolloutTrace(place / "trace.jsonl", clock=lambda: clock)
    for n in range(200):
        trace.emit("mine", n=n)
    clock.release()
    collector.wait_for_the_answer()
    place.unlink()
    print(json.dumps({"closed": trace.close(), "told": collector.told, "answers": collector.answers}))


def bad_place(_: str, path: str) -> None:
    """A path where no file can be; ``NUL`` stands for the character."""
    collector = Collector()
    trace = RolloutTrace(path.replace("NUL", "\0"))
    for n in range(1000):
        trace.emit("mine", n=n)
    flushed = trace.flush(0.1)
    awake = AwakeClock()
    begun = awake()
    closed = trace.close()
    stats = {"written": trace.stats().written, "flushed": flushed, "seconds": awake() - begun}
    print(json.dumps({"closed": closed, "told": collector.told} | stats))
