"""What a source of tables is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from rtrace_otel.columns.types import Record
from rtrace_otel.events import Row

Sink: TypeAlias = Callable[[str, Record], None]
"""Takes a record of a table, given by name."""


class TableSource(Protocol):
    """Takes the rows of a file, and gives records of its tables."""

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file, which stands in this line."""

    def finish(self) -> None:
        """The file is at its end: give what is still to come."""
