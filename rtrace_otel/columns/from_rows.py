"""Records that need one row of the file: events, refits, checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from rtrace_otel.analysis.checked import amount, between, duration, integer, name, names, number, time_of
from rtrace_otel.columns.source import Sink
from rtrace_otel.columns.specs_of_runs import EVENTS
from rtrace_otel.columns.types import ColumnType, Record
from rtrace_otel.events import Row
from rtrace_otel.text import without_surrogates


def _text(value: Any) -> str | None:
    """An id or a text; an id may have been written as a number."""
    return value if isinstance(value, str) else str(value) if type(value) is int else None


_READ: Final[Mapping[ColumnType, Callable[[Any], Any]]] = {
    ColumnType.TEXT: _text,
    ColumnType.INT: integer,
    ColumnType.FLOAT: number,
}
_COLUMNS: Final = {column.name: _READ[column.type] for column in EVENTS.columns if column.name not in {"line", "rest"}}


class EventRecords:
    """The table ``events``."""

    def __init__(self, sink: Sink) -> None:
        """Give records to a sink."""
        self._sink = sink

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file."""
        self._sink("events", event_record(row, line))

    def finish(self) -> None:
        """Nothing is still to come."""


def event_record(row: Row, line: int) -> Record:
    """A row with its common fields apart, and the rest of it as JSON."""
    rest: dict[str, Any] = {}
    record: dict[str, Any] = {"line": line}
    for key, value in row.items():
        read = _COLUMNS.get(key)
        if read is None or value is None or (found := read(value)) is None:
            rest[key] = value
        else:
            record[key] = found
    record["rest"] = _as_json(rest) if rest else None
    return record


def _as_json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(without_surrogates(value)).decode()


class SyncRecords:
    """The tables ``refits`` and ``checkpoints``."""

    def __init__(self, sink: Sink) -> None:
        """Give records to a sink."""
        self._sink = sink
        self._sync_since: dict[str, float | None] = {}
        self._checkpoint_since: dict[str, float | None] = {}

    def add(self, row: Row, line: int) -> None:  # noqa: ARG002 - the protocol's signature
        """Take the next row of the file."""
        event = row["event"]
        if event == "weight_sync_started":
            self._sync_since[row["run"]] = time_of(row)
        elif event == "weight_sync":
            self._sink("refits", self._refit(row))
        elif event == "checkpoint_started":
            self._checkpoint_since[row["run"]] = time_of(row)
        elif event == "checkpoint_published":
            self._sink("checkpoints", self._checkpoint(row))

    def finish(self) -> None:
        """What has not ended is no refit and no checkpoint."""

    def _refit(self, row: Row) -> Record:
        ended, seconds = time_of(row), duration(row.get("seconds"))
        started = self._sync_since.pop(row["run"], None)
        calls = row.get("calls")
        calls = calls if isinstance(calls, (list, tuple)) else []
        return {
            "run": row["run"],
            "started": _start(started, ended, seconds),
            "ended": ended,
            "seconds": seconds,
            "replaced_version": row.get("replaced_version"),
            "new_version": row.get("new_version"),
            "is_refit": row.get("replaced_version") != row.get("new_version"),
            "calls": len(calls),
            "call_tokens": sum(_tokens(call) for call in calls),
        }

    def _checkpoint(self, row: Row) -> Record:
        published, said = time_of(row), duration(row.get("seconds"))
        started = self._checkpoint_since.pop(row["run"], None)
        seconds = said
        if seconds is None and started is not None and published is not None:
            seconds = max(published - started, 0.0)
        groups = row.get("groups")
        known = isinstance(groups, (list, tuple))
        return {
            "run": row["run"],
            "checkpoint_id": name(row.get("checkpoint_id")),
            "step": row.get("step"),
            "kind": name(row.get("kind")),
            "started": _start(started, published, said),
            "published": published,
            "seconds": seconds,
            "groups": len(names(groups)) if known else None,
            "group_ids": names(groups) if known else None,
        }


def _start(started: float | None, ended: float | None, seconds: float | None) -> float | None:
    """When something began: as a row says, else its end minus how long it took."""
    if started is not None or ended is None or seconds is None or between(seconds, ended) is None:
        return started
    return ended - seconds


def _tokens(call: Any) -> int:
    return amount(call[1]) or 0 if isinstance(call, (list, tuple)) and len(call) > 1 else 0
