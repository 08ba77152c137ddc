"""The vocabulary's own vocabulary: what a field may hold, what an event does to a span. A leaf."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FieldType(StrEnum):
    """What a field may hold; the value is the name used in the documentation."""

    ID = "id"
    TEXT = "text"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    IDS = "list of ids"
    TOKENS_BY_VERSION = "object: version -> tokens"
    CALLS = "list of [call_id, tokens]"
    CALL_VERSIONS = "list of [call_id, version, tokens]"
    OBJECT = "object"


class SpanRole(StrEnum):
    """What an event does to a span."""

    OPENS = "opens"
    MARKS = "marks"
    ENDS = "ends"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event.

    Attributes:
        name: The key in the row.
        type: What it holds.
        meaning: One line for the reader of the schema.
        required: Whether a row without it is invalid.
        unit: Unit of a number, in words (``s``, ``tokens``, ``versions``).
        choices: The legal values, if they are few.
    """

    name: str
    type: FieldType
    meaning: str
    required: bool = False
    unit: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventType:
    """An event of the vocabulary.

    Attributes:
        name: The value of the row's ``event``.
        meaning: One line for the reader of the schema.
        fields: Required fields first, each group in the order of the recording method's parameters.
        spans: Pairs of role and span name.
    """

    name: str
    meaning: str
    fields: tuple[Field, ...]
    spans: tuple[tuple[SpanRole, str], ...] = ()

    @property
    def required(self) -> tuple[Field, ...]:
        """The fields without which a row is invalid."""
        return tuple(field for field in self.fields if field.required)

    @property
    def optional(self) -> tuple[Field, ...]:
        """The fields that a row may leave out."""
        return tuple(field for field in self.fields if not field.required)
