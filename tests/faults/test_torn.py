"""A run that was killed in mid-write: the next one begins on a line of its own, and neither loses a whole row."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.trace import RolloutTrace


def record(path: Path) -> str:
    """A run of five rows; its id."""
    with RolloutTrace(path) as trace:
        for n in range(3):
            trace.emit("mine", n=n, text='é\\"{}')
    return trace.run


@pytest.mark.parametrize("missing", [1, 2, 3, 5, 20, 60, 100, 140])
def test_file_cut_short(tmp_path: Path, missing: int) -> None:
    """However many bytes of the last write are missing, whole rows before them and all rows after them are read."""
    path = tmp_path / "trace.jsonl"
    first = record(path)
    data = path.read_bytes()
    path.write_bytes(data[:-missing])
    second = record(path)

    whole = data[:-missing].count(b"\n") + (missing == 1)  # a row that lacks only its newline is whole
    events = read_events(path)
    rows = list(events)
    assert [(first, seq) for seq in range(whole)] + [(second, seq) for seq in range(5)] == [
        (row["run"], row["seq"]) for row in rows
    ]
    torn = {} if missing == 1 or data[:-missing].endswith(b"\n") else {DamageKind.TORN_ROW: 1}
    assert torn == events.report.damage_counts


def test_three_kills_in_a_row(tmp_path: Path) -> None:
    """Each torn end costs at most its own row."""
    path = tmp_path / "trace.jsonl"
    runs = []
    for _ in range(3):
        runs.append(record(path))
        path.write_bytes(path.read_bytes()[:-7])
    runs.append(record(path))

    events = read_events(path)
    rows = [(row["run"], row["seq"]) for row in events]
    assert [(run, seq) for run in runs[:3] for seq in range(4)] + [(runs[3], seq) for seq in range(5)] == rows
    assert {DamageKind.TORN_ROW: 3} == events.report.damage_counts


@pytest.mark.parametrize("tail", [b"\0" * 4096, b"\xff\xfe", b'{"event":"x"', b"\n\n", b"\r\n", b'"'])
def test_garbage_at_the_end(tmp_path: Path, tail: bytes) -> None:
    """Whatever a crashed machine left at the end of the file, the next run's rows are all read."""
    path = tmp_path / "trace.jsonl"
    first = record(path)
    path.write_bytes(path.read_bytes() + tail)
    second = record(path)

    rows = [(row["run"], row["seq"]) for row in read_events(path)]
    assert [(run, seq) for run in (first, second) for seq in range(5)] == rows
