"""What a report is made of, before it is text: facts, tables and sentences.

A command's report is built once, from the analysis result; the terminal, CSV and Markdown renderings all come from it,
so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Show: TypeAlias = Callable[[Any], str]
"""How a value is shown to a person; CSV gets the value itself."""


def printable(value: object) -> str:
    """A value as text for a terminal: control characters of ids and reasons are shown, not obeyed."""
    if value is None:
        return "-"
    text = str(value)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
        key: Its name in CSV, and the key of its value in each record.
        title: Its heading.
        show: How its values are shown.
        align: Where they stand.
        rank: What to leave out first where a terminal is too narrow: the highest; 0 stays.
        usual: The value that is not worth a column: people do not see the column if every record has it.
    """

    key: str
    title: str
    show: Show = printable
    align: Literal["left", "right"] = "right"
    usual: Any = ()
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Records under columns.

    Attributes:
        title: What the table shows.
        columns: From left to right.
        records: Raw values by column key.
    """

    title: str
    columns: tuple[Column, ...]
    records: Sequence[Mapping[str, Any]]

    def for_people(self) -> tuple[tuple[Column, ...], list[list[str]]]:
        """The columns worth showing, and the records as shown, row by row."""
        columns = tuple(column for column in self.columns if self._tells(column))
        return columns, [[column.show(record.get(column.key)) for column in columns] for record in self.records]

    def _tells(self, column: Column) -> bool:
        return column.usual == () or any(record.get(column.key) != column.usual for record in self.records)


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values, one a line.

    Attributes:
        title: What they are about.
        pairs: Name and value, as shown.
    """

    title: str
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that stands by itself.

    Attributes:
        text: The sentence.
        tone: ``plain``, ``finding`` for what the reader should not miss, or ``command`` for a line to type.
    """

    text: str
    tone: Literal["plain", "finding", "command"] = "plain"


Block: TypeAlias = Table | Facts | Sentence


@dataclass(frozen=True, slots=True)
class Document:
    """A report.

    Attributes:
        title: Its heading.
        blocks: From top to bottom; the first table is the one that CSV gives.
    """

    title: str
    blocks: tuple[Block, ...]

    def followed_by(self, blocks: tuple[Block, ...]) -> Document:
        """The document with more at its end."""
        return Document(self.title, self.blocks + blocks)

    @property
    def main_table(self) -> Table:
        """The table that CSV gives.

        Raises:
            ValueError: The report has no table.
        """
        for block in self.blocks:
            if isinstance(block, Table):
                return block
        raise ValueError(f"{self.title}: no table")
