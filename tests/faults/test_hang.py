"""A file system that does not answer: the job does not wait for it, neither while it runs nor at its end."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.faults import child
from tests.faults.hang_programs import emit_and_close, emit_and_leave, hang_in_fdatasync
from tests.pace import SOON_S, within
from tests.record.written import strict_row

CLOSE_S = 2.5
"""Two seconds, and what a busy machine adds; seconds in which the process ran."""

EMIT_S = 1.0
"""Longer than any scheduling delay, much shorter than a hang."""

PLACES = ["write", "open", "fstat", "mkdir", "full fifo", "fifo without reader"]


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    """A named pipe."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path, fifo: Path) -> Iterator[tuple[Path, str]]:
    """A file, and the call that hangs on it."""
    name = str(request.param)
    if name == "full fifo":
        reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)  # a reader that never reads
        yield fifo, "fifo"
        os.close(reader)
    else:
        yield (fifo if "fifo" in name else tmp_path / "new" / "trace.jsonl"), name


def run(limit_s: float, program: Callable[..., None], *args: object) -> dict[str, Any]:
    """What a program answers; it must end well, and its process may not live on for longer after it had left."""

    def measured() -> tuple[dict[str, Any], float]:
        finished = child.run(program, *args)
        assert (0, 0) == (finished.code, finished.err.count("Traceback")), finished.err
        answer: dict[str, Any] = json.loads(finished.out)
        return answer, finished.ended - answer["left"]

    return within(limit_s + child.END_S, measured)


def test_emit_and_close_go_on(place: tuple[Path, str]) -> None:
    """No call but flush and close waits, those two keep to their limits and say False, and the process ends."""
    answer = run(0.0, emit_and_close, *place)

    assert (False, False) == (answer["flushed"], answer["closed"])
    assert [] == [key for key in ("made_s", "emit_s", "flush_s") if answer[key] > EMIT_S]
    assert answer["close_s"] < CLOSE_S


@pytest.mark.parametrize("function", ["write", "open"])
def test_interpreter_exits(tmp_path: Path, function: str) -> None:
    """A process that never closes its recorder ends within the limit all the same."""
    assert run(CLOSE_S, emit_and_leave, tmp_path / "trace.jsonl", function, 1)


def test_interpreter_exits_with_several_recorders(tmp_path: Path) -> None:
    """The limit is the process's: several recorders on the same dead file system do not add up."""
    assert run(CLOSE_S, emit_and_leave, tmp_path / "trace.jsonl", "write", 4)


def test_hang_when_forced_to_the_disk(tmp_path: Path) -> None:
    """A close that hangs in ``fdatasync`` returns within the limit."""
    answer = run(0.0, hang_in_fdatasync, tmp_path / "trace.jsonl")

    assert (False, True) == (answer["closed"], answer["close_s"] < CLOSE_S)


class Reader:
    """Reads a pipe to its end, from the moment it is started."""

    def __init__(self, fifo: Path) -> None:
        self._fifo = fifo
        self._data = b""
        self._thread = threading.Thread(target=self._read)

    def start(self) -> None:
        self._thread.start()

    def outline(self) -> list[object]:
        """What was read, once the writer has closed: own rows by number, a gap by its loss, others by name."""
        self._thread.join(SOON_S)
        rows = [strict_row(line) for line in self._data.splitlines()]
        assert list(range(len(rows))) == [row["seq"] for row in rows]
        return [("lost", row["lost"]) if "lost" in row else row.get("n", row["event"]) for row in rows]

    def _read(self) -> None:
        with self._fifo.open("rb") as file:
            self._data = file.read()


def test_reader_comes_late(fifo: Path) -> None:
    """A pipe whose reader comes later gets every row, and the end of the run."""
    reader = Reader(fifo)
    trace = RolloutTrace(fifo)
    for n in range(5000):
        trace.emit("mine", n=n)
    assert not trace.flush(0.1)
    reader.start()

    assert (True, True) == (trace.flush(SOON_S), trace.close())
    assert ["run_started", *range(5000), "run_ended"] == reader.outline()


def test_queue_overflows_during_a_hang(fifo: Path) -> None:
    """Memory is bounded during a hang; when it ends, the oldest rows are there and the others are counted."""
    reader = Reader(fifo)
    trace = RolloutTrace(fifo, queue_rows=100)
    for n in range(5000):
        trace.emit("mine", n=n)
    reader.start()
    assert trace.flush(SOON_S)
    trace.emit("mine", n=5000)

    assert trace.close()
    assert ["run_started", *range(100), ("lost", 4900), 5000, "run_ended"] == reader.outline()


def test_hang_ends_after_close_gave_up(fifo: Path) -> None:
    """A process that lives on after such a close still gets its rows written once the file system is back."""
    reader = Reader(fifo)
    trace = RolloutTrace(fifo)
    for n in range(100):
        trace.emit("mine", n=n)
    assert not trace.close("given up")
    reader.start()

    assert ["run_started", *range(100), "run_ended"] == reader.outline()
