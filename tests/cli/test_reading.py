"""What can be given as FILE, and what is said of what cannot."""

from __future__ import annotations

import gzip
import os
import subprocess
import threading
from pathlib import Path

import pytest

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME
from tests.cli.conftest import JOB
from tests.cli.program import RTRACE, Result, Run, environment, lines, rtrace, strict_json, write
from tests.cli.pseudo import on_terminal

DATA = lines(JOB)
HINT = "Pass the trace file or the job's log folder"
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00"


def csv_of(*arguments: str | Path, given: bytes = b"", cwd: Path | None = None) -> str:
    """The main table of the ages, which holds no file name."""
    found = rtrace("age", *arguments, "--format", "csv", given=given, cwd=cwd)
    assert (0, "") == (found.code, found.err)
    return found.out


def test_a_file_a_folder_a_gzip_and_a_pipe_give_the_same_answer(tmp_path: Path) -> None:
    """Whatever holds the trace, the answer is the same."""
    file = write(tmp_path, JOB)
    archive = tmp_path / "other.gz"
    archive.write_bytes(gzip.compress(DATA))
    zipped = tmp_path / "zipped"
    zipped.mkdir()
    (zipped / f"{ROLLOUT_TRACE_FILENAME}.gz").write_bytes(gzip.compress(DATA))
    expected = csv_of(file)

    assert 3 == len(expected.splitlines())
    assert [expected] * 3 == [csv_of(tmp_path), csv_of(archive), csv_of(zipped)]
    assert [expected] * 2 == [csv_of("-", given=DATA), csv_of("-", given=gzip.compress(DATA))]


def test_a_file_beside_the_working_folder(tmp_path: Path) -> None:
    """Relative names are relative, and ``.`` is the folder that one stands in."""
    write(tmp_path, JOB)

    assert csv_of(ROLLOUT_TRACE_FILENAME, cwd=tmp_path) == csv_of(".", cwd=tmp_path)


