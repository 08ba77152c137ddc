"""Children of ``multiprocessing`` end without ``atexit``: their rows and their end are written all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.events import Row
from tests.faults import child
from tests.faults.multiprocessing_programs import inherit, make_own, pool
from tests.record.written import all_rows

CODES = {"return": 0, "exception": 1, "sys.exit": 3}


def run(program: Callable[..., None], *args: object) -> dict[str, Any]:
    """What a program answers."""
    finished = child.run(program, *args)
    assert 0 == finished.code, finished.err
    answer: dict[str, Any] = json.loads(finished.out)
    return answer


def runs(path: Path) -> dict[str, list[Row]]:
    """The rows of each run, in file order."""
    found: dict[str, list[Row]] = {}
    for row in all_rows(path) if path.exists() else []:
        found.setdefault(row["run"], []).append(row)
    return found


@pytest.mark.parametrize(("end", "code"), CODES.items())
def test_inherited_recorder(tmp_path: Path, end: str, code: int) -> None:
    """A forked process that emits with its parent's recorder has a run of its own, with an end."""
    path = tmp_path / "trace.jsonl"

    assert {"code": code, "closed": True} == run(inherit, path, end)
    found = runs(path)
    assert ["run_started", "mine", "run_ended"] == [row["event"] for row in found.pop("parent")]
    (own,) = found.values()
    assert (["run_started", "child", "run_ended"], "parent") == ([row["event"] for row in own], own[0]["parent_run"])


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.parametrize(("end", "code"), CODES.items())
def test_recorder_made_in_the_child(tmp_path: Path, method: str, end: str, code: int) -> None:
    """A process that made its own recorder and never closed it loses nothing at its normal end."""
    path = tmp_path / "trace.jsonl"

    assert {"code": code} == run(make_own, path, method, end)
    assert [["run_started", "child", "run_ended"]] == [[row["event"] for row in rows] for rows in runs(path).values()]


@pytest.mark.parametrize("kind", ["Pool", "ProcessPoolExecutor"])
def test_pool(tmp_path: Path, kind: str) -> None:
    """Every task of a pool that was shut down in order is in the file, and so is the end of each process."""
    path = tmp_path / "trace.jsonl"

    assert {"done": list(range(20)), "closed": True} == run(pool, path, kind)
    found = runs(path)
    found.pop("parent")
    assert list(range(20)) == sorted(row["n"] for rows in found.values() for row in rows if row["event"] == "child")
    assert [("run_started", "run_ended")] * len(found) == [
        (rows[0]["event"], rows[-1]["event"]) for rows in found.values()
    ]
