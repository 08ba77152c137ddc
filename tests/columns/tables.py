"""Tables of rows that are in memory, and of the demo that is stored."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any, Final

import duckdb

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.columns.arrow import ArrowTables, Gathered
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.events import Row
from tests.record_demo import DATA

DEMO: Final = DATA / "rollout_trace.jsonl.gz"
"""A real job in miniature, killed once and restored."""


def tables_of(rows: Iterable[Row], wanted: Collection[str] = tuple(TABLES)) -> dict[str, Any]:
    """Tables of these rows; lines count from 1."""
    gathered = Gathered(wanted)
    tables = ArrowTables(wanted, gathered.take)
    for line, row in enumerate(rows, 1):
        tables.add(row, line)
    tables.finish()
    return gathered.tables()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    """One for all tests: to open one takes longer than most answers."""
    return duckdb.connect()


def ask(tables: dict[str, Any], query: str) -> list[tuple[Any, ...]]:
    """All rows of an answer."""
    for name, table in tables.items():
        _connection().register(name, table)
    return list(_connection().execute(query).fetchall())


def one(tables: dict[str, Any], query: str) -> tuple[Any, ...]:
    """The only row of an answer."""
    (row,) = ask(tables, query)
    return row


@cache
def demo_rows() -> list[Row]:
    """The rows of the demo, read once."""
    with read_events(DEMO) as reader:
        return list(reader)


def copied(rows: Iterable[Row]) -> list[Row]:
    """Rows that can be changed."""
    return [json.loads(json.dumps(row)) for row in rows]
