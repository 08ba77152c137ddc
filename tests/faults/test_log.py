"""Trouble is told to the host's log once a minute, never by a thread that emits, and whatever the log does then."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faults import child
from tests.faults.log_programs import (
    bad_place,
    from_trouble_to_close,
    handler_that_acts,
    no_trouble,
    overflow,
    several_recorders,
    stuck_handler,
    trouble_that_comes_and_goes,
)
from tests.record.written import all_rows

ONCE = [["rtrace_otel", "WARNING", "rtrace-writer"]]
CLOSE_S = 2.5


def run(program: Callable[..., None], *args: object) -> dict[str, Any]:
    """What a program answers; it must end well and without a word on stderr."""
    finished = child.run(program, *args)
    assert (0, "") == (finished.code, finished.err)
    answer: dict[str, Any] = json.loads(finished.out)
    return answer


def test_from_trouble_to_close(tmp_path: Path) -> None:
    """A place that cannot be written, an overflow and a close that gives up together make one line."""
    assert {"closed": False, "told": ONCE} == run(from_trouble_to_close, tmp_path)


def test_trouble_that_comes_and_goes(tmp_path: Path) -> None:
    """A recorder that recovers and fails again within the minute does not say so twice."""
    assert {"closed": True, "told": ONCE} == run(trouble_that_comes_and_goes, tmp_path)


def test_queue_that_overflows(tmp_path: Path) -> None:
    """An overflow is told once, by the worker, although every emit meets it."""
    assert {"closed": True, "told": ONCE} == run(overflow, tmp_path)


def test_several_recorders(tmp_path: Path) -> None:
    """It is the host that must not be flooded: four recorders in the same trouble make one line."""
    assert {"closed": True, "told": ONCE} == run(several_recorders, tmp_path)


def test_no_trouble(tmp_path: Path) -> None:
    """A recorder that works says nothing."""
    assert {"closed": True, "told": []} == run(no_trouble, tmp_path)


def test_handler_that_is_stuck(tmp_path: Path) -> None:
    """While the host's log does not return, events are taken at once."""
    answer = run(stuck_handler, tmp_path)

    assert (True, ONCE, True) == (answer["closed"], answer["told"], answer["seconds"] < 5.0)


@pytest.mark.parametrize(
    ("what", "answers", "more", "reason"),
    [
        ("emits", [None], ["warned"], "closed"),
        ("flushes", [False], [], "closed"),  # the worker cannot wait for itself
        ("closes", [None], [], "trouble"),
        ("fails", [None], [], "closed"),
    ],
)
def test_handler_that_acts(tmp_path: Path, what: str, answers: list[object], more: list[str], reason: str) -> None:
    """A handler that uses the recorder from the worker's own thread, or fails, costs no row and hangs nothing."""
    answer = run(handler_that_acts, tmp_path, what)

    rows = all_rows(tmp_path / "obstacle" / "trace.jsonl")
    assert {"closed": True, "told": ONCE, "answers": answers} == answer
    assert ["run_started", *range(200), *more, "run_ended"] == [row.get("n", row["event"]) for row in rows]
    assert (reason, list(range(len(rows)))) == (rows[-1]["reason"], [row["seq"] for row in rows])


@pytest.mark.parametrize(
    "path", ["/proc/no/such/folder/trace.jsonl", "/dev/null/trace.jsonl", "/" + "x" * 300, "/aNULb"]
)
def test_place_where_no_file_can_be(tmp_path: Path, path: str) -> None:
    """The host is told once, nothing blocks and nothing raises, also in no thread, and close claims no success."""
    answer = run(bad_place, tmp_path, path)

    assert (False, False, 0, True) == (
        answer["closed"],
        answer["flushed"],
        answer["written"],
        answer["seconds"] < CLOSE_S,
    )
    assert [["rtrace_otel", "WARNING"]] == [told[:2] for told in answer["told"]]
