"""Rows, lines and expected reports for the tests of the reading side."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind, ReadReport
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row

Fault: TypeAlias = tuple[int, DamageKind, int]
"""Line, kind, and how many rows of the line were read all the same."""


def row(seq: int = 0, run: str = "a", event: str = "mark", **fields: Any) -> Row:
    """A row of ours."""
    return {"event": event, "t": 100.0 + seq, "run": run, "seq": seq, **fields}


def text(row: Row) -> bytes:
    """A row as it stands in the file, without its newline."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode()


def lines(*rows: Row) -> bytes:
    """Rows as whole lines."""
    return b"".join(text(row) + b"\n" for row in rows)


def read(data: bytes) -> tuple[list[Row], ReadReport]:
    """The rows and the finished report of a binary file."""
    file = io.BytesIO(data)
    reader = read_events(file)
    rows = list(reader)
    return rows, reader.report


def read_back(rows: Iterable[Row]) -> list[Row]:
    """Rows after a trip through JSON lines and the reader."""
    return list(read_events([text(row) for row in rows]))


def near(value: float, within: float = 1e-9) -> Any:
    """A number that equals every number close to it."""
    return pytest.approx(value, abs=within)


def faults(report: ReadReport) -> list[Fault]:
    """The damages of a report without their wording."""
    return [(damage.line, damage.kind, damage.rows_recovered) for damage in report.damages]


def report_of(rows: Sequence[Row], **changes: Any) -> ReadReport:
    """The report of a file whose every line is one of these rows, except for the changes."""
    whole: dict[str, Any] = {
        "source": "<lines>",
        "lines": len(rows),
        "rows": len(rows),
        "runs": dict(Counter(row["run"] for row in rows)),
        "gaps": (),
        "rows_missing": 0,
        "rows_out_of_order": 0,
        "damages": (),
        "damage_counts": {},
        "blank_lines": 0,
        "crlf_lines": 0,
    }
    given = whole | changes
    return ReadReport(**{"gap_count": len(given["gaps"]), **given})
