"""Documents on a terminal, or in a pipe: the only place that draws with rich."""

from __future__ import annotations

import io
import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from rtrace_otel.report.document import Document, Facts, Sentence, Table

PIPE_WIDTH: Final = 10_000
"""Tables are never cut in a pipe; only a terminal has an edge."""

TEXT_WIDTH: Final = 110
_STYLES: Final = {"plain": "", "finding": "bold", "command": "cyan"}


def render_terminal(document: Document) -> str:
    """The document as text for standard output; coloured if that is a terminal and ``NO_COLOR`` is not set."""
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else PIPE_WIDTH
    text_width = min(width, TEXT_WIDTH)
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=is_terminal, highlight=False, emoji=False)
    console.print(Text(document.title, style="bold"))
    for block in document.blocks:
        if isinstance(block, Table):
            console.print(Text(f"\n{block.title}"))
            console.print(_table(block))
        elif isinstance(block, Facts):
            console.print(Text(f"\n{block.title}"))
            _print_facts(console, block, text_width)
        else:
            _print_sentence(console, block, text_width)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def render_documents(documents: Sequence[Document]) -> str:
    """Several documents, one below the other."""
    return "\n".join(map(render_terminal, documents))


def _table(table: Table) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    columns, rows = table.for_people()
    for column in columns:
        drawn.add_column(Text(column.title), justify=column.align, overflow="fold")
    for cells in rows:
        drawn.add_row(*(Text(cell) for cell in cells))
    return drawn


def _print_facts(console: Console, facts: Facts, width: int) -> None:
    indent = max(len(name) for name, _ in facts.pairs) + 4
    for name, value in facts.pairs:
        lines = textwrap.wrap(value, max(width - indent, 20)) or [""]
        console.print(Text(f"  {name:<{indent - 2}}{lines[0]}"), soft_wrap=True)
        for line in lines[1:]:
            console.print(Text(" " * indent + line), soft_wrap=True)


def _print_sentence(console: Console, sentence: Sentence, width: int) -> None:
    if sentence.tone == "command":
        console.print(Text(f"  {sentence.text}", style=_STYLES["command"]), soft_wrap=True)
        return
    console.print()
    for line in textwrap.wrap(sentence.text, width, break_long_words=False, break_on_hyphens=False):
        console.print(Text(line, style=_STYLES[sentence.tone]), soft_wrap=True)
