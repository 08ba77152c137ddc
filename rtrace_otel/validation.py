"""Does a row follow the vocabulary? Each problem names the field, what was expected and what was found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, TypeAlias

import msgspec

from rtrace_otel.events import COMMON_FIELDS, EVENTS_BY_NAME
from rtrace_otel.fields import EventType, Field, FieldType

_VERSION = re.compile("-?[0-9]+")
_NOTHING = object()
_Judge: TypeAlias = tuple[str, Callable[[Any], bool], bool]
"""A field, what judges its value, and whether it is required."""

_Plan: TypeAlias = tuple[type[msgspec.Struct], tuple[_Judge, ...]]
"""A struct of the fields whose types msgspec can prove, and the other fields."""

_plans: dict[str, _Plan] = {}
"""By event, made when the first row of it comes."""

_NON_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which a row does not follow the vocabulary.

    Attributes:
        event: The row's event, or ``?`` if it has none.
        field: The field at fault.
        expected: What the registry asks for.
        found: What the row has, clipped.
    """

    event: str
    field: str
    expected: str
    found: str

    def __str__(self) -> str:
        """One line for a person."""
        return f"{self.event}: field {self.field!r}: expected {self.expected}, found {self.found}"


def validate_row(row: Mapping[str, Any]) -> list[Problem]:
    """Check a row against the registry.

    Args:
        row: A row as read from the file. Unknown events and unknown fields are legal and never a problem.

    Returns:
        The problems, empty if there are none.
    """
    event = row.get("event")
    if isinstance(event, str):
        plan = _plans.get(event) or _plan_of(event)
        if plan is not None and _has_types(row, plan[0]) and (not plan[1] or _all_legal(row, plan[1])):
            return []
    known = EVENTS_BY_NAME.get(event) if isinstance(event, str) else None
    name = event if isinstance(event, str) else "?"
    fields = COMMON_FIELDS + (known.fields if known else ())
    return [problem for field in fields if (problem := _check(name, field, row)) is not None]


def _has_types(row: Mapping[str, Any], shape: type[msgspec.Struct]) -> bool:
    """Whether fields have the types of a struct, which is proven in one go, without a loop here."""
    try:
        msgspec.convert(row, shape)
    except (msgspec.MsgspecError, TypeError, ValueError, ArithmeticError, RecursionError):
        return False
    return True


def _all_legal(row: Mapping[str, Any], judges: tuple[_Judge, ...]) -> bool:
    for name, is_legal, required in judges:
        value = row.get(name)
        if not ((value is None and not required) or is_legal(value)):
            return False
    return True


def _check(event: str, field: Field, row: Mapping[str, Any]) -> Problem | None:
    value = row.get(field.name, _NOTHING)
    if value is _NOTHING:
        return Problem(event, field.name, _describe(field), "nothing") if field.required else None
    if value is None and not field.required:
        return None
    if _IS_LEGAL[field.type](value) and (not field.choices or value in field.choices):
        return None
    return Problem(event, field.name, _describe(field), _clip(value))


def _describe(field: Field) -> str:
    if field.choices:
        return "one of " + ", ".join(field.choices)
    return field.type.value + (f" in {field.unit}" if field.unit else "")


def _clip(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _is_int(value: object) -> bool:
    """JSON has one kind of number, so 3.0 is a whole number too."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())


def _is_float(value: object) -> bool:
    return _is_int(value) or isinstance(value, float) or (isinstance(value, str) and value in _NON_FINITE)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_version(key: object) -> bool:
    return _is_int(key) or (isinstance(key, str) and _VERSION.fullmatch(key) is not None)


def _is_tokens_by_version(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_version(k) and _is_int(v) and v >= 0 for k, v in value.items())


def _are_texts(values: list[object]) -> bool:
    return all(map(_is_text, values))


def _begin_with(entries: list[Any], types: tuple[type, ...]) -> bool:
    """Whether all entries are lists that begin with values of exactly these types: column by column, not one by one."""
    if set(map(type, entries)) != {list} or min(map(len, entries)) < len(types):
        return False
    return all(set(map(type, map(itemgetter(place), entries))) == {kind} for place, kind in enumerate(types))


def _is_list_of(*columns: Callable[[object], bool]) -> Callable[[object], bool]:
    """Entries may have further columns: NeMo RL documents them as sequences of any length."""
    plain = tuple(str if column is _is_text else int for column in columns)

    def legal(value: object) -> bool:
        if type(value) is list and _begin_with(value, plain):
            return True
        return isinstance(value, list) and all(
            isinstance(entry, list)
            and len(entry) >= len(columns)
            and all(is_legal(part) for is_legal, part in zip(columns, entry, strict=False))
            for entry in value
        )

    return legal


_IS_LEGAL: dict[FieldType, Callable[[object], bool]] = {
    FieldType.ID: _is_text,
    FieldType.TEXT: _is_text,
    FieldType.INT: _is_int,
    FieldType.FLOAT: _is_float,
    FieldType.BOOL: lambda value: isinstance(value, bool),
    FieldType.IDS: lambda value: isinstance(value, list) and (set(map(type, value)) <= {str} or _are_texts(value)),
    FieldType.TOKENS_BY_VERSION: _is_tokens_by_version,
    FieldType.CALLS: _is_list_of(_is_text, _is_int),
    FieldType.CALL_VERSIONS: _is_list_of(_is_text, _is_int, _is_int),
    FieldType.OBJECT: lambda value: isinstance(value, Mapping),
}

_PROVEN: dict[FieldType, Any] = {
    FieldType.ID: str,
    FieldType.TEXT: str,
    FieldType.INT: int,
    FieldType.FLOAT: int | float,
    FieldType.BOOL: bool,
}
"""Types of which msgspec proves that a value is legal. It may refuse legal ones: they are looked at once more."""


def _plan_of(event: str) -> _Plan | None:
    known = EVENTS_BY_NAME.get(event)
    if known is None:
        return None
    _plans[event] = plan = _made_plan(known)
    return plan


def _made_plan(event: EventType) -> _Plan:
    fields: list[Any] = []
    judges: list[_Judge] = []
    for field in COMMON_FIELDS + event.fields:
        proven: Any = Literal[field.choices] if field.choices else _PROVEN.get(field.type)
        if proven is None:
            judges.append((field.name, _IS_LEGAL[field.type], field.required))
        elif field.required:
            fields.append((field.name, proven))
        else:
            fields.append((field.name, proven | None, None))
    return msgspec.defstruct("Shape", fields, kw_only=True, gc=False), tuple(judges)
