"""Reading only some events: the same rows and the same report as reading all of them, whatever the damage."""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import recomputed_batch_age_by_step
from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading import batches, parallel
from rtrace_otel.analysis.reading.damage import DamageKind, ReadReport
from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from tests.analysis.reading.test_reader_damage import CASES
from tests.analysis.reading.test_reader_fuzz import DATA, HURTS, _hurt
from tests.analysis.rows import lines, row

WANTED = ("weight_sync", "train_step", "my_event")

FILE = lines(
    row(0, event="run_started", schema=1, host="h", pid=7, weight_version=1),
    *(row(seq, event="attempt_dispatched", group_id="g", attempt_id=f"a{seq}", prompt_id="1") for seq in range(1, 5)),
    row(5, event="group_published", group_id="g", tokens_by_version={"1": 30, "2": 10}),
    row(0, "b", "attempt_sealed", attempt_id="ä", reward=1e-9, text='} {"x": \\'),
    row(6, event="group_sealed", group_id="h", tokens_by_version={"0": 4}),
    row(7, event="train_step", step=1, trained_version=3, group_ids=["g", "h"]),
    row(1, "b", "attempt_sealed", attempt_id="z", tokens_by_version={"x": 1}),
    row(8, event="my_event", text="}{][", nested={"deep": [{"er": None}]}),
    row(9, event="attempt_sealed", attempt_id="a1", tokens=3, big=10**40),
)


@contextmanager
def _file(data: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(data)
        yield path


def _exact(path: Path, wanted: tuple[str, ...]) -> tuple[str, list[int], ReadReport]:
    """Rows of these events, their lines, and the report, from reading every row."""
    reader = EventReader(path)
    found = [(found, reader.line) for found in reader if found["event"] in wanted]
    return _canonical([found for found, _ in found]), [line for _, line in found], reader.report


def _narrow(path: Path, wanted: tuple[str, ...], *, one_pass: bool) -> tuple[str, list[int], ReadReport]:
    reader = EventReader(path, one_pass=one_pass)
    found = [(found, reader.line) for found in reader.only(wanted)]
    return _canonical([found for found, _ in found]), [line for _, line in found], reader.report


def _canonical(value: Any) -> str:
    return json.dumps(value)


def _check(data: bytes, wanted: tuple[str, ...], batch: int) -> None:
    with _file(data) as path, mock.patch.object(batches, "BATCH_BYTES", batch):
        expected = _exact(path, wanted)
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
    with _file(_hurt(FILE, hurts)) as path, mock.patch.object(batches, "BATCH_BYTES", batch):
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

    assert _exact(path, WANTED) == _narrow(path, WANTED, one_pass=one_pass)


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


def _in_pieces(path: Path, jobs: int, piece: int, *, one_pass: bool) -> tuple[str, list[int], ReadReport]:
    with mock.patch.multiple(parallel, PIECE_BYTES=piece, MIN_BYTES=0):
        reader = EventReader(path, one_pass=one_pass, jobs=jobs)
        found = [(found, reader.line) for found in reader.only(WANTED)]
        return _canonical([found for found, _ in found]), [line for _, line in found], reader.report


@settings(max_examples=25, deadline=None)
@given(st.lists(HURTS, max_size=4), st.integers(1, 3), st.integers(1, 2000), st.sampled_from([50, 1 << 16]))
def test_any_number_of_processes_gives_the_same(
    hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]], jobs: int, piece: int, batch: int
) -> None:
    """Rows, their lines and the report do not depend on where the file is cut into pieces."""
    with _file(_hurt(DATA * 3 + FILE, hurts)) as path, mock.patch.object(batches, "BATCH_BYTES", batch):
        expected = _exact(path, WANTED)
        assert expected == _in_pieces(path, jobs, piece, one_pass=False)
        assert expected == _in_pieces(path, jobs, piece, one_pass=True)


def _die(*_: object) -> None:
    os._exit(9)


def test_a_process_that_is_killed_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that asked reads in its place."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(FILE * 50)
    monkeypatch.setattr(parallel, "_work", _die)

    assert _exact(path, WANTED) == _in_pieces(path, 2, 500, one_pass=True)


def test_a_file_that_is_replaced_meanwhile_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that was opened is the one that counts, for the other processes too."""
    path, other, start = tmp_path / "t.jsonl", tmp_path / "other.jsonl", parallel._start
    for target, step in ((path, 1), (other, 2)):
        target.write_bytes(lines(*(row(seq, event="train_step", step=step) for seq in range(200))))
    expected = _exact(path, WANTED)

    def late(*arguments: Any) -> Any:
        other.replace(path)
        return start(*arguments)

    monkeypatch.setattr(parallel, "_start", late)
    assert expected == _in_pieces(path, 2, 500, one_pass=True)
    assert expected != _exact(path, WANTED)


def test_a_call_cut_in_one_piece_and_published_in_the_next(tmp_path: Path) -> None:
    """Calls are split at refits whichever process met these: 40 of 100 tokens on version 1, 60 on version 2.

    Trained as version 3 that is (40 * 2 + 60 * 1) / 100 = 1.4 versions.
    """
    path = tmp_path / "t.jsonl"
    rows = [
        row(0, event="weight_sync", replaced_version=1, new_version=2, calls=[["c", 40]]),
        *(row(seq, event="attempt_sealed", attempt_id=str(seq)) for seq in range(1, 50)),
        row(50, event="group_published", group_id="g", call_versions=[["c", 1, 100]]),
        row(51, event="train_step", step=1, trained_version=3, group_ids=["g"]),
        *(row(seq, event="attempt_sealed", attempt_id=str(seq)) for seq in range(52, 80)),
    ]
    path.write_bytes(lines(*rows))
    with mock.patch.multiple(parallel, PIECE_BYTES=200, MIN_BYTES=0):
        assert {1: pytest.approx(1.4)} == recomputed_batch_age_by_step(read_events(path, jobs=3))


def test_a_reading_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    """Closing the reader ends them."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(FILE * 200)
    with mock.patch.multiple(parallel, PIECE_BYTES=500, MIN_BYTES=0), read_events(path, jobs=2) as reader:
        next(reader.only(["train_step"]))
    assert [] == multiprocessing.active_children()
