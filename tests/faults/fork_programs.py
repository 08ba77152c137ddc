"""Processes that fork while they record."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S, until
from tests.record.hold import HeldClock


def fork(act: Callable[[], None]) -> int:
    """Do something in a child that ends at once, without the interpreter's own end; the child's status."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(int(SOON_S))  # a child that hangs dies of it, and its status says so
        try:
            act()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Emitters:
    """Threads that emit numbered rows for as long as the block lasts."""

    def __init__(self, trace: RolloutTrace, threads: int) -> None:
        self._trace = trace
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._emit, args=(name,)) for name in range(threads)]
        self.emitted = [0] * threads

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _emit(self, name: int) -> None:
        while not self._stop.is_set():
            self._trace.emit("mine", thread=name, n=self.emitted[name])
            self.emitted[name] += 1
            if self.emitted[name] % 10 == 0:
                time.sleep(0.0005)


def quick_forks(path: str, count: str, child: str) -> None:
    """Fork again and again while threads emit; ``child`` is what each child does."""
    trace = RolloutTrace(path, run="parent")

    def emit() -> None:
        for n in range(3):
            trace.emit("mine", n=n)
        assert trace.close()

    def nothing() -> None:
        assert trace.flush(SOON_S)
        assert trace.close()

    acts = {"emits": emit, "closes": nothing, "does nothing": lambda: None}
    with Emitters(trace, 2) as emitters:
        statuses = [fork(acts[child]) for _ in range(int(count))]
    print(json.dumps({"statuses": statuses, "closed": trace.close(), "emitted": emitters.emitted}))


def fork_with_rows_in_the_queue(path: str) -> None:
    """Fork while rows of the parent wait, have the child emit and close, and only then write the parent's."""
    clock = HeldClock()
    clocks = iter([clock])
    trace = RolloutTrace(path, run="parent", clock=lambda: next(clocks, None) or released())
    for n in range(1000):
        trace.emit("mine", n=n)
    clock.wait_until_held()

    def act() -> None:
        stats = trace.stats()
        assert (0, 0, 0) == (stats.written, stats.queued, stats.lost)
        trace.emit("child", n=0)
        assert trace.close()

    status = fork(act)
    clock.release()
    print(json.dumps({"status": status, "closed": trace.close(), "run": trace.run}))


def released() -> HeldClock:
    """A clock that holds nobody."""
    clock = HeldClock()
    clock.release()
    return clock


def fork_while_writing(path: str) -> None:
    """Fork while the worker is in the middle of a large backlog; the child adds rows of its own."""
    trace = RolloutTrace(path, run="parent")
    for n in range(60_000):
        trace.emit("mine", n=n)

    def emit_in_child() -> None:
        trace.emit("child")
        assert trace.close()

    statuses = []
    for _ in range(5):
        statuses.append(fork(emit_in_child))
        time.sleep(0.005)
    print(json.dumps({"statuses": statuses, "closed": trace.close()}))


def fork_of_a_fork(path: str, middle: str) -> None:
    """A grandchild emits; ``middle`` says whether the child between does."""
    trace = RolloutTrace(path, run="parent")
    trace.emit("mine")
    trace.flush(SOON_S)

    def grandchild() -> None:
        trace.emit("grandchild")
        assert trace.close()

    def child() -> None:
        if middle == "emits":
            trace.emit("child")
            trace.flush(SOON_S)
        status = fork(grandchild)
        assert trace.close()
        os._exit(status)

    print(json.dumps({"status": fork(child), "closed": trace.close()}))


def fork_after_close(path: str) -> None:
    """A child of a process whose recorder was closed emits."""
    trace = RolloutTrace(path, run="parent")
    trace.close()
    size = Path(path).stat().st_size

    def act() -> None:
        trace.emit("child")
        assert trace.close()
        assert not trace.enabled

    print(json.dumps({"status": fork(act), "same": Path(path).stat().st_size == size}))


def fork_from_a_thread(path: str) -> None:
    """A thread other than the main one forks."""
    trace = RolloutTrace(path, run="parent")
    trace.emit("mine")
    statuses: list[int] = []

    def emit_in_child() -> None:
        trace.emit("child")
        assert trace.close()

    thread = threading.Thread(target=lambda: statuses.append(fork(emit_in_child)))
    thread.start()
    thread.join()
    print(json.dumps({"statuses": statuses, "closed": trace.close()}))


def child_ends_normally(path: str, end: str) -> None:
    """A child emits and ends without a close of its own."""
    trace = RolloutTrace(path, run="parent", service="job")
    trace.emit("mine")
    trace.flush(SOON_S)
    pid = os.fork()
    if pid == 0:
        trace.emit("child")
        if end == "os._exit":
            until(lambda: trace.stats().written == 2)  # it gets there by itself
            os._exit(0)
        if end == "exception":
            raise LookupError("child")
        sys.exit(0)
    os.waitpid(pid, 0)
    trace.emit("mine")
    trace.close()


def many_recorders(path: str) -> None:
    """A process with several recorders and none forks."""
    folder = Path(path)
    traces = [RolloutTrace(folder / f"{n}.jsonl", run=str(n)) for n in range(5)] + [RolloutTrace(None)]

    def act() -> None:
        for trace in traces:
            trace.emit("child")
            assert trace.close()

    print(json.dumps({"status": fork(act), "closed": [trace.close() for trace in traces]}))
