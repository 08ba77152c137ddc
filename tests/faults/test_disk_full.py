"""A disk that is full: rows wait, and are all there, whole and once, when there is room again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.trace import RolloutTrace
from tests.faults import child
from tests.faults.disk_programs import close_when_full, exit_when_full, fill_then_free, overflow, two_recorders
from tests.pace import within

CLOSE_S = 2.5


def run(program: Callable[..., None], *args: object) -> dict[str, Any]:
    """What a program answers; it must end well, and nothing but the recorder's warning may stand on stderr."""
    finished = child.run(program, *args)
    assert (0, 0) == (finished.code, finished.err.count("Traceback")), finished.err
    answer: dict[str, Any] = json.loads(finished.out)
    return answer


SIZES = [(3000,), (0,), (1,), (64 * 90 + 7,), (2001, 40_003, 90_005, 90_100)]


@pytest.mark.parametrize("sizes", SIZES)
def test_space_again(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Nothing is lost or doubled, wherever the space ended, and there is no talk of a loss."""
    path = tmp_path / "trace.jsonl"
    answer = run(fill_then_free, path, *sizes)

    rows = list(read_events(path))
    assert ["run_started", *range(1, answer["emitted"] + 1), "run_ended"] == [
        row.get("n", row["event"]) for row in rows
    ]
    assert list(range(answer["emitted"] + 2)) == [row["seq"] for row in rows]
    assert (False, True, True, 0) == tuple(answer[key] for key in ("flushed_when_full", "flushed", "closed", "lost"))
    assert "File too large" in answer["error"]


@pytest.mark.parametrize("sizes", SIZES)
def test_only_heads_of_rows_are_left(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """A row that the disk took in part is written again on a new line; its head is all that is damaged."""
    path = tmp_path / "trace.jsonl"
    answer = run(fill_then_free, path, *sizes)
    reader = read_events(path)

    assert answer["emitted"] + 2 == len(list(reader))
    assert {DamageKind.TORN_ROW} >= set(reader.report.damage_counts)
    assert len(sizes) >= sum(reader.report.damage_counts.values())


@pytest.mark.parametrize("size", [3000, 20_000])
def test_queue_overflows_while_the_disk_is_full(tmp_path: Path, size: int) -> None:
    """The oldest rows are kept, and one row says exactly how many of the newest are missing, and why."""
    path = tmp_path / "trace.jsonl"
    answer = run(overflow, path, size)

    rows = list(read_events(path))
    kept = [row["n"] for row in rows if row["event"] == "mine"]
    gaps = [row for row in rows if row["event"] == "trace_gap"]
    assert (True, True, 5000) == (answer["flushed"], answer["closed"], kept[-1])
    assert list(range(len(kept) - 1)) == kept[:-1]
    assert [(5000 - len(kept) + 1, True, True)] == [
        (gap["lost"], "queue full" in gap["reason"], "File too large" in gap["reason"]) for gap in gaps
    ]
    assert answer["lost"] == gaps[0]["lost"]
    assert ["mine", "trace_gap", "mine", "run_ended"] == [row["event"] for row in rows[-4:]]
    assert list(range(len(rows))) == [row["seq"] for row in rows]


@pytest.mark.parametrize("size", [0, 3000, 3001, 3050])
def test_close_while_the_disk_is_full(tmp_path: Path, size: int) -> None:
    """Close says False within two seconds; what the file holds is whole but for its last row, and can go on."""
    path = tmp_path / "trace.jsonl"
    answer = run(close_when_full, path, size)
    with RolloutTrace(path, run="next") as trace:
        trace.emit("mine", n=-1)

    events = read_events(path)
    rows = list(events)
    kept = [row for row in rows if row["run"] == "r"]
    assert (False, True) == (answer["closed"], answer["seconds"] < CLOSE_S)
    assert list(range(len(kept))) == [row["seq"] for row in kept]
    assert ["run_started", "mine", "run_ended"] == [row["event"] for row in rows[len(kept) :]]
    assert 1 >= sum(events.report.damage_counts.values())


@pytest.mark.parametrize("size", [0, 3000])
def test_loss_at_close_is_counted(tmp_path: Path, size: int) -> None:
    """``stats`` says how many rows are not in the file after such a close."""
    path = tmp_path / "trace.jsonl"
    answer = run(close_when_full, path, size)
    kept = len(list(read_events(path)))

    assert 1001 - kept == answer["lost"]


def test_exit_while_the_disk_is_full(tmp_path: Path) -> None:
    """The process ends within two seconds by itself, and with its own status."""

    def measured() -> tuple[int, float]:
        finished = child.run(exit_when_full, tmp_path / "trace.jsonl", 3000)
        return finished.code, finished.ended - float(json.loads(finished.out)["left"])

    assert 0 == within(CLOSE_S + child.END_S, measured)


def test_disk_that_takes_nothing() -> None:
    """A device without any space delays neither the emitting thread nor the end."""
    answer = run(close_when_full, "/dev/full", 10**9)

    assert (False, True, 1001) == (answer["closed"], answer["seconds"] < CLOSE_S, answer["lost"])


def test_two_recorders_of_one_file(tmp_path: Path) -> None:
    """Recorders that share a file and a full disk lose nothing of either."""
    path = tmp_path / "trace.jsonl"
    answer = run(two_recorders, path, 5003)

    rows = list(read_events(path))
    assert [True, True] == answer["closed"]
    assert {run: list(range(2002)) for run in ("r", "s")} == {
        run: [row["seq"] for row in rows if row["run"] == run] for run in ("r", "s")
    }
