"""``rtrace steps``, ``rtrace groups`` and ``rtrace attempts`` on the command line."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.program import Run, rtrace, strict_json, write
from tests.cli.pseudo import on_terminal
from tests.report.timed import JOB as TIMED

STEPS_TABLE = """\
Training steps of {}

Of 36.0 s: 21 % waiting for groups, 8 % training, 6 % syncing weights, 38 % other, 28 % stopped between runs.

Trainer waits in 1 of 1 step: more than 10 % of the cycle went by in waiting for groups, and none was left
over.
"""


@pytest.fixture
def timed(tmp_path: Path) -> Path:
    """The file of the job whose times are known."""
    return write(tmp_path, TIMED)


def without_name(text: str) -> list[str]:
    """The lines that do not name the file."""
    return [line for line in text.splitlines() if ".jsonl" not in line and "stdin" not in line]


def listed(text: str, key: str) -> str:
    """The values of a column of CSV, one after the other."""
    return "".join(row[key] for row in csv.DictReader(io.StringIO(text)))


def test_steps_for_people(run: Run, timed: Path) -> None:
    """The findings come first."""
    assert run("steps", timed).out.startswith(STEPS_TABLE.format(timed))


@pytest.mark.parametrize("command", ["steps", "groups", "attempts"])
@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
def test_every_format_gives_the_same_answer(command: str, form: str, run: Run, timed: Path) -> None:
    """Without an error, also from standard input, and JSON is strict and carries its version."""
    found = run(command, timed, "--format", form)
    piped = rtrace(command, "-", "--format", form, given=timed.read_bytes())

    assert (0, "") == (found.code, found.err)
    assert without_name(found.out) == without_name(piped.out)
    if form == "json":
        data = strict_json(found.out)
        assert (["schema_version", "command", command], command) == (list(data)[:3], data["command"])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "xyuvwzu"),
        (["--prompt", "17", "--limit", "0"], "xyuvwzu"),
        (["--prompt", "1"], ""),
        (["--group", "g"], "xy"),
        (["--run", "b"], "wzu"),
        (["--step", "5"], "xy"),
        (["--outcome", "abandoned", "--reason", "server"], "w"),
        (["--slowest", "--limit", "2"], "vy"),
        (["--sort", "tokens", "--descending", "--limit", "1"], "x"),
        (["--open"], "vz"),
    ],
    ids=" ".join,
)
def test_options_of_attempts(options: list[str], expected: str, run: Run, timed: Path) -> None:
    """Conditions, order and limit."""
    assert expected == listed(run("attempts", timed, "--format", "csv", *options).out, "attempt_id")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "ghh"),
        (["--outcome", "brought-back"], "h"),
        (["--run", "b"], "h"),
        (["--step", "5"], "g"),
        (["--slowest", "--limit", "1"], "g"),
        (["--open"], "h"),
        (["--reason", "stale"], ""),
    ],
    ids=" ".join,
)
def test_options_of_groups(options: list[str], expected: str, run: Run, timed: Path) -> None:
    """An outcome of two words is one word on the command line."""
    assert expected == listed(run("groups", timed, "--format", "csv", *options).out, "group_id")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--slowest", "--sort", "tokens"], "--slowest is --sort seconds --descending; give one or the other"),
        (["--slowest", "--descending"], "--slowest is --sort seconds --descending; give one or the other"),
        (["--limit", "-1"], "Invalid value for '--limit': -1 is not in the range x>=0."),
        (["--sort", "beauty"], "Invalid value for '--sort': 'beauty' is not one of"),
        (["--outcome", "trained"], "Invalid value for '--outcome': 'trained' is not one of"),
        (["--step", "five"], "Invalid value for '--step': 'five' is not a valid integer."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_make_no_sense(options: list[str], message: str, run: Run, timed: Path) -> None:
    """The command line is wrong, and the message says what to give."""
    found = run("attempts", timed, *options)

    assert (2, "") == (found.code, found.out)
    assert message in found.err


@pytest.mark.parametrize(("noun", "known"), [("attempt", 7), ("group", 3)])
def test_nothing_that_matches_is_an_answer(noun: str, known: int, run: Run, timed: Path) -> None:
    """It says so, and the command has not failed."""
    found = run(f"{noun}s", timed, "--prompt", "none")

    assert (0, f"None of {known} {noun}s matches.") == (found.code, found.out.splitlines()[2])


@pytest.mark.parametrize("command", ["steps", "groups", "attempts"])
def test_a_damaged_file_gives_what_is_left_of_it(command: str, run: Run, tmp_path: Path) -> None:
    """A torn end and rubbish between rows are noted, and every whole row counts."""
    path = write(tmp_path, TIMED[:20], after=b'\x00\x00{"event":"train_st\nrubbish\n')
    path.write_bytes(path.read_bytes() + write(tmp_path, TIMED[20:], "rest").read_bytes() + b'{"event":"gro')
    whole, found = (
        run(command, write(tmp_path, TIMED, "whole"), "--format", "csv"),
        run(command, path, "--format", "csv"),
    )

    assert (0, whole.out) == (found.code, found.out)
    assert found.err.count("note: ") >= 1


def test_a_narrow_terminal_keeps_what_matters(timed: Path) -> None:
    """No line of a table is wider than the terminal, and the verdict is still there."""
    shown = on_terminal("steps", timed, columns=80, env={"NO_COLOR": "1"}).out

    assert [] == [line for line in without_name(shown) if len(line) > 80]
    assert "trainer waits" in shown
