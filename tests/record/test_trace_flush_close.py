"""``flush`` and ``close``: what they wait for, what they promise, and what they answer."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from rtrace_otel.record.clock import now
from rtrace_otel.record.queue import FlushMark
from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S
from tests.record.hold import HeldClock
from tests.record.written import all_rows, event_rows


def test_flush_makes_rows_readable(file: Path, trace: RolloutTrace) -> None:
    """After ``flush`` every event before it is in the file, a large backlog included."""
    for n in range(30_000):
        trace.emit("mine", n=n)

    assert trace.flush()
    assert list(range(30_000)) == [row["n"] for row in event_rows(file)]


def test_flush_without_events(file: Path, trace: RolloutTrace) -> None:
    """A flush with nothing to wait for succeeds, also many times over."""
    assert [True] * 5 == [trace.flush(SOON_S) for _ in range(5)]
    assert 1 == len(all_rows(file))


def test_flush_wakes_a_recorder_that_sleeps(trace: RolloutTrace) -> None:
    """A flush after a quiet spell does not wait for the next event."""
    trace.flush()
    time.sleep(0.3)

    assert trace.flush(SOON_S)


@pytest.mark.parametrize("timeout_s", [0.0, 0.05, -1.0])
def test_flush_gives_up_after_its_timeout(file: Path, timeout_s: float) -> None:
    """While the worker hangs, ``flush`` returns False after its timeout, and True once it goes on."""
    clock = HeldClock()
    with RolloutTrace(file, clock=lambda: clock) as trace:
        trace.emit("mine")
        begun = time.monotonic()
        assert not trace.flush(timeout_s)
        assert SOON_S > time.monotonic() - begun >= timeout_s
        clock.release()
        assert trace.flush(SOON_S)
        assert 1 == len(event_rows(file))


def test_flush_by_many_threads(file: Path, trace: RolloutTrace) -> None:
    """Each of eight threads finds its own events in the file after its own flush."""
    answers: list[bool] = []

    def emit_and_flush(name: int) -> None:
        for n in range(20):
            trace.emit("mine", thread=name, n=n)
            flushed = trace.flush(SOON_S)
            seen = f'"thread":{name},"n":{n}}}'.encode() in file.read_bytes()
            answers.append(flushed and seen)

    threads = [threading.Thread(target=emit_and_flush, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [True] * 160 == answers


def test_close_writes_a_large_backlog(file: Path) -> None:
    """Close writes what is queued, however much, and then the end."""
    trace = RolloutTrace(file)
    for n in range(50_000):
        trace.attempt_sealed("a", n)

    assert trace.close()
    rows = all_rows(file)
    assert list(range(50_000)) == [row["tokens"] for row in rows[1:-1]]
    assert "run_ended" == rows[-1]["event"]


@pytest.mark.parametrize("quiet_s", [0.0, 0.1])
def test_close_does_not_wait_for_the_interval(file: Path, quiet_s: float) -> None:
    """With a long interval between looks at the queue, ``close`` still writes everything."""
    trace = RolloutTrace(file, interval_s=30.0)
    time.sleep(quiet_s)  # so that the worker is, or is not, between two looks
    trace.emit("mine")

    assert trace.close()
    assert ["run_started", "mine", "run_ended"] == [row["event"] for row in all_rows(file)]


def test_close_by_many_threads(file: Path) -> None:
    """Eight threads close at once: all succeed, and there is one end."""
    trace = RolloutTrace(file)
    for n in range(5000):
        trace.emit("mine", n=n)
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(trace.close())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [True] * 8 == answers
    assert 5002 == len(all_rows(file))


@pytest.mark.parametrize("attempt", range(8))
def test_emit_while_another_thread_closes(file: Path, attempt: int) -> None:
    """Every event is either in the file or counted as refused: none disappears at the moment of closing."""
    trace = RolloutTrace(file)
    emitted = [0] * 4
    begun, stop = threading.Barrier(5), threading.Event()

    def emit(name: int) -> None:
        begun.wait()
        while not stop.is_set():
            trace.emit("mine")
            emitted[name] += 1
            if emitted[name] % 20 == 0:
                time.sleep(0.0001)  # else the threads leave the worker no time

    threads = [threading.Thread(target=emit, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    time.sleep(0.002 * attempt)
    assert trace.close()
    stop.set()
    for thread in threads:
        thread.join()

    written = len(event_rows(file))
    stats = trace.stats()
    assert sum(emitted) - written == stats.refused + stats.queued
    assert written + 2 == stats.written


def test_flush_while_another_thread_closes(file: Path) -> None:
    """A flush that meets a close ends, and tells the truth."""
    trace = RolloutTrace(file)
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(trace.flush(SOON_S))) for _ in range(8)]
    for n in range(2000):
        trace.emit("mine", n=n)
    for thread in threads:
        thread.start()
    assert trace.close()
    for thread in threads:
        thread.join()

    assert [True] * 8 == answers


@pytest.mark.parametrize(("row", "flushed"), [(False, True), (True, False)])
def test_flush_that_comes_too_late_for_the_worker(file: Path, row: bool, flushed: bool) -> None:
    """A mark that the writer never saw stands for no row; a row that it never saw does."""
    trace = RolloutTrace(file)
    trace.emit("mine")
    assert trace.close()
    trace._queue.append((FlushMark(), now()))
    if row:
        trace._queue.append(({}, now(), "late"))

    assert flushed == trace.flush(SOON_S)


def test_stats_of_a_run(file: Path) -> None:
    """The counts follow rows from the queue to the file; those of the recorder itself count as written."""
    clock = HeldClock()
    trace = RolloutTrace(file, clock=lambda: clock)
    for _ in range(10):
        trace.emit("mine")
    clock.wait_until_held()
    held = trace.stats()
    clock.release()
    trace.flush()
    flushed = trace.stats()
    trace.close()
    closed = trace.stats()

    assert (0, 10, 0, 0, None) == (held.written, held.queued, held.lost, held.refused, held.last_error)
    assert (11, 0, 0, 0, None) == (flushed.written, flushed.queued, flushed.lost, flushed.refused, flushed.last_error)
    assert (12, 0, 0, 0, None) == (closed.written, closed.queued, closed.lost, closed.refused, closed.last_error)
