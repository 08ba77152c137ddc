"""A progress bar: for large files, on standard error, if that is a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import JOB
from tests.cli.program import Result, lines, rtrace, write
from tests.cli.pseudo import on_terminal

LIMIT = 50 * 1024 * 1024


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trace of more than 50 MiB, most of it in few long rows, and one of less."""
    folder = tmp_path_factory.mktemp("large")
    size = 1024 * 1024
    with write(folder, JOB).open("ab") as file:
        for seq in range(LIMIT // size + 1):
            file.write(lines([{"event": "note", "t": 2000.0 + seq, "run": "long", "seq": seq, "text": "x" * size}]))
    small = {"event": "note", "t": 2000.0, "run": "long", "seq": 0, "text": "x" * size}
    write(folder, [*JOB, small], "small.jsonl")
    return folder


def test_a_large_file_has_a_progress_bar(folder: Path) -> None:
    """It is drawn on standard error, and the answer is that of the pipe."""
    path = folder / "rollout_trace.jsonl"
    found = on_terminal("age", path, streams="err")

    assert Result(0, rtrace("age", path).out, found.err) == found
    assert "reading rollout_trace.jsonl" in found.err
    assert "\x1b[?25h" in found.err, "the cursor is shown again"


def test_two_processes_have_one_bar(folder: Path) -> None:
    """It shows how far the first one is, and the answer is that of one process."""
    path = folder / "rollout_trace.jsonl"
    found = on_terminal("summary", "--all", path, "--jobs", "2", streams="err")

    assert Result(0, rtrace("summary", "--all", path, "--jobs", "1").out, found.err) == found
    assert "reading rollout_trace.jsonl" in found.err
    assert "\x1b[?25h" in found.err, "the cursor is shown again"


def test_a_large_file_in_a_folder_has_one_too(folder: Path) -> None:
    """However the file is named on the command line."""
    assert "reading rollout_trace.jsonl" in on_terminal("age", folder, streams="err").err


def test_a_progress_bar_needs_a_terminal_to_be_on(folder: Path) -> None:
    """In a pipe or a log file nothing moves."""
    assert (0, "") == ((found := rtrace("age", folder)).code, found.err)
    assert (0, "") == ((found := on_terminal("age", folder, streams="in out")).code, found.err)


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_quiet_draws_none(flag: str, folder: Path) -> None:
    """Nothing at all on standard error."""
    found = on_terminal("age", folder / "rollout_trace.jsonl", flag, streams="err")

    assert (0, "") == (found.code, found.err)


def test_a_small_file_has_none(folder: Path) -> None:
    """It would be gone before it is seen."""
    found = on_terminal("age", folder / "small.jsonl", streams="err")

    assert (0, "") == (found.code, found.err)


def test_the_file_is_named_as_without_a_bar(folder: Path) -> None:
    """The bar changes nothing of the answer, the file's name included."""
    path = folder / "rollout_trace.jsonl"

    assert (
        rtrace("age", path, "--format", "json").out == on_terminal("age", path, "--format", "json", streams="err").out
    )
