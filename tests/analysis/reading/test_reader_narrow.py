"""Reading only some events: the same rows and the same report as reading all of them, whatever the damage."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading.damage import DamageKind, ReadReport
from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from tests.analysis.reading.narrow_reading import FILE, WANTED, canonical, exactly, file_of
from tests.analysis.reading.test_reader_damage import CASES
from tests.analysis.reading.test_reader_fuzz import DATA, HURTS, _hurt
from tests.analysis.rows import lines, row


def _narrow(path: Path, wanted: tuple[str, ...], *, one_pass: bool) -> tuple[str, list[int], ReadReport]:
    reader = EventReader(path, one_pass=one_pass)
    found = [(found, reader.line) for found in reader.only(wanted)]
    return canonical([found for found, _ in found]), [line for _, line in found], reader.report


def _check(data: bytes, wanted: tuple[str, ...], batch: int) -> None:
    with file_of(data) as path, mock.patch.object(batches, "BATCH_BYTES", batch):
        expected = exactly(path, wanted)
        assert expected == _narrow(path, wanted, one_pass=False)
        assert expected == _narrow(path, wanted, one_pass=True)


@settings(max_examples=300, deadline=None)
@given(st.lists(HURTS, max_size=4), st.sampled_from([1, 7, 100, 1 << 16]), st.sets(st.sampled_from(WANTED)))
def test_damage_changes_nothing(
    hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]], batch: int, wanted: set[str]
) -> None:
    """Rows, their lines and the report are those of the exact reading, at any size of a batch."""
    _check(_hurt(DATA, hurts), tuple(wanted), batch)


@settings(max_examples=300, deadline=None)
@given(st.lists(HURTS, max_size=4), st.sampled_from([1, 100, 1 << 16]))
def test_damage_changes_no_age(hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]], batch: int) -> None:
    """The batch ages are those of the exact reading."""
    with file_of(_hurt(FILE, hurts)) as path, mock.patch.object(batches, "BATCH_BYTES", batch):
        expected = batch_age_by_step(list(read_events(path)))
        assert expected == batch_age_by_step(read_events(path))
        assert expected == batch_age_by_step(read_events(path, one_pass=True))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.integers(0, len(FILE)))
def test_any_bytes_in_the_middle_change_nothing(data: bytes, at: int) -> None:
    """Also where they come from nowhere."""
    _check(FILE[:at] + data + FILE[at:], ("train_step", "group_published"), 200)


@pytest.mark.parametrize("case", CASES)
def test_known_damage_changes_nothing(case: str) -> None:
    """Each way in which a line is known to be damaged."""
    _check(CASES[case][0] + FILE, WANTED, 1 << 16)


ODD_LINES = {
    "a float as number": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0.0,"attempt_id":"x"}',
    "a truth value as number": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":true,"attempt_id":"x"}',
    "another recorder": b'{"type":"train_step","ts":1.0,"run":"a","step":3}',
    "another recorder behind a torn row": b'{"event":"attempt_sealed","t":1{"type":"step","ts":1.0,"run":"a","step":3}',
    "two events in one object": b'{"event":"attempt_sealed","t":1.0,"event":"train_step","t":2.0,"run":"a","seq":0}',
    "two events, one of another recorder": b'{"event":"attempt_sealed","t":1.0,"event":"step","run":"a","step":1}',
    "two events, one escaped": b'{"event":"attempt_\\u0073ealed","t":1.0,"event":"train_step","run":"a","seq":0}',
    "an escaped name": b'{"event":"train\\u005fstep","t":1.0,"run":"a","seq":0,"step":2}',
    "an event that nobody knows": b'{"event":"attempt_praised","t":1.0,"run":"a","seq":0}',
    "the begin of a name": b'{"event":"attempt_',
    "an escaped key": b'{"event":"attempt_sealed","t":1.0,"\\u0065vent":"train_step","run":"a","seq":0}',
    "spans in a row": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0,"resourceSpans":[]}',
    "a number too large": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0,"x":[1e999]}',
    "a wanted row with a number too large": b'{"event":"train_step","t":1.0,"run":"a","seq":0,"x":[1e999]}',
    "a number with very many digits": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0,"x":' + b"1" * 5000 + b"}",
    "no time": b'{"event":"attempt_sealed","run":"a","seq":0}',
    "a text as time": b'{"event":"attempt_sealed","t":"1","run":"a","seq":0}',
    "a broken text": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0,"x":"\xff"}',
    "half a surrogate": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0,"x":"\\ud800"}',
    "bad versions": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0,"tokens_by_version":{"1":1,"01":2}}',
    "versions -0 and 0": b'{"event":"group_published","t":1.0,"run":"a","seq":0,"tokens_by_version":{"0":1,"-0":2}}',
    "a negative number": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":-3}',
    "spaces": b' {"event": "train_step", "t": 1.0, "run": "a", "seq": 0} ',
    "a row over two lines": b'{"event":"attempt_sealed",\n"t":1.0,"run":"a","seq":0}',
    "two rows on one line": b'{"event":"x","t":1.0,"run":"a","seq":0}{"event":"train_step","t":1.0,"run":"a","seq":1}',
    "rows of spans": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":4,"from_spans":true}\n'
    b'{"event":"step","t":1.0,"run":"a","step":1}',
    "rows that begin from spans": b'{"event":"run_started","t":1.0,"run":"a","from_spans":true}\n'
    b'{"event":"step","t":1.0,"run":"a","step":1}',
    "CR": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0}\r',
    "NUL": b'{"event":"attempt_sealed","t":1.0,"run":"a","seq":0}\0\0\0'
    b'{"event":"train_step","t":1.0,"run":"a","seq":1}',
}


@pytest.mark.parametrize("case", ODD_LINES)
@pytest.mark.parametrize("end", [b"\n", b"\n" + FILE, b""], ids=["whole", "more", "no newline"])
def test_odd_lines_change_nothing(case: str, end: bytes) -> None:
    """Lines that look like rows nobody asked for, and are not, or hold one that somebody did ask for."""
    _check(ODD_LINES[case] + end, WANTED, 1 << 16)


@pytest.mark.parametrize(
    "wanted",
    [("attempt_sealed",), ("attempt_mine",), ("group_sealed", "attempt_sealed"), ("group_published", "group_mine"), ()],
    ids=" ".join,
)
def test_families_of_names_change_nothing(wanted: tuple[str, ...]) -> None:
    """Whichever events of a family are asked for: another recorder's names for them, and those nobody knows."""
    others = [
        "attempt_seal",
        "attempt-sealed",
        "Attempt_Sealed",
        "seal",
        "attempt_mine",
        "group_mine",
        "group_publish",
        "published",
    ]
    foreign = b"".join(
        b'{"event":"%s","ts":%d,"run":"a","attempt":"x","group":"g"}\n' % (name.encode(), at)
        for at, name in enumerate(others)
    )
    _check(FILE + foreign + lines(*(row(seq, "c", name) for seq, name in enumerate(others))), wanted, 1 << 16)


