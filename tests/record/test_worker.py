"""The thread that writes: one, named, asleep while nothing happens, and robust against faults of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S, until
from tests.record.disk import FaultyDisk
from tests.record.written import all_rows, event_rows


@pytest.fixture
def workers() -> Callable[[], list[threading.Thread]]:
    """Tells which threads came since the test began."""
    before = threading.enumerate()
    return lambda: [thread for thread in threading.enumerate() if thread not in before]


def switches(thread: threading.Thread) -> int:
    """How often a thread has gone to sleep so far."""
    status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("voluntary_ctxt_switches"))


def is_asleep(thread: threading.Thread) -> bool:
    """Whether a thread does nothing at all for a second: one that polls does so a hundred times, if it is let."""
    before = switches(thread)
    for _ in range(4):
        time.sleep(0.25)
        if before != switches(thread):
            return False
    return True


def test_one_named_daemon_thread(file: Path, workers: Callable[[], list[threading.Thread]]) -> None:
    """A recorder has one thread, known by its name, which does not keep the process alive, and ends with it."""
    trace = RolloutTrace(file)
    for n in range(100):
        trace.emit("mine", n=n)
    during = [(thread.daemon, thread.name) for thread in workers()]
    trace.close()

    assert ([(True, "rtrace-writer")], []) == (during, workers())


def test_sleeps_while_nothing_happens(file: Path, workers: Callable[[], list[threading.Thread]]) -> None:
    """An idle recorder does not wake up at all, neither before the first event nor after the last."""
    with RolloutTrace(file) as trace:
        (worker,) = workers()
        for _ in range(2):
            trace.flush()
            until(lambda: is_asleep(worker))
            trace.emit("mine")


def test_no_thread_to_be_had_at_first(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that is out of threads costs no row: they wait, and a later event tries again."""

    def refuse(_: threading.Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        trace = RolloutTrace(file)
        for n in range(3):
            trace.emit("mine", n=n)
    trace.emit("mine", n=3)

    assert trace.close()
    assert ["run_started", 0, 1, 2, 3, "run_ended"] == [row.get("n", row["event"]) for row in all_rows(file)]


def test_no_thread_to_be_had_until_close(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither ``flush`` nor ``close`` says that rows are written that are not."""

    def refuse(_: threading.Thread) -> NoReturn:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    trace = RolloutTrace(file)
    trace.emit("mine")

    assert (False, False, False) == (trace.flush(0.1), trace.close(), file.exists())


def test_fault_of_the_encoder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When memory runs out for one chunk, its rows are counted exactly, and the others are written."""
    disk = FaultyDisk(file, monkeypatch)
    faults = 0

    def fail_once(fd: int, data: bytes) -> int:
        nonlocal faults
        if b'"mine"' in data and not faults:
            faults = data.count(b"\n")
            raise MemoryError
        return disk.real_write(fd, data)

    disk.on_write = fail_once
    with RolloutTrace(file) as trace:
        for n in range(1000):
            trace.emit("mine", n=n)

    rows = all_rows(file)
    lost = sum(row["lost"] for row in rows if row["event"] == "trace_gap")
    assert faults > 0
    assert 1000 == lost + len([row for row in rows if row["event"] == "mine"])


def test_flush_that_meets_a_fault_returns(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flush whose chunk failed does not wait for ever."""
    disk = FaultyDisk(file, monkeypatch)

    def fail(fd: int, data: bytes) -> int:
        if b'"mine"' in data:
            raise MemoryError
        return disk.real_write(fd, data)

    disk.on_write = fail
    with RolloutTrace(file) as trace:
        returned = threading.Event()

        def flush() -> None:
            trace.emit("mine")
            trace.flush()
            returned.set()

        threading.Thread(target=flush, daemon=True).start()
        assert returned.wait(SOON_S)
        disk.on_write = disk.real_write


def test_fault_at_the_first_row(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault while the run's start is written does not end the recording."""
    disk = FaultyDisk(file, monkeypatch)

    def fail_once(_fd: int, _data: bytes) -> NoReturn:
        disk.on_write = disk.real_write
        raise MemoryError

    disk.on_write = fail_once
    with RolloutTrace(file) as trace:
        trace.emit("mine")
        assert trace.flush(SOON_S)

    assert 1 == len([row for row in event_rows(file) if row["event"] == "mine"])
