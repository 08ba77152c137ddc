"""What the ends of a file say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.watch import glance as module
from rtrace_otel.analysis.watch.glance import Glance, glance
from rtrace_otel.events import Row
from tests.cli.conftest import JOB, RUN_B
from tests.cli.program import write
from tests.report.history import event, started, trace


def told(path: Path) -> dict[str, Any]:
    """A glance, without size and time of the file."""
    found = glance(path)
    assert (path.stat().st_size, path.stat().st_mtime) == (found.size, found.modified)
    return {name: getattr(found, name) for name in ("host", "started", "last_row", "last_step", "run", "ended")}


def test_a_job_that_has_ended(tmp_path: Path) -> None:
    """Host and time of the first row, the last step, and the reason of the last run."""
    expected = {"host": "node1", "started": 1000.0, "last_row": 1019.0, "last_step": 6, "run": RUN_B, "ended": "closed"}
    assert expected == told(write(tmp_path, JOB))


def test_the_middle_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A last line that is torn, or a first one of the tail, does not mislead."""
    monkeypatch.setattr(module, "HEAD_BYTES", 200)
    monkeypatch.setattr(module, "TAIL_BYTES", 400)
    rows: list[Row] = trace(started("a"), *(event("a", "train_step", step=step) for step in range(100)))
    path = write(tmp_path, rows)
    with path.open("a") as file:
        file.write('{"event":"train_step","t":1')
    assert {"host": "node1", "started": 1000.0, "last_row": 1100.0, "last_step": 99, "run": "a", "ended": None} == told(
        path
    )


def test_what_is_no_trace(tmp_path: Path) -> None:
    """Nothing there, nothing in it, a folder, noise, odd fields: nothing is known, and nothing raised."""
    odd = tmp_path / "odd"
    for content in (b"", b"\n", b"\0" * 500, b"[1]\n{}\n", b'{"event":"train_step","run":1,"t":"x","step":[]}\n'):
        odd.write_bytes(content)
        assert glance(odd).last_step is None
    assert [Glance(), Glance()] == [glance(tmp_path / "none"), glance(tmp_path)]


def test_a_packed_trace(tmp_path: Path) -> None:
    """Only its size is known without unpacking it."""
    (tmp_path / "t.jsonl.gz").write_bytes(json.dumps({}).encode())
    assert Glance(size=2, modified=(tmp_path / "t.jsonl.gz").stat().st_mtime) == glance(tmp_path / "t.jsonl.gz")
