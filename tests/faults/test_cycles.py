"""Values that have no end when they are followed: their row is written in bounded time and memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import child
from tests.faults.cycle_programs import emit_cycle, emit_shared
from tests.record.written import all_rows


def outline(path: Path) -> list[object]:
    """The rows by what must be in them whatever becomes of the odd value."""
    return [
        (row["first"], row["last"], list(row)[4:]) if row["event"] == "odd" else row.get("n", row["event"])
        for row in all_rows(path)
    ]


EXPECTED = ["run_started", 0, (1, 2, ["first", "odd", "last"]), 3, "run_ended"]


@pytest.mark.parametrize("branches", [1, 2, 10, 100])
def test_cycle(tmp_path: Path, branches: int) -> None:
    """A tree whose nodes know their parent costs neither its row nor its neighbours, however many children it has."""
    path = tmp_path / "trace.jsonl"
    finished = child.run(emit_cycle, path, branches)

    assert (0, "") == (finished.code, finished.err)
    assert EXPECTED == outline(path)


@pytest.mark.parametrize("levels", [3, 9, 14])
def test_shared_parts(tmp_path: Path, levels: int) -> None:
    """A value that holds the same part over and over is clipped before it fills the memory."""
    path = tmp_path / "trace.jsonl"
    finished = child.run(emit_shared, path, levels)

    assert (0, "") == (finished.code, finished.err)
    assert EXPECTED == outline(path)