def test_a_named_pipe(tmp_path: Path) -> None:
    """A FIFO, as ``<(zcat ...)`` gives one, is read like a file."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(DATA,))
    writer.start()
    found = csv_of(fifo)
    writer.join()

    assert csv_of("-", given=DATA) == found


@pytest.mark.parametrize("command", ["age", "summary"])
def test_a_missing_file(run: Run, command: str, tmp_path: Path) -> None:
    """Status 1; the message names the file and what to pass instead."""
    path = tmp_path / "none.jsonl"

    assert Result(1, "", f"error: {path}: no such file. {HINT}\n") == run(command, path)


def test_a_folder_without_a_trace(run: Run, tmp_path: Path) -> None:
    """The message says which file was looked for."""
    assert Result(1, "", f"error: {tmp_path}: no {ROLLOUT_TRACE_FILENAME} in this folder. {HINT}\n") == (
        run("age", tmp_path)
    )


def test_a_file_in_place_of_a_folder(run: Run, job: Path) -> None:
    """What the operating system says is passed on."""
    assert Result(1, "", f"error: {job}/x: cannot be read: Not a directory\n") == run("age", f"{job}/x")


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
@pytest.mark.parametrize("command", ["age", "summary"])
def test_an_empty_file(run: Run, command: str, form: str, tmp_path: Path) -> None:
    """A file without any event has no answer, in no format."""
    path = write(tmp_path, [])
    expected = f"error: {path}: no rollout event in this file: it is empty. Is it a rollout trace?\n"

    assert Result(1, "", expected) == run(command, path, "--format", form)


def test_empty_standard_input() -> None:
    """The message calls it by its name."""
    expected = "error: <stdin>: no rollout event in this file: it is empty. Is it a rollout trace?\n"

    assert Result(1, "", expected) == rtrace("age", "-")


@pytest.mark.parametrize(
    "data",
    [PNG, b"[1, 2, 3]\n", b'[{"event": "x"}]', b"a,b\n1,2\n", b"\n\n\n", b"\0" * 5000, os.urandom(3000), b"{}\n",
     b"\x1b[2J\x1b[31mhello\n", b'{"event":"tr', b"\xff\xfe{\0}\0", gzip.compress(b"a,b\n"), gzip.compress(b"")],
    ids=["PNG", "array", "array of objects", "CSV", "blank", "NUL", "noise", "object", "escape codes", "torn", "UTF-16",
         "gzip of CSV", "gzip of nothing"],
)  # fmt: skip
def test_a_file_that_is_no_trace(run: Run, data: bytes, tmp_path: Path) -> None:
    """Status 1 and one printable line that names the file, says what it holds, and asks back."""
    path = tmp_path / "file"
    path.write_bytes(data)
    found = run("age", path)

    assert (1, "") == (found.code, found.out)
    assert found.err.startswith(f"error: {path}: no rollout event in this file: ")
    assert found.err.endswith(". Is it a rollout trace?\n")
    assert found.err.removesuffix("\n").isprintable()


def test_standard_input_that_is_a_terminal() -> None:
    """Nothing is piped in: the program says so instead of waiting for typing."""
    found = on_terminal("age", "-", streams="in")

    assert (2, "") == (found.code, found.out)
    assert found.err.endswith("Error: FILE is '-' but standard input is a terminal; pipe a trace into it\n")


def test_standard_input_that_is_closed() -> None:
    """A service may have no standard input at all: that is an error, not a crash."""
    done = subprocess.run(
        f"exec {RTRACE} age - <&-", shell=True, capture_output=True, text=True, env=environment(), check=False
    )

    assert (1, "", 1) == (done.returncode, done.stdout, done.stderr.count("\n"))


@pytest.mark.parametrize(
    "name", [b"caf\xc3\xa9 \xf0\x9f\x99\x82.jsonl", b"x\xff.jsonl", b"-.jsonl", b"a b'c\".jsonl"], ids=ascii
)
@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_any_file_name(name: bytes, form: str, tmp_path: Path) -> None:
    """Spaces, quotes, other alphabets, names that are no UTF-8: the file is read and the report is printed."""
    (tmp_path / os.fsdecode(name)).write_bytes(DATA)
    found = rtrace("summary", os.fsencode(tmp_path) + b"/" + name, "--format", form)

    assert (0, "", True) == (found.code, found.err, bool(found.out))


@pytest.mark.parametrize("form", ["table", "md"])
def test_a_file_name_with_control_characters_is_shown_not_obeyed(run: Run, form: str, tmp_path: Path) -> None:
    """A name from somebody's folder moves no cursor, in the report and in the notes."""
    path = write(tmp_path, JOB, "x\x1b[2J\n.jsonl", after=b"oops\n")
    found = run("summary", path, "--format", form)

    assert 0 == found.code
    assert [] == [line for line in (found.out + found.err).split("\n") if not line.isprintable()]


def test_the_file_is_named_in_json(job: Path) -> None:
    """Scripts see which file was read, also if a folder was given."""
    assert str(job) == strict_json(rtrace("age", job.parent, "--format", "json").out)["read"]["source"]
    assert "<stdin>" == strict_json(rtrace("age", "-", "--format", "json", given=DATA).out)["read"]["source"]


@pytest.mark.parametrize(
    "command",
    ["age", "summary", "check", "report -o -", "sql|SELECT 1 FROM runs", "waste", "watch", "watch --once", "serve"],
)
def test_an_address_is_refused_with_the_way_out(run: Run, command: str) -> None:
    """It is named as it was given, and the message says which command reads it, and how others come to it."""
    name, *others = command.split("|") if "|" in command else command.split()
    found = run(name, "s3://team/job/rollout_trace.jsonl", *others)
    assert (1, "") == (found.code, found.out)
    assert found.err.startswith("error: s3://team/job/rollout_trace.jsonl: an address is not read here. 'rtrace fleet'")
    assert "pipe it in: aws s3 cp s3://... - | rtrace COMMAND -" in found.err
