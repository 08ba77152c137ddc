"""A trace in several files: any order, each once, and nothing lost between them."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.parts import FIRST_ROWS, Parts
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from tests.analysis.ledger.stories import ONE_STOP
from tests.analysis.rows import lines, row


def write(folder: Path, name: str, *rows: Row, after: bytes = b"") -> str:
    """A file of rows; its path."""
    path = folder / name
    path.write_bytes(lines(*rows) + after)
    return str(path)


def test_in_any_order(tmp_path: Path) -> None:
    """Three parts of one trace give the report of the whole, however they are named and given."""
    paths = [
        write(tmp_path, "c", *ONE_STOP[:5]),
        write(tmp_path, "a", *ONE_STOP[5:14]),
        write(tmp_path, "b", *ONE_STOP[14:]),
    ]
    whole = restore_report(ONE_STOP)

    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        parts = Parts([paths[place] for place in order])
        assert tuple(paths) == parts.paths
        assert f"{paths[0]} and 2 more files" == parts.name
        assert whole == restore_report(read_events(parts))


def test_two_parts_of_one_moment(tmp_path: Path) -> None:
    """Rows of one run with one time are told apart by their number."""
    late = write(tmp_path, "1", row(7) | {"t": 5.0})
    early = write(tmp_path, "2", row(6) | {"t": 5.0})

    assert (early, late) == Parts([late, early]).paths
    assert f"{early} and 1 more file" == Parts([late, early]).name


def test_the_first_time_counts(tmp_path: Path) -> None:
    """A part may begin with rows of no sensible time; one without any time comes last."""
    odd = write(tmp_path, "odd", *(row(number) | {"t": None} for number in range(FIRST_ROWS - 1)), row(1) | {"t": 1.0})
    none = write(tmp_path, "none", *(row(number) | {"t": "x"} for number in range(FIRST_ROWS)), row(1) | {"t": 0.0})
    good = write(tmp_path, "good", row(2) | {"t": 2.0})

    assert (odd, good, none) == Parts([none, good, odd]).paths


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    """By the same name, by another path, by a link, or by its folder: no row counts twice."""
    path = write(tmp_path, "rollout_trace.jsonl", *ONE_STOP)
    (tmp_path / "link").symlink_to(path)
    parts = Parts([path, str(tmp_path / "link"), str(tmp_path), f"{tmp_path}/../{tmp_path.name}/rollout_trace.jsonl"])

    assert (path,) == parts.paths
    assert path == parts.name
    assert list(ONE_STOP) == list(read_events(parts))


def test_a_part_without_its_last_newline(tmp_path: Path) -> None:
    """The next part begins a line of its own; a torn last line is one damage and takes nothing along."""
    first = write(tmp_path, "1", row(0), after=b'{"t": 1, "ru')
    second = write(tmp_path, "2", row(1))
    reader = read_events(Parts([second, first]))

    assert [row(0), row(1)] == list(reader)
    assert [2] == [damage.line for damage in reader.report.damages]


def test_compressed_parts(tmp_path: Path) -> None:
    """Gzip and plain parts go together; a torn archive is reported, and the part after it is read."""
    plain = write(tmp_path, "2", row(1))
    packed, torn = tmp_path / "1.gz", tmp_path / "torn.gz"
    packed.write_bytes(gzip.compress(lines(row(0))))
    torn.write_bytes(gzip.compress(lines(row(0)))[:-9])

    assert [row(0), row(1)] == list(read_events(Parts([plain, str(packed)])))
    reader = read_events(Parts([plain, str(torn)]))
    assert [row(0), row(1)] == list(reader)
    assert [(2, f"torn archive {torn}")] == [
        (found.line, found.detail.split(":")[0]) for found in reader.report.damages
    ]


def test_an_empty_part(tmp_path: Path) -> None:
    """It adds nothing."""
    empty, full = write(tmp_path, "empty"), write(tmp_path, "full", row(0))

    assert [row(0)] == list(read_events(Parts([empty, full])))
    assert (full, empty) == Parts([empty, full]).paths


def test_a_part_that_is_not_there(tmp_path: Path) -> None:
    """The message names it."""
    with pytest.raises(TraceFileError, match=r"gone\.jsonl: no such file"):
        Parts([write(tmp_path, "1", row(0)), str(tmp_path / "gone.jsonl")])
    with pytest.raises(TraceFileError, match="in this folder"):
        Parts([write(tmp_path, "1", row(0)), str(tmp_path)])


def test_a_pipe_among_several_parts(tmp_path: Path) -> None:
    """What is read to find its place could not be read again: rows would be missing without a word."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(TraceFileError, match=r"pipe: is no regular file\. Give a pipe alone"):
        Parts([write(tmp_path, "1", row(0)), str(pipe)])
