"""The tables of ``docs/sql.md``, from their registry."""

from __future__ import annotations

from pathlib import Path

from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.types import TableSpec

PAGE = Path(__file__).resolve().parent.parent / "docs" / "sql.md"


def sql_page() -> str:
    """Text of ``docs/sql.md`` with the tables as they are."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- tables -->")
    _, end, tail = rest.partition("<!-- end of tables -->")
    assert end, "no place for the tables"
    return f"{head}<!-- tables -->\n{''.join(map(_section, TABLES.values()))}\n{end}{tail}"


def _section(table: TableSpec) -> str:
    rows = ["| column | type | unit | meaning |", "|---|---|---|---|"]
    rows += [f"| `{one.name}` | {one.type.value} | {one.unit or ''} | {one.meaning} |" for one in table.columns]
    note = f"\n\n{table.note}" if table.note else ""
    return f"\n### {table.name}\n\nOne row is {table.row}.{note}\n\n" + "\n".join(rows) + "\n"
