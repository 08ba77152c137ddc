"""Damage in a file: notes on standard error, the answer all the same, and a stop with ``--strict``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import JOB
from tests.cli.program import Result, Run, lines, strict_json, write

TORN = b'{"event":"train_step","t":99'


@pytest.mark.parametrize("form", ["csv", "md", "json", "table"])
def test_notes_go_to_standard_error_only(run: Run, form: str, tmp_path: Path) -> None:
    """The answer is that of the whole rows; what is damaged is said elsewhere, once."""
    path = write(tmp_path, JOB)
    whole = run("age", path, "--format", form)
    write(tmp_path, JOB, after=TORN)
    damaged = run("age", path, "--format", form)

    assert Result(0, whole.out, "") == whole
    assert (0, f"note: {path}: 1 x torn tail (line {len(JOB) + 1}: {TORN.decode()})\n") == (damaged.code, damaged.err)
    if form != "json":
        assert whole.out == damaged.out


def test_json_tells_the_damage_too(run: Run, tmp_path: Path) -> None:
    """Scripts need not read the notes."""
    read = strict_json(run("age", write(tmp_path, JOB, after=TORN), "--format", "json").out)["read"]

    assert (False, {"torn tail": 1}, len(JOB)) == (read["intact"], read["damage_counts"], read["rows"])


def test_the_summary_tells_the_damage_in_the_report(run: Run, tmp_path: Path) -> None:
    """Who sends the report on sends the damage with it."""
    found = run("summary", write(tmp_path, JOB, after=TORN), "--format", "md", "--quiet")

    assert '- **file**: 1 x torn tail (line 21: {"event":"train\\_step","t":99)\n' in found.out


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_quiet_says_nothing_on_standard_error(run: Run, flag: str, tmp_path: Path) -> None:
    """The same answer without the notes."""
    path = write(tmp_path, JOB, after=TORN)

    assert Result(0, run("age", path).out, "") == run("age", path, flag)


def test_quiet_does_not_silence_errors(run: Run, tmp_path: Path) -> None:
    """An answer that cannot be given is still explained."""
    found = run("age", tmp_path / "none", "--quiet")

    assert (1, "", 1) == (found.code, found.out, found.err.count("\n"))


def test_rows_missing_by_number_are_noted(run: Run, tmp_path: Path) -> None:
    """A gap in the sequence numbers is damage, though every line is whole."""
    path = write(tmp_path, [row for row in JOB if row["seq"] != 3])
    expected = (
        f"note: {path}: 2 rows missing by sequence number, in 2 places "
        f"(first: run aaaaaaaa, before line 4: 1 row from number 3)\n"
    )

    assert (0, expected) == ((found := run("age", path)).code, found.err)


def test_each_kind_of_damage_is_one_note(run: Run, tmp_path: Path) -> None:
    """A thousand broken lines do not make a thousand notes."""
    path = write(tmp_path, JOB, after=b"x\n" * 1000 + b"[1]\n")
    notes = run("age", path).err.splitlines()

    assert ["1,000 x not JSON", "1 x not an event"] == [
        note.removeprefix(f"note: {path}: ").partition(" (")[0] for note in notes
    ]


@pytest.mark.parametrize("command", ["age", "summary"])
def test_strict_stops_at_the_first_damage(run: Run, command: str, tmp_path: Path) -> None:
    """Status 1, no answer; the message names file, line and fault."""
    path = write(tmp_path, JOB, after=b"oops\n" + lines(JOB))
    found = run(command, path, "--strict")

    assert (1, "") == (found.code, found.out)
    assert found.err.startswith(f"error: {path}:{len(JOB) + 1}: not JSON: oops")
    assert 1 == found.err.count("\n")


def test_strict_says_what_to_do_in_the_words_of_the_command_line(run: Run, tmp_path: Path) -> None:
    """Who typed ``--strict`` reads ``--strict``."""
    assert "--strict" in run("age", write(tmp_path, JOB, after=b"oops\n"), "--strict").err


def test_the_message_of_strict_obeys_nothing_of_the_file(run: Run, tmp_path: Path) -> None:
    """The damaged line is shown with its control characters written out."""
    found = run("age", write(tmp_path, JOB, after=b"\x1b[2J\x1b]0;x\x07\xc2\x9b1m\r\n"), "--strict")

    assert (1, True) == (found.code, found.err.removesuffix("\n").isprintable())


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"], ids=["as written", "with a byte order mark"])
def test_strict_lets_a_whole_file_pass(run: Run, before: bytes, tmp_path: Path) -> None:
    """What loses nothing is no reason to stop."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(before + lines(JOB).replace(b"\n", b"\r\n\n"))
    found = run("age", path, "--strict", "--format", "csv")

    assert (0, run("age", write(tmp_path, JOB), "--format", "csv").out) == (found.code, found.out)


@pytest.mark.parametrize("form", ["table", "json", "csv", "md"])
@pytest.mark.parametrize("command", ["age", "summary"])
@pytest.mark.parametrize(
    "row",
    [
        b'{"event":"mark","t":Infinity,"run":"c","seq":0}',
        b'{"event":"mark","t":NaN,"run":"c","seq":0}',
        b'{"event":"mark","t":1e999,"run":"c","seq":0}',
        b'{"event":"group_published","t":1,"run":"c","seq":0,"group_id":"g","tokens_by_version":{"3":Infinity}}',
        b'{"event":"train_step","t":1,"run":"c","seq":0,"step":7,"trained_version":1,"group_ids":5}',
        b'{"event":"weight_sync","t":1,"run":"c","seq":0,"replaced_version":1,"new_version":2,"calls":5}',
        b'{"event":"train_step","t":1,"run":"c","seq":0,"step":7,"trained_version":1,"group_ids":[],"batch_age":NaN}',
    ],
    ids=["t infinite", "t not a number", "t too large", "tokens infinite", "groups a number", "calls a number",
         "age not a number"],
)  # fmt: skip
def test_an_odd_row_costs_at_most_itself(run: Run, row: bytes, command: str, form: str, tmp_path: Path) -> None:
    """A number that is none, or a list that is none, in one row: the rest is reported."""
    found = run(command, write(tmp_path, JOB, after=row + b"\n"), "--format", form)

    assert (0, True) == (found.code, bool(found.out))
    if form == "json":
        strict_json(found.out)
