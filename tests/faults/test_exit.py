"""The end of a process: a recorder that nobody closed loses nothing that the interpreter's end can save."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.faults import child
from tests.faults.exit_programs import (
    emit_at_exit,
    emit_for_ever,
    emit_when_collected,
    leave,
    leave_a_backlog,
    leave_many_recorders,
    leave_signals_alone,
)
from tests.record.written import all_rows

ENDS: dict[str, tuple[int, list[str]]] = {
    "return": (0, ["exit"]),
    "sys.exit": (3, ["exit"]),
    "exception": (1, ["unhandled LookupError"]),
    "exception in a thread": (0, ["exit"]),
    "SIGTERM with a handler": (7, ["exit"]),
    "SIGINT": (-signal.SIGINT, ["unhandled KeyboardInterrupt"]),
    "os._exit": (5, []),
    "SIGTERM": (-signal.SIGTERM, []),
    "SIGKILL": (-signal.SIGKILL, []),
    "abort": (-signal.SIGABRT, []),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The child's file."""
    return tmp_path / "trace.jsonl"


@pytest.mark.parametrize("how", ENDS)
def test_rows_and_end(path: Path, how: str) -> None:
    """Whatever ends the process, its rows are there, and ``run_ended`` says why where the interpreter had an end."""
    code, reasons = ENDS[how]
    finished = child.run(leave, path, how)

    rows = all_rows(path)
    assert (code, reasons) == (finished.code, [row["reason"] for row in rows if row["event"] == "run_ended"])
    assert ["run_started", "mine", "mine", *["run_ended"] * len(reasons)] == [row["event"] for row in rows]


def test_large_backlog(path: Path) -> None:
    """Two hundred thousand rows that wait at the end are all written."""
    finished = child.run(leave_a_backlog, path, 200_000)

    rows = all_rows(path)
    assert (0, "") == (finished.code, finished.err)
    assert ["run_started", *range(200_000), "run_ended"] == [row.get("n", row["event"]) for row in rows]


def test_many_recorders(tmp_path: Path) -> None:
    """Each of fifty open recorders is closed."""
    finished = child.run(leave_many_recorders, tmp_path, 50)

    assert (0, "") == (finished.code, finished.err)
    assert [["run_started", n, "run_ended"] for n in range(50)] == [
        [row.get("n", row["event"]) for row in all_rows(tmp_path / f"{n}.jsonl")] for n in range(50)
    ]


def test_events_at_exit(path: Path) -> None:
    """Threads that outlive the main one and callbacks that were registered later are recorded; none is harmed."""
    finished = child.run(emit_at_exit, path)

    assert (0, "") == (finished.code, finished.err)
    assert ["run_started", "mine", "thread that outlives main", "registered after", "run_ended"] == [
        row["event"] for row in all_rows(path) if row["event"] != "registered before"
    ]


def test_event_when_modules_are_taken_apart(path: Path) -> None:
    """An object that emits after everything was closed does not make the interpreter complain."""
    finished = child.run(emit_when_collected, path)

    assert (0, "") == (finished.code, finished.err)
    assert ["run_started", "mine", "run_ended"] == [row["event"] for row in all_rows(path)]


@pytest.mark.parametrize("attempt", range(3))
def test_daemon_threads_that_emit_for_ever(path: Path, attempt: int) -> None:
    """The process ends although events keep coming, and the file is whole."""
    finished = child.run(emit_for_ever, path)

    rows = all_rows(path)
    assert (0, "", attempt) == (finished.code, finished.err, attempt)
    assert ("run_ended", list(range(len(rows)))) == (rows[-1]["event"], [row["seq"] for row in rows])


def test_handlers_are_left_alone(path: Path) -> None:
    """Signals and hooks for exceptions stay the host's."""
    assert 0 == child.run(leave_signals_alone, path).code
