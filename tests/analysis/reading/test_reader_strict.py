"""``strict=True``: the first damage ends the reading, with its place and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.errors import RTraceError, TraceFileError
from rtrace_otel.events import Row
from tests.analysis.reading.test_reader_damage import CASES
from tests.analysis.rows import lines, row, text

HINT = "Read without --strict (strict=True), the rest is given and the damage reported"
HARMLESS = {"byte order mark at the start"}


def _read_strictly(data: bytes, folder: Path) -> tuple[list[Row], TraceFileError | None]:
    path = folder / "t.jsonl"
    path.write_bytes(data)
    rows: list[Row] = []
    try:
        for found in read_events(path, strict=True):
            rows.append(found)  # noqa: PERF402 - what came before the error counts
    except TraceFileError as error:
        return rows, error
    return rows, None


@pytest.mark.parametrize("case", CASES)
def test_the_first_damage_is_fatal_and_named(case: str, tmp_path: Path) -> None:
    """The error has the file, the line and the way out; a byte order mark at the start loses nothing and passes."""
    data, rows, damage, _ = CASES[case]
    _, error = _read_strictly(data, tmp_path)

    if case in HARMLESS:
        assert (rows, None) == _read_strictly(data, tmp_path)
    else:
        assert isinstance(error, RTraceError)
        assert (str(tmp_path / "t.jsonl"), damage[0][0], HINT) == (error.where, error.line, error.hint)


def test_the_message_is_one_line_that_can_be_pasted_into_an_editor(tmp_path: Path) -> None:
    """It has the form ``file:line: what. What to do``."""
    _, error = _read_strictly(lines(row(0)) + text(row(1))[:9] + b"\n" + lines(row(2)), tmp_path)

    assert f'{tmp_path / "t.jsonl"}:2: torn row: {{"event":. {HINT}' == str(error)


@pytest.mark.parametrize(
    "data",
    [lines(row(0)).replace(b"\n", b"\r\n"), b"\n" + lines(row(0)), lines(row(0)).strip()],
    ids=["CR LF", "blank line", "no last newline"],
)
def test_what_loses_nothing_passes(data: bytes, tmp_path: Path) -> None:
    """Line ends of another system are no reason to stop."""
    assert ([row(0)], None) == _read_strictly(data, tmp_path)


def test_rows_before_the_damage_arrive_and_none_after(tmp_path: Path) -> None:
    """A strict reader is a prefix of a tolerant one, and ends for good."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0), row(1)) + b"oops\n" + lines(row(2)))
    reader = read_events(path, strict=True)
    rows = [next(reader), next(reader)]
    with pytest.raises(TraceFileError):
        next(reader)

    assert ([row(0), row(1)], []) == (rows, list(reader))
    assert [3] == [damage.line for damage in reader.report.damages]


def test_a_file_still_being_written_is_damaged_under_strict(tmp_path: Path) -> None:
    """A partial last line cannot be told from a torn one."""
    _, error = _read_strictly(lines(row(0)) + b'{"event":', tmp_path)

    assert error is not None
    assert 2 == error.line
