"""Two ways to read only some events of a file: with all rows counted on the way, or with the others passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from rtrace_otel.analysis import batches
from rtrace_otel.analysis.decoding import NOT_PLAIN, LineDecoder, decode_row
from rtrace_otel.analysis.heads import Heads
from rtrace_otel.analysis.passing import Passing

Decode: TypeAlias = Callable[[bytes], Any]
"""A row of a line; ``None``, or one of the errors in ``NOT_PLAIN``, if it is not of the form that is expected."""


class Narrow:
    """Gives the rows of some events.

    Args:
        decoder: Reads what is not plain, and counts.
        events: The events.
        decode: Decodes a row that is asked for.
    """

    def __init__(self, decoder: LineDecoder, events: frozenset[str], decode: Decode = decode_row) -> None:
        """Prepare for these events."""
        self._decoder = decoder
        self._events = events
        self._decode = decode

    def counted(self, parts: Iterable[list[bytes]]) -> Iterator[Any]:
        """The rows that are asked for; the others are counted, and whatever is wrong with them, as if they were read.

        Args:
            parts: Batches of lines.
        """
        decoder, tally, heads = self._decoder, self._decoder.tally, Heads(self._events)
        for lines in parts:
            proven = None if self._is_of_long_line(lines) else heads.prove(lines)
            rows = None if proven is None else self._decoded(lines[place] for place in proven.asked_for)
            if proven is None or rows is None or not tally.follows(proven.runs):
                names = set()
                for row in decoder.rows_of(lines):
                    names.add(row["event"])
                    if row["event"] in self._events:
                        yield row
                heads.learn(names)
                continue
            before = tally.lines
            tally.add_rows(proven.runs)
            tally.crlf_lines += proven.crlf_lines
            for place, row in zip(proven.asked_for, rows, strict=True):
                tally.lines = before + place + 1
                yield row
            tally.lines = before + len(lines)

    def passing_over(self, parts: Iterable[list[bytes]]) -> Iterator[Any]:
        """The rows that are asked for; only the number of the line is kept.

        Args:
            parts: Batches of lines.
        """
        decoder, tally, passing = self._decoder, self._decoder.tally, Passing(self._events)
        for lines in parts:
            if self._is_of_long_line(lines):
                yield from (row for row in decoder.rows_of(lines) if row["event"] in self._events)
                continue
            before, at = tally.lines, 0
            for line in passing.read(lines):
                at = lines.index(line, at)
                row = self._plain(line) if line.startswith(passing.wanted) else None
                if row is not None:
                    tally.lines = before + at + 1
                    yield row
                    continue
                tally.lines = before + at
                yield from (found for found in decoder.rows_of((line,)) if found["event"] in self._events)
            tally.lines = before + len(lines)

    def _is_of_long_line(self, lines: list[bytes]) -> bool:
        return self._decoder.in_long_line or len(lines[0]) >= batches.MAX_LINE_BYTES

    def _plain(self, line: bytes) -> Any:
        try:
            row = self._decode(line)
        except NOT_PLAIN:
            return None
        return row

    def _decoded(self, lines: Iterable[bytes]) -> list[Any] | None:
        """Plain rows that are asked for; ``None`` if one of them is not plain."""
        rows = []
        for line in lines:
            row = self._plain(line) or decode_row(line)
            if row is None:
                return None
            rows.append(row)
        return rows
