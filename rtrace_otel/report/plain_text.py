"""Documents as plain text and as HTML, for a notebook: without the libraries of the command line."""

from __future__ import annotations

from html import escape

from rtrace_otel.report.cells import cells, padded
from rtrace_otel.report.document import Block, Document, Facts, Sentence, Table, printable

_GAP = "  "


def to_text(document: Document) -> str:
    """The document as text, without an edge."""
    parts = [printable(document.title), *(_text_of(block) for block in document.blocks)]
    return "\n\n".join(part for part in parts if part)


def to_html(document: Document) -> str:
    """The document as a fragment of HTML; what comes from a file is escaped."""
    return f"<h4>{_escaped(document.title)}</h4>\n" + "\n".join(map(_html_of, document.blocks))


def _text_of(block: Block) -> str:
    if isinstance(block, Sentence):
        return printable(block.text)
    if isinstance(block, Facts):
        width = max((cells(name) for name, _ in block.pairs), default=0)
        return "\n".join(
            [block.title, *(f"  {padded(name, width)}  {printable(value)}" for name, value in block.pairs)]
        )
    columns, shown = block.for_people()
    rows = [[column.title for column in columns], *shown]
    widths = [max(cells(row[place]) for row in rows) for place in range(len(columns))]
    aligned = [
        _GAP.join(
            padded(cell, width, right=column.align == "right")
            for cell, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([block.title, *(f"  {line}" for line in aligned)])


def _html_of(block: Block) -> str:
    if isinstance(block, Sentence):
        text = _escaped(block.text)
        return f"<p><b>{text}</b></p>" if block.tone == "finding" else f"<p>{text}</p>"
    if isinstance(block, Facts):
        rows = "".join(f"<tr><th>{_escaped(name)}</th><td>{_escaped(value)}</td></tr>" for name, value in block.pairs)
        return f"<table><caption>{_escaped(block.title)}</caption>{rows}</table>"
    return _html_table(block)


def _html_table(table: Table) -> str:
    columns, shown = table.for_people()
    head = "".join(f"<th>{_escaped(column.title)}</th>" for column in columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align: {column.align}">{_escaped(cell)}</td>'
            for column, cell in zip(columns, cells_of_row, strict=True)
        )
        + "</tr>"
        for cells_of_row in shown
    )
    return f"<table><caption>{_escaped(table.title)}</caption><tr>{head}</tr>{rows}</table>"


def _escaped(text: str) -> str:
    return escape(printable(text))
