"""How rows reach the file: whole lines, few writes, and patience with a system that takes only a part."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.record.disk import FaultyDisk
from tests.record.hold import HeldClock
from tests.record.written import all_rows

OTHER = b'{"event":"other","t":1.0,"run":"other","seq":0}\n'


@pytest.fixture
def disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    """The file's disk, sound until the test makes it fail."""
    return FaultyDisk(file, monkeypatch)


def record(file: Path, rows: int, *, text: str = "x") -> RolloutTrace:
    """Emit rows that wait in the queue together, and close."""
    clock = HeldClock()
    trace = RolloutTrace(file, clock=lambda: clock, run="r")
    for n in range(rows):
        trace.emit("mine", n=n, text=text)
    clock.release()
    assert trace.close()
    return trace


def test_one_write_for_each_chunk_of_whole_lines(file: Path, disk: FaultyDisk) -> None:
    """Rows go in chunks of about 64, each whole lines in one write."""
    record(file, 6400)

    sizes = [write.count(b"\n") for write in disk.writes]
    assert (6402, True) == (sum(sizes), all(write.endswith(b"\n") for write in disk.writes))
    assert (True, True) == (max(sizes) <= 128, len(sizes) <= 6400 / 32)


def test_file_is_opened_to_append(file: Path, disk: FaultyDisk) -> None:
    """What others write to the file in the meantime is not overwritten."""
    trace = RolloutTrace(file, run="r")
    for _ in range(3):
        trace.emit("mine")
        trace.flush()
        with file.open("ab") as other:
            other.write(OTHER)
    trace.close()

    assert ["run_started", *["mine", "other"] * 3, "run_ended"] == [row["event"] for row in all_rows(file)]
    assert 5 == len(disk.writes)


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_partial_writes(file: Path, disk: FaultyDisk, most: int) -> None:
    """A system that takes a few bytes at a time gets the same file, without a byte twice or missing."""
    disk.on_write = lambda fd, data: disk.real_write(fd, data[:most])
    record(file, 100, text="é" * 10)

    assert [("mine", n, "é" * 10) for n in range(100)] == [
        (row["event"], row["n"], row["text"]) for row in all_rows(file)[1:-1]
    ]
    assert list(range(102)) == [row["seq"] for row in all_rows(file)]
