"""``rtrace restore`` and ``rtrace waste`` on the command line: their forms, their widths, and traces in parts."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.ledger.stories import ONE_STOP
from tests.cli.program import Run, lines, rtrace, strict_json, write
from tests.cli.pseudo import on_terminal

VERDICT = (
    "This stop cost 2 rollouts and at least 12 tokens, 26 % of the tokens known of what was in flight or done since "
    "the checkpoint; every rollout came back."
)
COMMANDS = ["restore", "waste"]


@pytest.fixture
def one_stop(tmp_path: Path) -> Path:
    """The file of a job with one stop."""
    return write(tmp_path, ONE_STOP)


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """The same trace in three files."""
    cut = (ONE_STOP[:5], ONE_STOP[5:14], ONE_STOP[14:])
    return [write(tmp_path, rows, name) for rows, name in zip(cut, ("2.jsonl", "3.jsonl", "1.jsonl"), strict=True)]


def without_source(text: str) -> dict[str, Any]:
    """JSON output without what the reader says of the source."""
    found: dict[str, Any] = strict_json(text)
    return {key: value for key, value in found.items() if key != "read"}


@pytest.mark.parametrize("columns", [60, 80, 140])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_is_wider_than_the_terminal(command: str, columns: int, one_stop: Path) -> None:
    """Columns are left out; the sentences and the numbers that matter stay."""
    shown = on_terminal(command, one_stop, columns=columns, env={"NO_COLOR": "1"})
    body = [line for line in shown.out.splitlines() if "jsonl" not in line and "rollout_trace" not in line]

    assert 0 == shown.code
    assert columns >= max(map(len, body))
    assert "rollouts" in shown.out


def test_what_stays_on_a_narrow_terminal(one_stop: Path) -> None:
    """How long nothing ran, and what was lost."""
    shown = on_terminal("restore", one_stop, columns=60, env={"NO_COLOR": "1"}).out.splitlines()

    assert ["stop   run     dead   rollouts lost              tokens lost"] == [
        line for line in shown if line.startswith("stop ")
    ]
    assert "   1   a     30.0 s               2   at least            12" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_the_forms_agree(command: str, run: Run, one_stop: Path) -> None:
    """The verdict of JSON is the first sentence of the table and of Markdown; CSV has the records of JSON."""
    found = strict_json(run(command, one_stop, "--format", "json").out)
    table, md, text = (run(command, one_stop, "--format", form).out for form in ("table", "md", "csv"))
    (first, *_) = csv.DictReader(io.StringIO(text))

    assert found["verdict"] == md.splitlines()[2]
    assert found["verdict"].split() == table.split("\n\n")[1].split()
    if command == "restore":
        assert VERDICT == found["verdict"]
        assert found["stops"][0]["run"] == first["run"]
        assert str(found["stops"][0]["lost"]["tokens_lost"]) == first["lost_tokens"]
    else:
        assert found["accounts"][0] == {**found["accounts"][0], "name": first["name"], "tokens": int(first["tokens"])}


@pytest.mark.parametrize("command", COMMANDS)
def test_parts_in_any_order(command: str, run: Run, one_stop: Path, parts: list[Path]) -> None:
    """They are one trace; a part that is named twice is read once."""
    whole = without_source(run(command, one_stop, "--format", "json").out)

    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0, 1)):
        answer = run(command, *(parts[place] for place in order), "--format", "json")
        assert ("", 0) == (answer.err, answer.code)
        assert whole == without_source(answer.out)
        assert f"{parts[0]} and 2 more files" == strict_json(answer.out)["read"]["source"]


@pytest.mark.parametrize("command", COMMANDS)
def test_standard_input(command: str, one_stop: Path, parts: list[Path]) -> None:
    """Alone it is a trace; among parts it cannot be put in its place."""
    piped = rtrace(command, "-", "--format", "json", given=lines(ONE_STOP))
    assert without_source(rtrace(command, one_stop, "--format", "json").out) == without_source(piped.out)

    refused = rtrace(command, parts[0], "-", given=lines(ONE_STOP))
    assert (2, "") == (refused.code, refused.out)
    assert "'-' must stand alone: standard input cannot be one part of several" in refused.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_among_parts(command: str, run: Run, parts: list[Path], tmp_path: Path) -> None:
    """It is refused before anything is read from it."""
    os.mkfifo(tmp_path / "pipe")
    answer = run(command, parts[0], tmp_path / "pipe")

    assert (1, "") == (answer.code, answer.out)
    assert f"{tmp_path / 'pipe'}: is no regular file. Give a pipe alone, or save it to a file first" in answer.err


@pytest.mark.parametrize("command", COMMANDS)
def test_the_answer_never_replaces_a_part(command: str, run: Run, parts: list[Path], tmp_path: Path) -> None:
    """Whichever part it is; another file is written."""
    before = [part.read_bytes() for part in parts]
    for part in parts:
        answer = run(command, *parts, "-o", part)
        assert (1, "") == (answer.code, answer.out)
        assert f"{part}: is the trace itself. Give -o another name" in answer.err
    assert before == [part.read_bytes() for part in parts]

    answer = run(command, *parts, "--format", "csv", "-o", tmp_path / "answer.csv")
    assert (0, "") == (answer.code, answer.out)
    assert run(command, *parts, "--format", "csv").out == (tmp_path / "answer.csv").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_damage_in_a_part(command: str, run: Run, parts: list[Path]) -> None:
    """It is noted with its line among all parts, or stops the reading if that is asked for."""
    parts[0].write_bytes(parts[0].read_bytes() + b"{torn\n")
    answer = run(command, *parts)

    assert (0, True) == (answer.code, "note: " in answer.err and "line 6" in answer.err)
    assert "" == run(command, *parts, "-q").err
    assert (1, "") == ((strict := run(command, *parts, "--strict")).code, strict.out)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("cut", "words"), [((3, 4), "1 row is"), ((3, 6), "3 rows are")], ids=["one", "three"])
def test_rows_that_are_missing(
    command: str, cut: tuple[int, int], words: str, run: Run, one_stop: Path, tmp_path: Path
) -> None:
    """The answer itself says that it can be wrong; that of the whole file does not."""
    less = write(tmp_path, (*ONE_STOP[: cut[0]], *ONE_STOP[cut[1] :]), "less.jsonl")
    sentence = f"{words} missing from the file, so the numbers can be wrong."

    assert sentence == run(command, less, "--format", "md").out.splitlines()[4]
    assert "missing from the file" not in run(command, one_stop).out
    assert cut[1] - cut[0] == strict_json(run(command, less, "--format", "json").out)["read"]["rows_missing"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_part_that_is_not_there(command: str, run: Run, parts: list[Path], tmp_path: Path) -> None:
    """The message says which."""
    answer = run(command, *parts, tmp_path / "4.jsonl")

    assert (1, "") == (answer.code, answer.out)
    assert f"{tmp_path / '4.jsonl'}: no such file" in answer.err


def test_words_are_the_same_everywhere(run: Run, one_stop: Path) -> None:
    """What runs is a rollout, and how long it ran is attempt time, in both reports."""
    for command in COMMANDS:
        text = run(command, one_stop).out
        assert "rollouts" in text
        assert "attempt time" in text
        assert {"sample", "samples", "trajectory", "episode", "attempt-seconds"}.isdisjoint(text.split())
