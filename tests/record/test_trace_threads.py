"""Many threads, many recorders, one file."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S
from tests.record.written import all_rows, event_rows

THREADS = 8
ROWS = 4000


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads that are switched as often as the interpreter can, so that races come to light."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(act: Callable[[int], None]) -> None:
    """Run it in eight threads that start at once."""
    barrier = threading.Barrier(THREADS)

    def run(name: int) -> None:
        barrier.wait()
        act(name)

    threads = [threading.Thread(target=run, args=(name,)) for name in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.usefixtures("restless")
def test_emit_and_typed_methods_from_eight_threads(file: Path) -> None:
    """No row is lost or doubled, numbers have no gap, and each thread's rows stand in its own order."""
    with RolloutTrace(file) as trace:

        def act(name: int) -> None:
            for n in range(ROWS // 2):
                trace.emit("mine", attempt_id=name, tokens=2 * n)
                trace.attempt_sealed(name, 2 * n + 1)

        together(act)

    rows = all_rows(file)
    assert list(range(THREADS * ROWS + 2)) == [row["seq"] for row in rows]
    assert {str(name): list(range(ROWS)) for name in range(THREADS)} == {
        str(name): [row["tokens"] for row in rows if row.get("attempt_id") == str(name)] for name in range(THREADS)
    }


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("attempt", range(20))
def test_first_events_come_at_once(file: Path, attempt: int) -> None:
    """Threads that all emit the recorder's first event start one worker and lose nothing."""
    with RolloutTrace(file) as trace:
        together(lambda name: trace.emit("mine", name=name, attempt=attempt))

    assert set(range(THREADS)) == {row["name"] for row in event_rows(file)}


@pytest.mark.usefixtures("restless")
def test_two_recorders_of_one_file(file: Path) -> None:
    """Recorders that append to the same file at once do not tear or lose each other's rows."""
    traces = [RolloutTrace(file) for _ in range(THREADS)]

    def act(name: int) -> None:
        for n in range(ROWS // 4):
            traces[name].emit("mine", n=n, filler="x" * (n % 500))
        assert traces[name].close()

    together(act)

    rows = all_rows(file)
    assert {trace.run: list(range(ROWS // 4 + 2)) for trace in traces} == {
        trace.run: [row["seq"] for row in rows if row["run"] == trace.run] for trace in traces
    }


def test_quiet_spells(file: Path) -> None:
    """An event is written however the worker was resting: polling, about to sleep, or asleep."""
    pauses_s = [0.0, 0.001, 0.005, 0.02, 0.09, 0.099, 0.1, 0.101, 0.105, 0.11, 0.12, 0.15]
    with RolloutTrace(file) as trace:
        waiting = threading.Event()
        for n, pause_s in enumerate(pauses_s * 2):
            waiting.wait(pause_s)
            trace.emit("mine", n=n)
            assert trace.flush(SOON_S)

    assert list(range(2 * len(pauses_s))) == [row["n"] for row in event_rows(file)]


def test_an_event_alone_is_written_without_a_flush(file: Path) -> None:
    """After a quiet spell one event wakes the worker by itself."""
    with RolloutTrace(file) as trace:
        trace.flush()
        waiting, end = threading.Event(), time.monotonic() + SOON_S
        for n in range(3):
            waiting.wait(0.3)  # longer than the worker polls
            trace.emit("mine", n=n)
            while file.read_bytes().count(b'"mine"') <= n:
                assert time.monotonic() < end, "it was not woken"
                waiting.wait(0.01)
            assert list(range(n + 1)) == [row["n"] for row in event_rows(file)]
