"""From what the caller's thread queued to rows: plain values, ids as strings, in the order given.

Two forms of event are queued. ``(fields, stamp, event)`` comes from ``emit``; ``(event, stamp, value, ..., extra)``
from the typed methods, with one value for each field of the registry, ``None`` where an optional one was left out.
Markers for the worker stand among them as ``(marker, stamp)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from rtrace_otel.events import EVENTS, FIELD_TYPES, Row
from rtrace_otel.fields import FieldType
from rtrace_otel.record.clock import RunClock
from rtrace_otel.record.plain import clipped_repr, to_id, to_plain

Queued: TypeAlias = tuple[Any, ...]
"""One event as the caller's thread left it."""

RESERVED: Final = frozenset({"event", "t", "run", "seq"})
"""Keys that every row has; a field of the user with such a name gets a trailing underscore."""


def _ids(value: Any) -> Any:
    plain = to_plain(value)
    return [to_id(item) for item in plain] if isinstance(plain, list) else plain


def _with_id_first(value: Any) -> Any:
    """Entries whose first column is an id: ``calls`` and ``call_versions``."""
    plain = to_plain(value)
    if not isinstance(plain, list):
        return plain
    return [[to_id(entry[0]), *entry[1:]] if isinstance(entry, list) and entry else entry for entry in plain]


_BY_FIELD_TYPE: Final[dict[FieldType, Callable[[Any], Any]]] = {
    FieldType.ID: to_id,
    FieldType.IDS: _ids,
    FieldType.CALLS: _with_id_first,
    FieldType.CALL_VERSIONS: _with_id_first,
}
_CONVERTERS: Final = {name: _BY_FIELD_TYPE[kind] for name, kind in FIELD_TYPES.items() if kind in _BY_FIELD_TYPE}
_IDS: Final = frozenset(name for name, kind in FIELD_TYPES.items() if kind is FieldType.ID)
_TYPED_FIELDS: Final = {event.name: tuple(field.name for field in event.fields) for event in EVENTS}
_REQUIRED: Final = {event.name: frozenset(field.name for field in event.required) for event in EVENTS}


class RowBuilder:
    """Numbers the rows of one run and makes them plain.

    Args:
        run: The run's id.
        clock: Turns stamps into Unix seconds.
    """

    def __init__(self, run: str, clock: RunClock) -> None:
        """Start at sequence number 0."""
        self._run = run
        self._clock = clock
        self._seq = 0

    def build(self, items: Iterable[Queued], on_marker: Callable[[Any, list[Row]], None]) -> list[Row]:
        """The rows of queued events. Never raises.

        Args:
            items: What was queued, oldest first.
            on_marker: Called for each marker, with the rows before it; it may add rows of its own.
        """
        rows: list[Row] = []
        run, clock, offset, own_keys = self._run, self._clock, self._clock.applied_offset_s, len(RESERVED)
        for item in items:
            head = item[0]
            if type(head) is not dict:
                if type(head) is str:
                    rows.append(self._build_typed(head, item))
                else:
                    on_marker(head, rows)
                continue
            event = item[2]
            if type(event) is not str or not event:
                event = _event_name(event, head)
            t = int((item[1] + offset) * 1e6) / 1e6  # as RunClock.unix_s does it, without the call
            if t < clock.last_unix_s:
                t = clock.last_unix_s
            else:
                clock.last_unix_s = t
            row = {"event": event, "t": t, "run": run, "seq": self._seq, **head}
            self._seq += 1
            if len(row) != len(head) + own_keys:
                row = self._with_renamed(event, head)
            else:
                for name in head:
                    kind = type(head[name])
                    if kind is not str and (kind is not int or name in _IDS):
                        row[name] = _plain_field(name, head[name])
            rows.append(row)
        return rows

    def _build_typed(self, event: str, item: Queued) -> Row:
        row = self._open(event, item[1])
        for name, value in zip(_TYPED_FIELDS[event], item[2:-1], strict=True):
            kind = type(value)
            if kind is str or (kind is int and name not in _IDS):
                row[name] = value
            elif value is not None or name in _REQUIRED[event]:
                row[name] = _plain_field(name, value)
        if item[-1]:
            self._add(row, item[-1])
        return row

    def own(self, event: str, stamp: float, fields: Iterable[tuple[str, Any]]) -> Row:
        """A row of the recorder itself."""
        row = self._open(event, stamp)
        row.update((name, _plain_field(name, value)) for name, value in fields)
        return row

    def _with_renamed(self, event: str, fields: dict[str, Any]) -> Row:
        """The row just numbered, again, because fields of the user overwrote its own keys."""
        row = {"event": event, "t": self._clock.last_unix_s, "run": self._run, "seq": self._seq - 1}
        self._add(row, fields)
        return row

    @staticmethod
    def _add(row: Row, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            key = name if type(name) is str else to_id(name)
            if key in RESERVED:
                key += "_"
                while key in fields:
                    key += "_"
            row[str(key)] = _plain_field(key, value)

    def _open(self, event: str, stamp: float) -> Row:
        row = {"event": event, "t": self._clock.unix_s(stamp), "run": self._run, "seq": self._seq}
        self._seq += 1
        return row


def _plain_field(name: str, value: Any) -> Any:
    return value if type(value) is str or value is None else _CONVERTERS.get(name, to_plain)(value)


def _event_name(event: Any, fields: dict[str, Any]) -> str:
    """The name of an event that was not given as a string; ``emit(event="x")`` arrives among the fields."""
    if type(event) is str and not event and "event" in fields:
        event = fields.pop("event")
    plain = to_plain(event)
    return plain if isinstance(plain, str) and plain else clipped_repr(plain)
