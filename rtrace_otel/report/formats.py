"""Documents and results as CSV, Markdown and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

from rtrace_otel.report.document import Block, Document, Facts, Sentence, Table, printable

SCHEMA_VERSION: Final = 1
"""Version of the JSON output of every command."""


def to_json(command: str, result: Mapping[str, Any], read: Mapping[str, Any] | None) -> str:
    """A command's result as JSON text.

    Args:
        command: Name of the command.
        result: Its result as JSON values.
        read: What the reader met; ``None`` if the command reads no trace.
    """
    document = {"schema_version": SCHEMA_VERSION, "command": command, **result}
    if read is not None:
        document["read"] = read
    return json.dumps(finite(document), indent=2) + "\n"


def to_csv(document: Document) -> str:
    """The document's main table as CSV, with raw values (RFC 4180, lines end in a newline)."""
    table = document.main_table
    rows = [[column.key for column in table.columns]]
    rows += [[_csv_cell(record.get(column.key)) for column in table.columns] for record in table.records]
    return "".join(",".join(row) + "\n" for row in rows)


def _csv_cell(value: Any) -> str:
    """Quoted if it must be; the standard writer leaves a bare carriage return unquoted."""
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in '",\r\n') else text


def to_markdown(document: Document) -> str:
    """The whole document as Markdown."""
    parts = [f"# {_escaped(document.title)}", *(_block_markdown(block) for block in document.blocks)]
    return "\n\n".join(parts) + "\n"


def _block_markdown(block: Block) -> str:
    if isinstance(block, Sentence):
        return f"    {printable(block.text)}" if block.tone == "command" else _escaped(block.text)
    if isinstance(block, Facts):
        return "\n".join(
            [f"## {block.title}", "", *(f"- **{name}**: {_escaped(value)}" for name, value in block.pairs)]
        )
    return _table_markdown(block)


def _table_markdown(table: Table) -> str:
    columns, shown = table.for_people()
    titles = [column.title for column in columns]
    rules = ["---:" if column.align == "right" else "---" for column in columns]
    rows = [[_escaped(cell) for cell in cells] for cells in shown]
    return "\n".join([f"## {table.title}", "", *(f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows))])


def _escaped(text: str) -> str:
    """Markdown shows the text as it is: ids and reasons come from a file."""
    text = printable(text)
    for character in "\\`*_[]<>|~&":
        text = text.replace(character, f"\\{character}")
    return text


def finite(value: Any) -> Any:
    """A JSON value in which a number that JSON does not have is ``null``."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return value
