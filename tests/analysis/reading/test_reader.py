"""What the reader gives for files that are whole, and how it counts."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.damage import Damage, DamageKind, SeqGap
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from rtrace_otel.record.trace import RolloutTrace
from tests.analysis.rows import lines, read, report_of, row, text


def test_an_empty_file_has_no_rows_and_is_intact() -> None:
    """Nothing in, nothing out, and nothing wrong."""
    assert ([], report_of([])) == read(b"")


def test_rows_come_in_file_order_and_the_report_counts_them() -> None:
    """A whole file gives every row as written and a report without a fault."""
    rows = [row(0), row(1, note='ü 😀 \\ "'), row(0, "b"), row(2), row(1, "b")]

    assert (rows, report_of(rows)) == read(lines(*rows))


def test_a_last_line_without_a_newline_is_a_whole_row() -> None:
    """A file that is still being written, or lost only its last newline, loses no row."""
    rows = [row(0), row(1)]

    assert (rows, report_of(rows)) == read(lines(*rows).removesuffix(b"\n"))


def test_a_partial_last_line_is_read_once_it_is_complete(tmp_path: Path) -> None:
    """What is a torn tail while the recorder writes is a row in the next reading."""
    path, rows = tmp_path / "rollout_trace.jsonl", [row(0), row(1)]
    whole = lines(*rows)
    path.write_bytes(whole[:-9])
    first = read_events(path)

    assert [row(0)] == list(first)
    assert not first.report.intact
    path.write_bytes(whole)
    second = read_events(path)
    assert rows == list(second)
    assert report_of(rows, source=str(path)) == second.report


def test_blank_lines_are_counted_and_harmless() -> None:
    """Empty lines and lines of white space lose nothing."""
    data = b"\n" + lines(row(0)) + b"  \t \n\r\n" + lines(row(1)) + b"\n"

    assert ([row(0), row(1)], report_of([row(0), row(1)], lines=6, blank_lines=4)) == read(data)


def test_carriage_returns_are_counted_and_harmless() -> None:
    """Lines that end in CR LF are read as if they ended in LF."""
    rows = [row(seq) for seq in range(3)]

    assert (rows, report_of(rows, crlf_lines=3)) == read(lines(*rows).replace(b"\n", b"\r\n"))


def test_carriage_returns_are_counted_after_a_byte_order_mark() -> None:
    """Editors that write CR LF write a byte order mark too; the first line counts like the others."""
    rows = [row(seq) for seq in range(3)]
    read_rows, report = read(b"\xef\xbb\xbf" + lines(*rows).replace(b"\n", b"\r\n"))

    assert (rows, 3) == (read_rows, report.crlf_lines)


def test_version_keys_come_back_as_ints() -> None:
    """JSON has string keys only; versions are ints again, negative ones and zero too."""
    counts = {"0": 5, "12": 7, "-1": 1}
    read_rows, report = read(lines(row(event="group_published", group_id="g", tokens_by_version=counts)))

    assert [{0: 5, 12: 7, -1: 1}] == [found["tokens_by_version"] for found in read_rows]
    assert report.intact


def test_version_keys_of_rows_of_other_events_come_back_as_ints_too() -> None:
    """The field means the same in every event, unknown ones included."""
    read_rows, _ = read(lines(row(event="my_event", tokens_by_version={"3": 4})))

    assert [row(event="my_event", tokens_by_version={3: 4})] == read_rows


def test_absent_counts_stay_none() -> None:
    """A group that published without token data has no counts, and that is no damage."""
    rows = [row(event="group_published", group_id="g", tokens_by_version=None)]

    assert (rows, report_of(rows)) == read(lines(*rows))


def test_a_number_of_seventy_digits_keeps_every_digit() -> None:
    """Hash values and the like are not rounded to a float."""
    rows = [row(big=int("1234567" * 10)), row(1, small=-int("9" * 70))]

    assert (rows, report_of(rows)) == read(lines(*rows))


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    """Duplicated keys are legal JSON; like every JSON reader in Python, the last one wins."""
    data = text(row(step=1)).removesuffix(b"}") + b',"step":2}\n'

    assert ([row(step=2)], report_of([row()])) == read(data)


@pytest.mark.parametrize("number", [2**53, 2**70, 10**300])
def test_a_number_that_no_recorder_writes_is_damage_of_its_row(number: int) -> None:
    """The row is given and takes the place of the one that was to come: none is missing, and the next one follows."""
    rows = [row(0), row(number), row(2), row(3)]
    fault = Damage(2, DamageKind.BAD_FIELD, "seq: expected at most 9,007,199,254,740,991", 1)
    expected = report_of(rows, damages=(fault,), damage_counts={DamageKind.BAD_FIELD: 1})
    assert (rows, expected) == read(lines(*rows))


def test_the_greatest_number_still_counts() -> None:
    """2^53 - 1 after row 0: those from 1 to 2^53 - 2 are missing."""
    rows = [row(0), row(2**53 - 1)]
    gap = SeqGap("a", 2, 1, 2**53 - 2)
    assert (rows, report_of(rows, gaps=(gap,), rows_missing=2**53 - 2)) == read(lines(*rows))


def test_a_missing_stretch_is_a_gap_with_its_place_and_length() -> None:
    """Sequence numbers that jump say which rows of which run are missing."""
    rows = [row(0), row(3, "b"), row(1), row(5), row(4, "b"), row(6)]
    expected = report_of(rows, gaps=(SeqGap("b", 2, 0, 3), SeqGap("a", 4, 2, 3)), rows_missing=6)

    assert (rows, expected) == read(lines(*rows))
    assert not expected.intact


def test_a_row_that_stands_twice_is_out_of_order() -> None:
    """A file appended to itself is noticed, and nothing is called missing."""
    rows = [row(0), row(1), row(0), row(1), row(2)]

    assert (rows, report_of(rows, rows_out_of_order=2)) == read(lines(*rows))


def test_a_row_that_comes_late_is_noticed_and_given() -> None:
    """Rows whose order was changed are all given, and the file does not count as intact."""
    rows = [row(0), row(2), row(1), row(3)]
    read_rows, report = read(lines(*rows))

    assert (rows, 1, False) == (read_rows, report.rows_out_of_order, report.intact)


def test_interleaved_runs_have_sequences_of_their_own() -> None:
    """Two processes that append to one file do not look like gaps."""
    rows = [row(0, "b"), row(0), row(1, "b"), row(1), row(2), row(2, "b")]
    _, report = read(lines(*rows))

    assert report_of(rows, runs={"b": 3, "a": 3}) == report
    assert ["b", "a"] == list(report.runs)


def test_runs_without_sequence_numbers_have_no_gaps() -> None:
    """Rows of other recorders are counted for their run; what is missing cannot be known."""
    foreign: list[Row] = [{"event": "train_step", "t": 1.0 + i, "run": "n", "step": i} for i in range(3)]
    rows = [foreign[0], row(0), foreign[2], row(1)]

    assert (rows, report_of(rows)) == read(lines(*rows))


@pytest.mark.parametrize("seq", ["0.0", "false", '"0"', "[]"])
def test_a_sequence_number_that_is_no_int_is_not_taken_for_one(seq: str) -> None:
    """A row that is not numbered like ours does not stand in for the row that has the number."""
    data = f'{{"event":"mark","t":100.0,"run":"a","seq":{seq}}}\n'.encode() + lines(row(0), row(1))
    read_rows, report = read(data)

    assert ([row(0), row(1)], 0, 0) == (read_rows[1:], report.rows_missing, report.rows_out_of_order)


def test_the_report_grows_while_reading() -> None:
    """A progress display may ask at any time."""
    reader = read_events([text(row(0)), text(row(1))])

    assert [0, 1, 2] == [reader.report.rows, *(reader.report.rows for _ in reader)]


def test_a_reader_closes_its_file_when_the_block_ends(tmp_path: Path) -> None:
    """Leaving the block before the end gives no more rows and leaks no file."""
    path = tmp_path / "rollout_trace.jsonl"
    path.write_bytes(lines(row(0), row(1)))
    with read_events(path) as reader:
        first = next(reader)

    assert (row(0), []) == (first, list(reader))


def test_what_the_recorder_wrote_is_read_back(tmp_path: Path) -> None:
    """The two sides agree: own rows, typed rows, odd values, unknown events."""
    path = tmp_path / "rollout_trace.jsonl"
    with RolloutTrace(path, run="r") as trace:
        trace.group_published("g", {3: 40, 4: 60}, [["c", 3, 100]])
        trace.emit("my_event", number=float("nan"), text="\ud800", nested={"a": [1, None]})
    with read_events(path) as reader:
        rows = [{k: v for k, v in found.items() if k not in {"t", "run", "seq"}} for found in reader]

    assert [
        {"event": "group_published", "group_id": "g", "tokens_by_version": {3: 40, 4: 60},
         "call_versions": [["c", 3, 100]]},
        {"event": "my_event", "number": "NaN", "text": "\ufffd", "nested": {"a": [1, None]}},
    ] == rows[1:3]  # fmt: skip
    assert ({"r": 4}, True) == (reader.report.runs, reader.report.intact)
    assert 4 == len([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])


def test_a_missing_file_is_named_at_once(tmp_path: Path) -> None:
    """The error comes from the call, before any row is asked for, and says what to do."""
    path = tmp_path / "none.jsonl"
    with pytest.raises(TraceFileError) as caught:
        read_events(path)

    assert f"{path}: no such file. Pass the trace file or the job's log folder" == str(caught.value)


def test_the_line_of_the_row_just_given() -> None:
    """Physical lines: a blank one, one of other output, and two rows in one line are counted as lines."""
    a, b, c, d = (text(row(seq)) for seq in range(4))
    reader = read_events(io.BytesIO(a + b"\n\nhello\n" + b + c + b"\n" + d))

    assert 0 == reader.line
    assert [1, 4, 4, 5] == [reader.line for _ in reader]
