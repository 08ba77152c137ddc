"""In a pipe: no colours, no cut tables, and no complaint when nobody reads on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import RTRACE, environment, rtrace, write
from tests.report.history import published, trace, trained

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace whose reports are far longer than a pipe holds."""
    run = "r" * 60
    steps = (trained(run, step, 3, "g") for step in range(1200))
    return write(tmp_path_factory.mktemp("long"), trace(published(run, "g", {3: 1}), *steps))


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
@pytest.mark.parametrize("command", ["age", "summary"])
def test_a_pipe_gets_no_escape_codes(command: str, form: str, job: Path) -> None:
    """Output for files and other programs is plain text."""
    found = rtrace(command, job, "--format", form)

    assert (0, False) == (found.code, ESCAPE in found.out + found.err)


@pytest.mark.parametrize("columns", ["20", "1", "0", "x"])
@pytest.mark.parametrize("command", ["age", "summary"])
def test_a_pipe_has_no_width(command: str, columns: str, job: Path) -> None:
    """``COLUMNS`` is about terminals: tables in a pipe are never cut or folded."""
    assert rtrace(command, job) == rtrace(command, job, env={"COLUMNS": columns})


def test_force_color_colours_a_pipe(job: Path) -> None:
    """Asked for, colours go through ``less -R`` and into CI logs; the words are the same."""
    plain, coloured = rtrace("age", job), rtrace("age", job, env={"FORCE_COLOR": "1"})

    assert f"{ESCAPE}[1m" in coloured.out
    assert plain.out == _without_codes(coloured.out)


@pytest.mark.parametrize("form", ["json", "csv", "md"])
def test_force_color_leaves_data_alone(form: str, job: Path) -> None:
    """Only what is for people is ever coloured."""
    assert rtrace("age", job, "--format", form) == rtrace("age", job, "--format", form, env={"FORCE_COLOR": "1"})


@pytest.mark.parametrize(
    "changes", [{"FORCE_COLOR": ""}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}], ids=str
)
def test_no_colours_in_a_pipe(changes: dict[str, str], job: Path) -> None:
    """An empty ``FORCE_COLOR`` is none, and ``NO_COLOR`` wins."""
    assert rtrace("age", job).out == _without_bold(rtrace("age", job, env=changes).out)


def _without_codes(text: str) -> str:
    return "\n".join(_plain(line).rstrip() for line in text.split("\n"))


def _plain(line: str) -> str:
    head, *parts = line.split(f"{ESCAPE}[")
    return head + "".join(part.partition("m")[2] for part in parts)


def _without_bold(text: str) -> str:
    return text.replace(f"{ESCAPE}[1m", "").replace(f"{ESCAPE}[0m", "")


@pytest.mark.parametrize("read", [0, 1], ids=["nothing", "one line"])
@pytest.mark.parametrize(
    "arguments",
    ["age {} --format table", "age {} --format json", "age {} --format csv", "age {} --format md", "summary {}"],
)
def test_a_reader_that_goes_away_is_no_error(arguments: str, read: int, long: Path) -> None:
    """``| head -1``: status 0 and not a word, however much there was to print."""
    assert (0, b"") == _reader_goes_away(arguments.format(long).split(), read)


@pytest.mark.parametrize("arguments", [["--help"], ["age", "--help"], ["--version"], []], ids=" ".join)
def test_a_reader_of_the_help_that_goes_away_is_no_error(arguments: list[str]) -> None:
    """The same for what the program says of itself."""
    code, err = _reader_goes_away(arguments, 0)

    # Without a command the help is on standard error, and nobody closed that.
    assert (2, True) if not arguments else (0, False) == (code, bool(err))


def _reader_goes_away(arguments: list[str], lines: int) -> tuple[int, bytes]:
    """Status and errors of a command whose output is read for some lines and then closed."""
    ours, theirs = os.pipe()
    with subprocess.Popen([RTRACE, *arguments], stdout=theirs, stderr=subprocess.PIPE, env=environment()) as process:
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            for _ in range(lines):
                pipe.readline()
        _, err = process.communicate()
    return process.returncode, err


def test_in_a_real_shell(long: Path) -> None:
    """What people type."""
    line = f"{RTRACE} age {long} | head -n 1; echo ${{PIPESTATUS[*]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment(), check=True)

    assert (f"Batch age of {long}\n0 0\n", "") == (done.stdout, done.stderr)


def test_errors_and_output_into_one_closed_pipe(long: Path) -> None:
    """``2>&1 | head -1`` closes both: the program ends."""
    line = f"{RTRACE} age {long} 2>&1 | head -n 1; echo ${{PIPESTATUS[*]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment(), check=True)

    assert f"Batch age of {long}\n0 0\n" == done.stdout
