"""Documents as text for a terminal, a pipe or a file: the only place that colours."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from rtrace_otel.report.document import Column, Document, Facts, Sentence, Table, printable

TEXT_WIDTH: Final = 110
_GAP: Final = "   "
_STYLES: Final = {"plain": "", "finding": "bold", "command": "cyan"}


@dataclass(frozen=True, slots=True)
class Medium:
    """Where text goes.

    Attributes:
        width: Columns of the terminal; ``None`` where there is no edge.
        colour: Whether to colour.
    """

    width: int | None
    colour: bool


def standard_output() -> Medium:
    """Standard output as it is: ``NO_COLOR`` wins over ``FORCE_COLOR``, and that over whether it is a terminal."""
    is_terminal = sys.stdout.isatty()
    dumb = os.environ.get("TERM") == "dumb"
    colour = bool(os.environ.get("FORCE_COLOR")) or (is_terminal and not dumb)
    return Medium(
        shutil.get_terminal_size().columns if is_terminal else None, colour and not os.environ.get("NO_COLOR")
    )


PLAIN: Final = Medium(None, False)
"""A file: no edge, no colour."""


def render_documents(documents: Sequence[Document], medium: Medium = PLAIN) -> str:
    """Several documents, one below the other."""
    return "\n".join(render_terminal(document, medium) for document in documents)


def render_terminal(document: Document, medium: Medium = PLAIN) -> str:
    """A document as text."""
    out = io.StringIO()
    console = Console(
        file=out, width=10_000, force_terminal=medium.colour, color_system="standard" if medium.colour else None
    )
    text_width = min(medium.width or TEXT_WIDTH, TEXT_WIDTH)
    _line(console, printable(document.title), "bold")
    for block in document.blocks:
        if isinstance(block, Table):
            if not block.records:
                continue
            _line(console, f"\n{printable(block.title)}")
            _line(console, "\n".join(_table_lines(block, medium.width)))
        elif isinstance(block, Facts):
            _line(console, f"\n{printable(block.title)}")
            _print_facts(console, block, text_width)
        else:
            _print_sentence(console, block, text_width)
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style=style), soft_wrap=True, highlight=False, emoji=False)


def _table_lines(table: Table, width: int | None) -> list[str]:
    columns, rows = table.for_people()
    widths = [
        max([cell_len(column.title), *(cell_len(row[place]) for row in rows)]) for place, column in enumerate(columns)
    ]
    shown = _fitting(columns, widths, width)
    titles = [column.title for column in columns]
    lines = [_aligned(columns, widths, shown, row) for row in (titles, *rows)]
    rule = "\u2500" * (sum(widths[place] for place in shown) + len(_GAP) * (len(shown) - 1))
    return [lines[0], rule, *lines[1:]]


def _fitting(columns: Sequence[Column], widths: Sequence[int], width: int | None) -> list[int]:
    """The columns to show: those of the highest rank go first until the rest fits."""
    shown = list(range(len(columns)))
    while width is not None and sum(widths[place] + len(_GAP) for place in shown) - len(_GAP) > width:
        least = max(shown, key=lambda place: columns[place].rank)
        if columns[least].rank == 0:
            break
        shown.remove(least)
    return shown


def _aligned(columns: Sequence[Column], widths: Sequence[int], shown: Sequence[int], cells: Sequence[str]) -> str:
    parts = []
    for place in shown:
        padding = " " * (widths[place] - cell_len(cells[place]))
        parts.append(padding + cells[place] if columns[place].align == "right" else cells[place] + padding)
    return _GAP.join(parts).rstrip()


def _print_facts(console: Console, facts: Facts, width: int) -> None:
    indent = max(len(name) for name, _ in facts.pairs) + 4
    for name, value in facts.pairs:
        lines = _wrapped(console, printable(value), max(width - indent, 20)) or [""]
        _line(console, f"  {name:<{indent - 2}}{lines[0]}")
        for line in lines[1:]:
            _line(console, " " * indent + line)


def _print_sentence(console: Console, sentence: Sentence, width: int) -> None:
    text = printable(sentence.text)
    if sentence.tone == "command":
        _line(console, f"  {text}", _STYLES["command"])
        return
    console.print()
    for line in _wrapped(console, text, width):
        _line(console, line, _STYLES[sentence.tone])


def _wrapped(console: Console, text: str, width: int) -> list[str]:
    """Lines of at most this many cells; a wide character takes two."""
    return [line.plain.rstrip() for line in Text(text).wrap(console, width)]
