"""The typed recording methods, written from the registry."""

from __future__ import annotations

from rtrace_otel.events import EVENTS
from rtrace_otel.fields import EventType, Field, FieldType

_ANNOTATIONS = {
    FieldType.ID: "Id",
    FieldType.TEXT: "str",
    FieldType.INT: "int",
    FieldType.FLOAT: "float",
    FieldType.BOOL: "bool",
    FieldType.IDS: "Iterable[Id]",
    FieldType.TOKENS_BY_VERSION: "Mapping[int, int]",
    FieldType.CALLS: "Iterable[Sequence[Any]]",
    FieldType.CALL_VERSIONS: "Iterable[Sequence[Any]]",
    FieldType.OBJECT: "Mapping[str, Any]",
}
_COPIED = {FieldType.IDS, FieldType.TOKENS_BY_VERSION, FieldType.CALLS, FieldType.CALL_VERSIONS, FieldType.OBJECT}

_TYPED_HEAD = '''"""One recording method per event, with positional fields: the fast path. Generated from the registry.

Do not edit: change ``rtrace_otel/events.py`` and run ``python -m tests.generate``.

Each method does what ``emit`` does, without the cost of a dict per event. ``None`` leaves an optional field out;
``extra`` takes fields of your own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from rtrace_otel.record.clock import now
from rtrace_otel.record.queue import RowQueue

Id: TypeAlias = str | int | UUID
"""Ids of any type are written as strings."""


def _copy(value: Any) -> Any:
    """A shallow copy, so that a later change by the caller does not change the row; never raises."""
    try:
        if isinstance(value, (str, bytes)):
            return value
        return dict(value) if isinstance(value, Mapping) else list(value)
    except Exception:  # not iterable, or its iteration failed: the worker writes what it is
        return value


def _shallow(value: Any) -> Any:
    try:
        if isinstance(value, list):
            return list(value)
        return dict(value) if isinstance(value, dict) else value
    except Exception:  # a subclass may do anything: the worker writes what it is
        return value


def _copies(extra: Mapping[str, Any]) -> Any:
    try:
        return {n: _shallow(v) for n, v in extra.items()}
    except Exception:  # not a mapping: the worker writes what it is
        return {"extra": extra}


class TypedEvents:
    """The vocabulary as methods. None of them blocks or raises."""

    _queue: RowQueue
'''


def typed_methods() -> str:
    """Source of ``rtrace_otel/record/typed.py``."""
    return _TYPED_HEAD + "".join(_method(event) for event in EVENTS if event.name not in _OWN_EVENTS)


_OWN_EVENTS = {"run_started", "run_ended", "trace_gap", "spans_delivered", "clock_adjusted"}
"""Rows that the recorder writes itself."""


def _method(event: EventType) -> str:
    fields = (*event.required, *event.optional)
    parameters = "".join(
        f"        {field.name}: {_ANNOTATIONS[field.type]}{'' if field.required else ' | None = None'},\n"
        for field in fields
    )
    values = "".join(f"{_value(field)}, " for field in event.fields)
    arguments = "".join(
        f"            {field.name}: {field.meaning}{f' Unit: {field.unit}.' if field.unit else ''}\n"
        for field in fields
    )
    return f'''
    def {event.name}(
        self,
{parameters}        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """{event.meaning}

        Args:
{arguments}            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("{event.name}", stamp, {values}None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)
'''


def _value(field: Field) -> str:
    if field.type not in _COPIED:
        return field.name
    return f"_copy({field.name})" if field.required else f"None if {field.name} is None else _copy({field.name})"
