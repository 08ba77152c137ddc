"""A host that closes descriptors it did not open: no row is lost, and none lands in another file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults import child
from tests.faults.file_programs import (
    change_folder,
    close_all_descriptors,
    list_descriptors_of_a_child,
    reuse_all_numbers,
    reuse_number_for_the_same_file,
    without_standard_streams,
)
from tests.record.written import all_rows


def run(program: Callable[..., None], *args: object) -> dict[str, Any]:
    """What a program answers; it must end well and without a word."""
    finished = child.run(program, *args)
    assert (0, "") == (finished.code, finished.err)
    answer: dict[str, Any] = json.loads(finished.out)
    return answer


def outline(path: Path) -> list[object]:
    """The test's own rows by their number, the others by their name."""
    return [row.get("n", row["event"]) for row in all_rows(path)]


def test_closed_again_and_again(tmp_path: Path) -> None:
    """A descriptor that vanished is opened anew; every row is in the file, once."""
    path = tmp_path / "trace.jsonl"

    assert {"closed": True} == run(close_all_descriptors, path)
    assert ["run_started", *range(6), "run_ended"] == outline(path)


@pytest.mark.parametrize(("end", "expected"), [("emit", [0, 1]), ("close", [0])])
def test_number_reused_by_another_file(tmp_path: Path, end: str, expected: list[int]) -> None:
    """Rows never land in the file that has the number now, and that file is not closed either."""
    path, victim = tmp_path / "trace.jsonl", tmp_path / "victim"
    answer = run(reuse_all_numbers, path, victim, end)

    assert (True, answer["taken"]) == (answer["closed"], answer["open"])
    assert b"victim\n" == victim.read_bytes()
    assert ["run_started", *expected, "run_ended"] == outline(path)


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR, os.O_WRONLY], ids=["read", "update", "write"])
def test_number_reused_for_the_trace_itself(tmp_path: Path, flags: int) -> None:
    """A host that reads its own trace, or opens it without appending, does not stop or overwrite the recording."""
    path = tmp_path / "trace.jsonl"

    assert {"flushed": True, "closed": True} == run(reuse_number_for_the_same_file, path, flags)
    assert ["run_started", 0, 1, "run_ended"] == outline(path)


def test_working_folder_changed(tmp_path: Path) -> None:
    """A file given by a relative path is found again after the host has changed its working folder."""
    path, elsewhere = tmp_path / "trace.jsonl", tmp_path / "elsewhere"
    elsewhere.mkdir()

    assert {"closed": True} == run(change_folder, path, elsewhere)
    assert ([], ["run_started", 0, 1, "run_ended"]) == (list(elsewhere.iterdir()), outline(path))


def test_started_without_standard_streams(tmp_path: Path) -> None:
    """The file does not get the number of a standard stream, where libraries print to."""
    path, answer = tmp_path / "trace.jsonl", tmp_path / "answer"
    finished = child.run(without_standard_streams, path, answer)

    assert (0, {"closed": True, "refused": 3}) == (finished.code, json.loads(answer.read_text()))
    assert ["run_started", 0, "run_ended"] == outline(path)


def test_other_programs_do_not_inherit_it(tmp_path: Path) -> None:
    """A program that the host starts has no descriptor of the file."""
    path = tmp_path / "trace.jsonl"
    finished = child.run(list_descriptors_of_a_child, path)

    assert (0, True, False) == (
        finished.code,
        "/dev" in finished.out or "pipe:" in finished.out,
        str(path) in finished.out,
    )
