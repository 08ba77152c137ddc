"""Documents as JSON for the page: what people read beside what is sorted and copied."""

from __future__ import annotations

from typing import Any, Final

from rtrace_otel.report.document import Block, Document, Facts, Sentence, Table, printable

MAX_ROWS: Final = 1_000
"""Rows of a table that the page carries; it says how many there are, and the commands give all of them."""


def document_blocks(document: Document) -> list[dict[str, Any]]:
    """The blocks of a document from top to bottom, as JSON values."""
    return [block_json(block) for block in document.blocks]


def block_json(block: Block) -> dict[str, Any]:
    """A sentence, facts or a table as JSON values, told apart by ``type``."""
    if isinstance(block, Sentence):
        return {"type": "sentence", "text": printable(block.text), "tone": block.tone}
    if isinstance(block, Facts):
        return {
            "type": "facts",
            "title": block.title,
            "pairs": [[name, printable(value)] for name, value in block.pairs],
        }
    return table_json(block)


def table_json(table: Table, limit: int = MAX_ROWS) -> dict[str, Any]:
    """A table: its columns, its cells as shown, and the raw values of columns of numbers, to sort by.

    Args:
        table: The table.
        limit: Most rows; the last ones are left out.
    """
    columns, shown = table.for_people()
    records = table.records[:limit]
    return {
        "type": "table",
        "title": table.title,
        "columns": [{"key": c.key, "title": c.title, "align": c.align} for c in columns],
        "rows": shown[:limit],
        "values": {c.key: [_sortable(r.get(c.key)) for r in records] for c in columns if c.align == "right"},
        "of": len(table.records),
    }


def _sortable(value: Any) -> float | int | str | None:
    if value is None or isinstance(value, str):
        return value
    return value if isinstance(value, (int, float)) else str(value)
