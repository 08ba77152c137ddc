"""Reads what a recorder wrote, more strictly than the product's own reader does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from rtrace_otel.events import Row
from rtrace_otel.record.trace import RolloutTrace

OWN_EVENTS = frozenset({"run_started", "run_ended"})
STAMPS = ("t", "run", "seq")


def strict_row(line: bytes) -> Row:
    """One line as strict JSON, which two independent decoders accept."""
    row = json.loads(line.decode("utf-8"), parse_constant=_refuse, object_pairs_hook=_without_duplicates)
    assert isinstance(msgspec.json.decode(line), dict)
    assert isinstance(row, dict)
    return row


def all_rows(path: Path) -> list[Row]:
    """Every row of a file that must end in a newline.

    Blank lines are passed over: a run that begins while another one writes may see half of a write, and then begins
    with a newline that was not needed.
    """
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [strict_row(line) for line in data.splitlines() if line]


def event_rows(path: Path) -> list[Row]:
    """The rows that the test's own calls made."""
    return [row for row in all_rows(path) if row["event"] not in OWN_EVENTS]


def without_stamps(rows: Iterable[Row]) -> list[Row]:
    """Rows without what differs between two recordings of the same events."""
    return [{key: value for key, value in row.items() if key not in STAMPS} for row in rows]


def recorded(path: Path, act: Callable[[RolloutTrace], None]) -> list[Row]:
    """The rows, without stamps, that a few calls leave in a new file."""
    trace = RolloutTrace(path)
    act(trace)
    assert trace.close()
    return without_stamps(event_rows(path))


def emitted(path: Path, /, **fields: Any) -> Row:
    """The fields that one ``emit`` between two others leaves in a new file; the neighbours must be whole."""

    def act(trace: RolloutTrace) -> None:
        trace.emit("before", n=1)
        trace.emit("odd", **fields)
        trace.emit("after", n=2)

    before, odd, after = recorded(path, act)
    assert (before, after) == ({"event": "before", "n": 1}, {"event": "after", "n": 2})
    assert odd.pop("event") == "odd"
    return odd


def _refuse(constant: str) -> None:
    raise AssertionError(f"not strict JSON: {constant}")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    assert len(row) == len(pairs), f"a key stands twice: {pairs}"
    return row
