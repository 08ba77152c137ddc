"""What a table is: its columns, their types, units and meanings. A leaf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Record: TypeAlias = Mapping[str, Any]
"""One row of a table: values by column name. What is absent is null; what is of the wrong type becomes null."""


class ColumnType(StrEnum):
    """What a column holds; the value is the name of the type in SQL."""

    TEXT = "VARCHAR"
    INT = "BIGINT"
    FLOAT = "DOUBLE"
    BOOL = "BOOLEAN"
    TEXTS = "VARCHAR[]"
    INTS = "BIGINT[]"


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A column of a table.

    Attributes:
        name: Its name.
        type: What it holds; any column can hold null, which means that it is not known or does not apply.
        meaning: One line for the reader of the documentation.
        unit: Unit of a number, in words.
    """

    name: str
    type: ColumnType
    meaning: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table.

    Attributes:
        name: Its name.
        row: What one of its rows is.
        columns: From left to right.
        note: What else a reader should know.
    """

    name: str
    row: str
    columns: tuple[ColumnSpec, ...]
    note: str = ""


def text(name: str, meaning: str) -> ColumnSpec:
    """A column of texts."""
    return ColumnSpec(name, ColumnType.TEXT, meaning)


def integer(name: str, meaning: str, unit: str | None = None) -> ColumnSpec:
    """A column of whole numbers."""
    return ColumnSpec(name, ColumnType.INT, meaning, unit)


def seconds(name: str, meaning: str) -> ColumnSpec:
    """A column of durations."""
    return ColumnSpec(name, ColumnType.FLOAT, meaning, "s")


def moment(name: str, meaning: str) -> ColumnSpec:
    """A column of points in time; ``to_timestamp(column)`` makes a timestamp of them."""
    return ColumnSpec(name, ColumnType.FLOAT, meaning, "Unix seconds")


def real(name: str, meaning: str, unit: str | None = None) -> ColumnSpec:
    """A column of numbers."""
    return ColumnSpec(name, ColumnType.FLOAT, meaning, unit)


def truth(name: str, meaning: str) -> ColumnSpec:
    """A column of truth values."""
    return ColumnSpec(name, ColumnType.BOOL, meaning)
