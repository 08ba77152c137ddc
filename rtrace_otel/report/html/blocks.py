"""Documents as JSON for the page: what people read beside what is sorted and copied."""

from __future__ import annotations

from typing import Any, Final

from rtrace_otel.report.document import Block, Document, Facts, Sentence, Table, printable

MAX_ROWS: Final = 500
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
    """A table: its columns, its cells as shown, and the values behind them, to sort by and to copy.

    Columns whose cells already say the value have no ``values``. Fractions are given to a microsecond, as far as seven
    digits do not say more.

    Args:
        table: The table.
        limit: Most rows; the last ones are left out.
    """
    columns, shown = table.for_people()
    records, rows = table.records[:limit], shown[:limit]
    values = {}
    for place, column in enumerate(columns):
        raw = [record.get(column.key) for record in records]
        cells = [row[place] for row in rows]
        if column.align == "right" and not all(map(_says, cells, raw)):
            values[column.key] = [_sortable(value) for value in raw]
    return {
        "type": "table",
        "title": table.title,
        "columns": [{"key": c.key, "title": c.title, "align": c.align} for c in columns],
        "rows": rows,
        "values": values,
        "of": len(table.records),
    }


def _says(cell: str, value: Any) -> bool:
    """Whether a cell is a whole number as the page can read it back, or the sign for none."""
    return value is None or (type(value) is int and cell in (str(value), f"{value:,}"))


def _sortable(value: Any) -> float | int | str | None:
    if isinstance(value, float):
        return round(value, 6) if abs(value) >= 1 else float(f"{value:.7g}")
    return value if value is None or isinstance(value, (str, int)) else str(value)
