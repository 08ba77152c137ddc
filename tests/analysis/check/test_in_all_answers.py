"""The check alone, as a second process does it, gives what the check in one pass with other analyses gives."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.answers import answers
from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.report.check import check_json
from rtrace_otel.report.formats import to_json
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.reading.test_reader_fuzz import DATA, HURTS, _hurt

SIMULATED = b"".join(
    msgspec.json.encode(found) + b"\n" for found in simulate(SimulationSettings(steps=12, stops=2)).iter_rows()
)


def test_findings_and_ledger(tmp_path: Path) -> None:
    """Of a file with damage: the same ones, with the same lines."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(SIMULATED[: len(SIMULATED) * 2 // 3] + b"\n\0\0\n" + DATA)
    expected, found = answers(read_events(path)).check, check_trace(read_events(path))

    assert expected == found
    assert len(found.findings) > 1
    assert found.ledger is not None


@settings(deadline=None, max_examples=50)
@given(st.lists(HURTS, max_size=4), st.integers(0, len(SIMULATED)))
def test_it_is_that_of_all_answers(hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]], cut: int) -> None:
    """However the file is damaged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(_hurt(DATA * 2, hurts) + SIMULATED[max(0, cut - 20_000) : cut])
        expected, found = answers(read_events(path)).check, check_trace(read_events(path))
    found.self_check()

    assert to_json("check", check_json(expected), None) == to_json("check", check_json(found), None)
