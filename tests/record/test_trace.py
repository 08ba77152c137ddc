"""A recorder from its first row to its last."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.validation import validate_row
from tests.record.written import all_rows, event_rows, without_stamps


class Location:
    """A path of the caller's own kind."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def bounds(file: Path) -> list[dict[str, Any]]:
    """The rows that the recorder writes about itself, without stamps."""
    return [row for row in without_stamps(all_rows(file)) if row["event"].startswith("run_")]


STARTED = {"event": "run_started", "schema": 1, "host": os.uname().nodename, "pid": os.getpid()}


@pytest.mark.parametrize("kind", [str, Path, Location])
def test_path_of_any_kind(file: Path, kind: Any) -> None:
    """A path may be a text, a ``Path``, or anything that has one."""
    with RolloutTrace(kind(file)) as trace:
        trace.emit("mine")
        assert file == trace.path

    assert 1 == len(event_rows(file))


def test_missing_parents_are_made(tmp_path: Path) -> None:
    """Folders that are not there yet are made."""
    file = tmp_path / "a" / "b" / "trace.jsonl"
    RolloutTrace(file).close()

    assert ["run_started", "run_ended"] == [row["event"] for row in all_rows(file)]


@pytest.mark.parametrize("folder", ["", "new/"], ids=["that exists", "that is new"])
def test_folder_as_path(tmp_path: Path, folder: str) -> None:
    """A folder, or what ends in a slash like one, means the file of the usual name in it, and ``path`` says so."""
    with RolloutTrace(f"{tmp_path}/{folder}") as trace:
        trace.emit("mine")
        trace.flush()
        assert tmp_path / folder / "rollout_trace.jsonl" == trace.path

    assert 1 == len(event_rows(tmp_path / folder / "rollout_trace.jsonl"))


def test_folder_as_path_object(tmp_path: Path) -> None:
    """A folder given as a ``Path``, which has no slash at its end, is recognised when it exists."""
    with RolloutTrace(tmp_path) as trace:
        trace.emit("mine")
        trace.flush()
        assert tmp_path / "rollout_trace.jsonl" == trace.path

    assert 1 == len(event_rows(tmp_path / "rollout_trace.jsonl"))


def test_relative_path_means_the_folder_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that changes its working folder later does not move the file."""
    start, later = tmp_path / "start", tmp_path / "later"
    start.mkdir()
    later.mkdir()
    monkeypatch.chdir(start)
    trace = RolloutTrace("trace.jsonl")
    trace.flush()
    (start / "trace.jsonl").unlink()  # so that it has to be opened again
    monkeypatch.chdir(later)
    trace.emit("mine")
    trace.close()

    assert ([start / "trace.jsonl"], []) == (list(start.iterdir()), list(later.iterdir()))


def test_bounds_of_a_run(file: Path) -> None:
    """Opening writes ``run_started`` and closing ``run_ended``, also when nothing was emitted."""
    trace = RolloutTrace(file)

    assert trace.close()
    assert [STARTED, {"event": "run_ended", "reason": "closed"}] == bounds(file)


def test_start_is_written_without_an_event(file: Path) -> None:
    """A run that is killed before its first event has left its start."""
    trace = RolloutTrace(file)
    trace.flush()

    assert [STARTED] == bounds(file)
    trace.close()


def test_settings_of_the_run(file: Path) -> None:
    """``run_started`` has what was given, version 0 and odd values included, and nothing that was not."""
    config = {"lr": float("nan"), "steps": 0, "model": Path("/m")}
    with RolloutTrace(file, service="job", framework="nemo", weight_version=0, config=config):
        pass

    extra = {"service": "job", "framework": "nemo", "weight_version": 0}
    assert STARTED | extra | {"config": {"lr": "NaN", "steps": 0, "model": "/m"}} == bounds(file)[0]


def test_bounds_follow_the_vocabulary(file: Path) -> None:
    """What the recorder writes about itself, with every setting, is valid by the registry."""
    RolloutTrace(file, service="job", framework="nemo-rl 0.4", weight_version=0, config={"lr": 1e-6}).close()

    assert [] == [str(problem) for row in all_rows(file) for problem in validate_row(row)]


def test_reason_of_the_end(file: Path) -> None:
    """``close`` takes the reason that stands in ``run_ended``."""
    RolloutTrace(file).close("preempted")

    assert {"event": "run_ended", "reason": "preempted"} == bounds(file)[1]


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(1)])
def test_block_that_raises(file: Path, error: BaseException) -> None:
    """An exception leaves the block unchanged, and ``run_ended`` names it."""
    with pytest.raises(type(error)) as raised, RolloutTrace(file) as trace:  # noqa: PT012 - the block is the subject
        trace.emit("mine")
        raise error

    assert error is raised.value
    assert [{"event": "mine"}] == without_stamps(event_rows(file))
    assert {"event": "run_ended", "reason": f"unhandled {type(error).__name__}"} == bounds(file)[1]


def test_runs_in_one_file(file: Path) -> None:
    """A second recorder appends; each run has an id and numbers of its own."""
    for _ in range(3):
        with RolloutTrace(file) as trace:
            trace.emit("mine")

    rows = all_rows(file)
    assert [0, 1, 2] * 3 == [row["seq"] for row in rows]
    assert [3, 3, 3] == [sum(row["run"] == run for row in rows) for run in {row["run"] for row in rows}]


def test_run_id_does_not_come_from_random(file: Path) -> None:
    """Trainers seed ``random`` alike in every process: ids differ all the same, and its state is untouched."""
    runs = set()
    for _ in range(20):
        random.seed(0)
        state = random.getstate()
        with RolloutTrace(file) as trace:
            runs.add(trace.run)
        assert state == random.getstate()

    assert 20 == len(runs)


def test_explicit_run(file: Path) -> None:
    """A run id that is given is used as it is."""
    with RolloutTrace(file, run="job-7") as trace:
        assert "job-7" == trace.run

    assert {"job-7"} == {row["run"] for row in all_rows(file)}


def test_empty_run_is_a_new_one(file: Path) -> None:
    """An empty id, as an unset environment variable gives, is no id."""
    with RolloutTrace(file, run="") as trace:
        assert trace.run

    assert {trace.run} == {row["run"] for row in all_rows(file)}


@pytest.mark.parametrize(
    ("before", "after"), [(b'{"event":"a"}\n', b""), (b'{"event":"a"', b"\n"), (b"\n", b""), (b"\0", b"\n"), (b"", b"")]
)
def test_newline_guard(file: Path, before: bytes, after: bytes) -> None:
    """A newline is written first exactly where the file does not end in one."""
    file.write_bytes(before)
    with RolloutTrace(file) as trace:
        trace.emit("mine")

    data = file.read_bytes()
    head = before + after + b'{"event":"run_started"'
    assert (head, 3) == (data[: len(head)], data[len(before + after) :].count(b"\n"))
