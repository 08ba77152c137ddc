"""The report of ``rtrace sql``: what a query gives, and what there is to query."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, Protocol

from rtrace_otel.columns.registry import TABLES
from rtrace_otel.report.document import Block, Column, Document, Facts, Sentence, Table, printable

_NUMBERS: Final = ("INT", "FLOAT", "DOUBLE", "DECIMAL", "HUGEINT")
_DIGITS: Final = 6
WIDE: Final = 12
"""More columns than these, and a few rows are shown upright."""

FEW: Final = 5
"""Rows that are few."""


class Result(Protocol):
    """What a query gives, as :class:`rtrace_otel.columns.query.QueryResult`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its columns."""

    @property
    def types(self) -> tuple[str, ...]:
        """Their types in SQL."""

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """Its first rows."""

    @property
    def total(self) -> int:
        """How many rows it has."""


def query_document(result: Result, source: str, *, for_people: bool = False) -> Document:
    """The answer as a document.

    Args:
        result: Of the query.
        source: Name of the file, or of the files.
        for_people: Whether a few rows with many columns stand upright, one value a line.
    """
    keys = unique(result.names)
    columns = tuple(
        Column(key, name, _shown, "right" if _is_number(sql_type) else "left")
        for key, name, sql_type in zip(keys, map(printable, result.names), result.types, strict=True)
    )
    records = [dict(zip(keys, map(plain, row), strict=True)) for row in result.rows]
    table = Table("Rows", columns, [_flat(record) for record in records])
    blocks: list[Block] = [table]
    if for_people and len(columns) > WIDE and 0 < len(records) <= FEW:
        blocks = list(_upright(table))
    if not result.total:
        blocks.append(Sentence("No rows."))
    elif result.total > len(records):
        blocks.append(Sentence(f"{len(records):,} of {result.total:,} rows are shown; --limit 0 shows all.", "finding"))
    return Document(f"Query of {source}", tuple(blocks))


def _upright(table: Table) -> Iterator[Facts]:
    for number, record in enumerate(table.records, 1):
        pairs = tuple((column.title, column.show(record[column.key])) for column in table.columns)
        yield Facts(f"Row {number}", pairs)


def query_json(result: Result) -> dict[str, Any]:
    """The answer as JSON values."""
    keys = unique(result.names)
    return {
        "columns": [{"name": key, "type": sql_type} for key, sql_type in zip(keys, result.types, strict=True)],
        "rows": [dict(zip(keys, map(plain, row), strict=True)) for row in result.rows],
        "total": result.total,
    }


def tables_document() -> Document:
    """What there is to query, as a document."""
    columns = (
        Column("table", "table", align="left"),
        Column("column", "column", align="left"),
        Column("type", "type", align="left"),
        Column("unit", "unit", align="left", rank=1),
        Column("meaning", "meaning", _without_marks, "left"),
    )
    overview = (Column("table", "table", align="left"), Column("row", "one row is", _without_marks, "left"))
    return Document(
        "Tables of rtrace sql",
        (
            Table("Columns", columns, _columns()),
            Table("Tables", overview, [{"table": table.name, "row": table.row} for table in TABLES.values()]),
            Sentence("With several files, each table begins with a column file."),
        ),
    )


def tables_json() -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "tables": [
            {
                "name": table.name,
                "row": table.row,
                "columns": [record for record in _columns() if record["table"] == table.name],
            }
            for table in TABLES.values()
        ]
    }


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The names, with a number behind those that came before: SQL lets several columns have one name."""
    found: dict[str, None] = {}
    for name in names:
        key, number = name, 1
        while key in found:
            number += 1
            key = f"{name}_{number}"
        found[key] = None
    return tuple(found)


def plain(value: Any) -> Any:
    """A value of a database as a JSON value; a duration in seconds, a time as in ISO 8601, bytes in hexadecimal."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value) if value.is_finite() else None
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value)


def _columns() -> list[dict[str, Any]]:
    return [
        {
            "table": table.name,
            "column": column.name,
            "type": column.type.value,
            "unit": column.unit,
            "meaning": column.meaning,
        }
        for table in TABLES.values()
        for column in table.columns
    ]


def _without_marks(text: Any) -> str:
    return printable(text).replace("`", "")


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose lists and objects are JSON text, for a cell."""
    return {
        key: json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else value
        for key, value in record.items()
    }


def _is_number(sql_type: str) -> bool:
    return "[" not in sql_type and any(name in sql_type for name in _NUMBERS) and not sql_type.startswith("INTERVAL")


def _shown(value: Any) -> str:
    """A number with at most six decimals, and anything else as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return printable(value)
    if value and not 10**-_DIGITS <= abs(value) < 10**15:
        return f"{value:g}"
    return f"{value:.{_DIGITS}f}".rstrip("0").rstrip(".")
