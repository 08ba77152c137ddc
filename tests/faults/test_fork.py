"""Forks: the parent loses nothing, and a child that emits has a run of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.events import Row
from tests.faults import child
from tests.faults.fork_programs import (
    child_ends_normally,
    fork_after_close,
    fork_from_a_thread,
    fork_of_a_fork,
    fork_while_writing,
    fork_with_rows_in_the_queue,
    many_recorders,
    quick_forks,
)
from tests.record.written import all_rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The parent's file."""
    return tmp_path / "trace.jsonl"


def run(program: Callable[..., None], *args: object) -> dict[str, Any]:
    """What a program answers; it must end well and without a word."""
    finished = child.run(program, *args)
    assert (0, "") == (finished.code, finished.err)
    answer: dict[str, Any] = json.loads(finished.out)
    return answer


def runs(path: Path) -> dict[str, list[Row]]:
    """The rows of each run, in file order; each run must be numbered without a gap."""
    found: dict[str, list[Row]] = {}
    for row in all_rows(path):
        found.setdefault(row["run"], []).append(row)
    assert [] == [run for run, rows in found.items() if [row["seq"] for row in rows] != list(range(len(rows)))]
    return found


def names(rows: list[Row]) -> list[str]:
    """The events of some rows."""
    return [row["event"] for row in rows]


@pytest.mark.parametrize("does", ["emits", "closes", "does nothing"])
def test_fifty_quick_forks_while_threads_emit(path: Path, does: str) -> None:
    """Nobody hangs, the parent has all its rows, and exactly the children that emitted have a run."""
    answer = run(quick_forks, path, 50, does)

    assert ([0] * 50, True) == (answer["statuses"], answer["closed"])
    found = runs(path)
    parent = found.pop("parent")
    assert [list(range(count)) for count in answer["emitted"]] == [
        [row["n"] for row in parent if row.get("thread") == thread] for thread in range(2)
    ]
    child_rows = [["run_started", "mine", "mine", "mine", "run_ended"]] * (50 if does == "emits" else 0)
    assert child_rows == [names(rows) for rows in found.values()]
    assert ["parent"] * len(found) == [rows[0]["parent_run"] for rows in found.values()]
    assert len(found) == len({rows[0]["pid"] for rows in found.values()} - {parent[0]["pid"]})


def test_rows_in_the_queue_are_the_parents(path: Path) -> None:
    """What waits in the parent's queue is written by the parent, once; the child has its own rows only."""
    answer = run(fork_with_rows_in_the_queue, path)

    found = runs(path)
    assert {"status": 0, "closed": True, "run": "parent"} == answer
    assert list(range(1000)) == [row["n"] for row in found.pop("parent")[1:-1]]
    assert [["run_started", "child", "run_ended"]] == [names(rows) for rows in found.values()]


def test_fork_while_the_worker_writes(path: Path) -> None:
    """A backlog that is being written is written once, by the parent, whole."""
    answer = run(fork_while_writing, path)

    found = runs(path)
    assert {"statuses": [0] * 5, "closed": True} == answer
    assert list(range(60_000)) == [row["n"] for row in found.pop("parent")[1:-1]]
    assert [["run_started", "child", "run_ended"]] * 5 == [names(rows) for rows in found.values()]


@pytest.mark.parametrize("middle", ["emits", "is silent"])
def test_fork_of_a_fork(path: Path, middle: str) -> None:
    """``parent_run`` of a grandchild is the nearest run before it that the file knows."""
    answer = run(fork_of_a_fork, path, middle)

    found = runs(path)
    parents = {names(rows)[1]: rows[0].get("parent_run") for rows in found.values()}
    by_event = {names(rows)[1]: run for run, rows in found.items()}
    expected = {"mine": None, "grandchild": "parent"}
    if middle == "emits":
        expected = {"mine": None, "child": "parent", "grandchild": by_event["child"]}
    assert ({"status": 0, "closed": True}, expected) == (answer, parents)


def test_fork_after_close(path: Path) -> None:
    """A recorder that was closed stays closed in a child."""
    assert {"status": 0, "same": True} == run(fork_after_close, path)


def test_fork_from_a_thread(path: Path) -> None:
    """It does not matter which thread forks."""
    answer = run(fork_from_a_thread, path)

    assert {"statuses": [0], "closed": True} == answer
    assert [["run_started", "child", "run_ended"], ["run_started", "mine", "run_ended"]] == sorted(
        names(rows) for rows in runs(path).values()
    )


@pytest.mark.parametrize(
    ("end", "reasons"), [("sys.exit", ["exit"]), ("exception", ["unhandled LookupError"]), ("os._exit", [])]
)
def test_child_that_never_closes(path: Path, end: str, reasons: list[str]) -> None:
    """A child's rows are there however it ends; its end is there if the interpreter had one."""
    finished = child.run(child_ends_normally, path, end)

    found = runs(path)
    parent = found.pop("parent")
    (own,) = found.values()
    assert (0, end == "exception") == (finished.code, "LookupError" in finished.err)
    assert ["run_started", "mine", "mine", "run_ended"] == names(parent)
    assert ["run_started", "child", *["run_ended"] * len(reasons)] == names(own)
    assert reasons == [row["reason"] for row in own if row["event"] == "run_ended"]
    assert ("parent", "job") == (own[0]["parent_run"], own[0]["service"])


def test_several_recorders(tmp_path: Path) -> None:
    """Each recorder of the process starts anew in the child, those without a path included."""
    answer = run(many_recorders, tmp_path)

    assert {"status": 0, "closed": [True] * 6} == answer
    assert [[["run_started", "child", "run_ended"], ["run_started", "run_ended"]]] * 5 == [
        sorted(names(rows) for rows in runs(tmp_path / f"{n}.jsonl").values()) for n in range(5)
    ]
