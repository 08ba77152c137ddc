"""Several analyses in one pass give what each gives by itself."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.answers import answers
from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.together import Part, together
from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.rows import lines, row


@pytest.mark.parametrize("stops", [0, 2])
def test_an_overview_is_its_four_parts(stops: int, tmp_path: Path) -> None:
    """Sharing the runs and the ages changes none of the results."""
    path = tmp_path / "t.jsonl"
    rows = simulate(SimulationSettings(steps=20, stops=stops)).iter_rows()
    path.write_bytes(b"".join(msgspec.json.encode(found) + b"\n" for found in rows))
    found = answers(read_events(path))

    assert summarise(read_events(path)) == found.summary
    assert staleness(read_events(path)) == found.age
    assert restore_report(read_events(path)) == found.restore
    assert check_trace(read_events(path)) == found.check


def test_everyone_gets_the_rows_of_the_events_that_they_need(tmp_path: Path) -> None:
    """In file order; who names no events gets all rows."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        lines(row(0, event="weight_sync"), row(1), row(2, event="train_step"), row(3, event="weight_sync"))
    )
    refits: list[Row] = []
    both: list[Row] = []
    every: list[Row] = []
    together(read_events(path), Part(refits.append, {"weight_sync"}), Part(both.append, {"weight_sync", "train_step"}))
    together(read_events(path), Part(every.append))

    assert [[0, 3], [0, 2, 3], [0, 1, 2, 3]] == [[found["seq"] for found in rows] for rows in (refits, both, every)]