def test_a_long_line_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pieces are no lines of their own."""
    monkeypatch.setattr(batches, "MAX_LINE_BYTES", 150)
    long = b'{"event":"attempt_sealed","t":1.0,"run":"a","x":"' + b"y" * 400 + b'"}\n'

    _check(long + lines(row(0, event="train_step")) + long[:-1], WANTED, 64)


def test_two_events_in_one_object_are_a_torn_row() -> None:
    """A decoder would take the later event for all of it, with fields of both rows."""
    reader = read_events(io.BytesIO(ODD_LINES["two events in one object"] + b"\n"))

    assert [] == list(reader)
    assert {DamageKind.TORN_ROW: 1} == reader.report.damage_counts


@pytest.mark.parametrize("cut", [0, 5, 12, 40])
@pytest.mark.parametrize("one_pass", [False, True])
def test_a_torn_archive_changes_nothing(cut: int, one_pass: bool, tmp_path: Path) -> None:
    """The rows before the tear come, and it is reported."""
    packed = gzip.compress(FILE * 20)
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(packed[: len(packed) - cut])

    assert exactly(path, WANTED) == _narrow(path, WANTED, one_pass=one_pass)


def test_the_report_in_the_middle_covers_what_was_read(tmp_path: Path) -> None:
    """It goes on with the batches: here all six lines are one."""
    path = tmp_path / "t.jsonl"
    rows: list[Row] = [row(0, event="train_step"), *(row(seq, event="attempt_sealed") for seq in range(1, 6))]
    path.write_bytes(lines(*rows))
    with read_events(path) as reader:
        next(iter(reader.only(["train_step"])))
        assert 6 == reader.report.rows


def test_rows_that_came_later_are_not_in_the_report(tmp_path: Path) -> None:
    """A job may go on writing."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0)))
    reader = read_events(path)
    list(reader.only(["train_step"]))
    path.write_bytes(lines(row(0), row(1)))

    assert 1 == reader.report.rows


def test_no_report_of_another_file(tmp_path: Path) -> None:
    """The file that was read is gone; what was wrong with it is not to be guessed."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0)))
    reader = read_events(path)
    list(reader.only(["train_step"]))
    (tmp_path / "new").write_bytes(lines(row(0)))
    (tmp_path / "new").replace(path)

    with pytest.raises(TraceFileError, match="was replaced after it was read"):
        _ = reader.report


def test_a_reading_that_has_begun_goes_on(tmp_path: Path) -> None:
    """What was given is not given again."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0, event="train_step"), row(1), row(2, event="train_step")))
    reader = read_events(path)
    first = next(reader)

    assert [0, 2] == [first["seq"], *(found["seq"] for found in reader.only(["train_step"]))]
    assert 3 == reader.report.rows
