"""Where the answer goes: standard output, a file, or nowhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import JOB
from tests.cli.program import RTRACE, Result, Run, environment, rtrace, write
from tests.cli.pseudo import on_terminal
from tests.report.hostile import HOSTILE, hostile_trace

FORMS = ("table", "json", "csv", "md")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", ["age", "summary"])
def test_a_file_holds_what_would_have_been_printed(
    run: Run, command: str, form: str, job: Path, tmp_path: Path
) -> None:
    """Byte for byte, and nothing is printed."""
    output = tmp_path / "answer"
    printed = run(command, job, "--format", form)

    assert Result(0, "", "") == run(command, job, "--format", form, "-o", output)
    assert printed.out == output.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["escape codes", "line ends", "C1 codes", "wide"])
def test_a_file_holds_the_same_text_of_a_hostile_trace(run: Run, kind: str, form: str, tmp_path: Path) -> None:
    """What goes into a pipe is not changed on its way: ids are the same in both."""
    path, output = write(tmp_path, hostile_trace(HOSTILE[kind])), tmp_path / "answer"
    printed = run("summary", path, "--format", form)
    run("summary", path, "--format", form, "--output", output)

    assert printed.out.encode("utf-8", "surrogateescape") == output.read_bytes()


def test_a_file_that_exists_is_replaced(run: Run, job: Path, tmp_path: Path) -> None:
    """The whole answer, and nothing of what was there before."""
    output = tmp_path / "answer"
    output.write_text("x" * 100_000)
    run("age", job, "--format", "csv", "-o", output)

    assert run("age", job, "--format", "csv").out == output.read_text()


def test_a_dash_is_standard_output(run: Run, job: Path) -> None:
    """As for FILE."""
    assert run("age", job) == run("age", job, "-o", "-")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_gets_no_colours_and_no_width_from_the_terminal(form: str, job: Path, tmp_path: Path) -> None:
    """The terminal that the command is typed on has nothing to do with the file."""
    output = tmp_path / "answer"
    found = on_terminal("age", job, "--format", form, "-o", output, columns=40)

    assert Result(0, "", "") == found
    assert rtrace("age", job, "--format", form).out == output.read_text(encoding="utf-8")


def test_a_file_in_no_folder(run: Run, job: Path, tmp_path: Path) -> None:
    """Status 1; the message names the file and the reason."""
    output = tmp_path / "none" / "answer"

    assert Result(1, "", f"error: {output}: cannot be written: No such file or directory\n") == (
        run("age", job, "-o", output)
    )


def test_a_full_disk_for_the_file(run: Run, job: Path) -> None:
    """The reason is passed on."""
    assert Result(1, "", "error: /dev/full: cannot be written: No space left on device\n") == (
        run("age", job, "-o", "/dev/full")
    )


def test_a_folder_as_output(run: Run, job: Path, tmp_path: Path) -> None:
    """A folder is a wrong command line."""
    found = run("age", job, "-o", tmp_path)

    assert (2, "") == (found.code, found.out)


def test_an_answer_that_cannot_be_given_leaves_the_file_alone(run: Run, tmp_path: Path) -> None:
    """An old answer is not replaced by nothing."""
    output = tmp_path / "answer"
    output.write_text("old")
    found = run("age", tmp_path / "none", "-o", output)

    assert (1, "old") == (found.code, output.read_text())


@pytest.mark.parametrize("given", ["file", "folder"])
def test_the_trace_itself_is_never_the_output(given: str, run: Run, job: Path) -> None:
    """A slip of the hand does not replace hours of events with their summary."""
    before = job.read_bytes()
    found = run("age", job if given == "file" else job.parent, "-o", job)

    assert (before, True, "") == (job.read_bytes(), found.code in {1, 2}, found.out)


@pytest.mark.parametrize("arguments", ["age {}", "age {} --format json", "--help", "--version"])
@pytest.mark.parametrize("where", ["> /dev/full", ">&-"], ids=["full disk", "closed"])
def test_standard_output_that_takes_nothing(where: str, arguments: str, job: Path) -> None:
    """One line that says so and status 1: no traceback, and no success that is none."""
    command = f"exec {RTRACE} {arguments.format(job)} {where}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment(), check=False)

    assert (1, 1, "error: ") == (done.returncode, done.stderr.count("\n"), done.stderr[:7])


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("form", FORMS)
def test_a_terminal_of_an_old_encoding(form: str, encoding: str, tmp_path: Path) -> None:
    """What it cannot show is replaced; the report is printed."""
    path = write(tmp_path, [*JOB, {**JOB[-1], "event": "組", "seq": 8}])
    found = rtrace("summary", path, "--format", form, env={"PYTHONIOENCODING": encoding})

    assert (0, "", True) == (found.code, found.err, bool(found.out))
