"""The table ``otel_traces`` as the collector's ClickHouse exporter fills it, in an embedded ClickHouse."""

from __future__ import annotations

import importlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rtrace_otel.events import Row
from rtrace_otel.spans.model import SCOPE_NAME, AttributeValue, FinishedSpan, RunResource
from rtrace_otel.spans.projector import project

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "fleet.md"

TABLE: Final = """
CREATE TABLE otel_traces (
    Timestamp DateTime64(9),
    TraceId String,
    SpanId String,
    ParentSpanId String,
    TraceState String,
    SpanName LowCardinality(String),
    SpanKind LowCardinality(String),
    ServiceName LowCardinality(String),
    ResourceAttributes Map(LowCardinality(String), String),
    ScopeName String,
    ScopeVersion String,
    SpanAttributes Map(LowCardinality(String), String),
    Duration UInt64,
    StatusCode LowCardinality(String),
    StatusMessage String,
    Events Nested (
        Timestamp DateTime64(9), Name LowCardinality(String), Attributes Map(LowCardinality(String), String)
    ),
    Links Nested (TraceId String, SpanId String, TraceState String, Attributes Map(LowCardinality(String), String))
) ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
"""
"""Columns, types, partitions and order of the exporter's own table; without its codecs and indexes."""


def query_of(name: str) -> str:
    """A query of the page, by the comment in its first line."""
    queries = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (found,) = (query for query in queries if query.startswith(f"-- {name}"))
    return str(found)


def records(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The spans of rows as records of the table."""
    return [_record(span, resource) for span, resource in project(rows)]


def _record(span: FinishedSpan, resource: RunResource) -> dict[str, Any]:
    return {
        "Timestamp": time_text(span.start_ns),
        "TraceId": f"{span.trace_id:032x}",
        "SpanId": f"{span.span_id:016x}",
        "ParentSpanId": "" if span.parent_id is None else f"{span.parent_id:016x}",
        "TraceState": "",
        "SpanName": span.name,
        "SpanKind": "Internal",
        "ServiceName": resource.service,
        "ResourceAttributes": _texts(resource.attributes()),
        "ScopeName": SCOPE_NAME,
        "ScopeVersion": "schema-1",
        "SpanAttributes": _texts(span.attributes),
        "Duration": span.end_ns - span.start_ns,
        "StatusCode": "Unset" if span.error is None else "Error",
        "StatusMessage": span.error or "",
        "Events.Timestamp": [time_text(event.time_ns) for event in span.events],
        "Events.Name": [event.name for event in span.events],
        "Events.Attributes": [_texts(event.attributes) for event in span.events],
        "Links.TraceId": [f"{link.trace_id:032x}" for link in span.links],
        "Links.SpanId": [f"{link.span_id:016x}" for link in span.links],
        "Links.TraceState": ["" for _ in span.links],
        "Links.Attributes": [_texts(link.attributes) for link in span.links],
    }


def time_text(nanoseconds: int) -> str:
    """Nanoseconds since 1970 as a ``DateTime64(9)`` shows them."""
    moment = datetime.fromtimestamp(nanoseconds // 10**9, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{nanoseconds % 10**9:09d}"


def _texts(attributes: Mapping[str, AttributeValue]) -> dict[str, str]:
    """Attributes as the collector turns them into text: lists and truth values as JSON has them."""
    return {name: value if isinstance(value, str) else _text(value) for name, value in attributes.items()}


def _text(value: AttributeValue) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return json.dumps(list(value), separators=(",", ":"))


class Store:
    """An embedded ClickHouse.

    Args:
        folder: Where it keeps its data.
        table: Whether to make the table; else somebody else does.
    """

    def __init__(self, folder: Path, *, table: bool = True) -> None:
        """Make the database."""
        # By its name: the package is an extra that not every machine has, and it has no types.
        chdb: Any = importlib.import_module("chdb.session")
        self._session: Any = chdb.Session(str(folder))
        self.run("CREATE DATABASE IF NOT EXISTS otel")
        self.run("USE otel")
        if table:
            self.run(TABLE)

    def run(self, statement: str) -> None:
        """Do what a statement says."""
        self._session.query(statement)

    def insert(self, several: Iterable[Mapping[str, Any]]) -> None:
        """Insert records, as one batch of the exporter."""
        lines = "\n".join(json.dumps(record) for record in several)
        self._session.query(f"INSERT INTO otel_traces FORMAT JSONEachRow {lines}")

    def insert_block(self, statement: str, block: bytes) -> None:
        """Do an insert whose data is a block in ClickHouse's own format.

        Args:
            statement: ``INSERT INTO table (columns) FORMAT Native``.
            block: The data.
        """
        into, _, form = statement.rpartition(" FORMAT ")
        with tempfile.NamedTemporaryFile() as file:
            file.write(block)
            file.flush()
            self.run(f"{into} SELECT * FROM file('{file.name}', '{form}')")

    def clear(self) -> None:
        """Delete all records."""
        self._session.query("TRUNCATE TABLE otel_traces")

    def ask(self, query: str) -> list[dict[str, Any]]:
        """The answer to a query, row by row."""
        answer = str(self._session.query(query.strip().rstrip(";"), "JSONEachRow"))
        return [json.loads(line) for line in answer.splitlines()]

    def close(self) -> None:
        """Close it."""
        self._session.close()
