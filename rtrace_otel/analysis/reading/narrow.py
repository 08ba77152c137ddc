"""Reading only some events of a file: with all rows counted on the way, or with the others passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeAlias

from rtrace_otel.analysis.reading.decoding import NOT_PLAIN, LineDecoder, decode_row
from rtrace_otel.analysis.reading.picking import Picked, Picker
from rtrace_otel.spans.otlp_found import Glance

Decode: TypeAlias = Callable[[bytes], Any]
"""A row of a line; ``None``, or one of the errors in ``NOT_PLAIN``, if it is not of the form that is expected."""

Part: TypeAlias = tuple[Picked, Callable[[], Iterable[bytes]]]
"""What was picked of a batch, and a way to have all of its lines."""


class Narrow:
    """Gives the rows of some events.

    Args:
        decoder: Reads what is not plain, and counts.
        events: The events.
        decode: Decodes a row that is asked for.
        counted: Whether to count the other rows, and whatever is wrong with them, as if they were read.
    """

    def __init__(
        self, decoder: LineDecoder, events: frozenset[str], decode: Decode = decode_row, *, counted: bool = True
    ) -> None:
        """Prepare for these events."""
        self._decoder = decoder
        self._events = events
        self._decode = decode
        self._counted = counted

    def rows(self, parts: Iterable[tuple[list[bytes], int]]) -> Iterator[Any]:
        """The rows that are asked for.

        Args:
            parts: Batches of lines, and their sizes in bytes.
        """
        picker = Picker(self._events, counted=self._counted)
        return self.rows_of_parts((picker.pick(lines, size), lines.__iter__) for lines, size in parts)

    def rows_of_parts(self, parts: Iterable[Part]) -> Iterator[Any]:
        """The same from what was picked elsewhere."""
        wanted = Picker(self._events, counted=False).passing.wanted
        for picked, lines in parts:
            if picked.whole or self._decoder.in_long_line:
                yield from self._exactly(lines())
            elif self._counted and not picked.otlp:
                yield from self._of_proven(picked, lines)
            else:
                yield from self._of_others(picked, wanted, lines)

    def _of_proven(self, picked: Picked, lines: Callable[[], Iterable[bytes]]) -> Iterator[Any]:
        tally, rows = self._decoder.tally, self._decoded(picked.lines)
        if rows is None or picked.runs is None or not tally.follows(picked.runs):
            yield from self._exactly(lines())
            return
        before = tally.lines
        tally.add_rows(picked.runs)
        tally.crlf_lines += picked.crlf_lines
        for place, row in zip(picked.places, rows, strict=True):
            tally.lines = before + place + 1
            yield row
        tally.lines = before + picked.count

    def _of_others(
        self, picked: Picked, wanted: tuple[bytes, ...], lines: Callable[[], Iterable[bytes]]
    ) -> Iterator[Any]:
        tally = self._decoder.tally
        before = tally.lines
        rows = self._at_once(picked.lines) if picked.ours else None
        if rows is not None:
            for place, row in zip(picked.places, rows, strict=True):
                tally.lines = before + place + 1
                yield row
            tally.lines = before + picked.count
            return
        for place, line in zip(picked.places, picked.lines, strict=True):
            tally.lines = before + place
            if isinstance(line, Glance):
                yield from self._at_a_glance(line, place, lines)
                continue
            row = self._plain(line) if line.startswith(wanted) else None
            if row is not None:
                tally.lines += 1
                yield row
            else:
                yield from self._exactly((line,))
        tally.lines = before + picked.count

    def _at_a_glance(self, found: Glance, place: int, lines: Callable[[], Iterable[bytes]]) -> Iterator[Any]:
        """The rows of a line into which somebody looked who ran ahead, and who may know a run that is new here."""
        self._decoder.tally.lines += 1
        rows = self._decoder.rows_at_a_glance(found)
        if rows is None:
            self._decoder.tally.lines -= 1
            yield from self._exactly(islice(lines(), place, place + 1))
        else:
            yield from [row for row in rows if row["event"] in self._events]

    def _exactly(self, lines: Iterable[bytes]) -> Iterator[Any]:
        rows = self._decoder.rows_of(lines, self._events, counted=self._counted)
        return (row for row in rows if row["event"] in self._events)

    def _plain(self, line: bytes) -> Any:
        try:
            row = self._decode(line)
        except NOT_PLAIN:
            return None
        return row

    def _at_once(self, lines: Iterable[Any]) -> list[Any] | None:
        """Rows of lines; ``None`` if one of them is not of the form that is expected."""
        try:
            rows = [*map(self._decode, lines)]
        except NOT_PLAIN:
            return None
        return rows if all(rows) else None

    def _decoded(self, lines: Iterable[bytes | Glance]) -> list[Any] | None:
        """Plain rows; ``None`` if one of them is not plain."""
        rows = []
        for line in lines:
            row = None if isinstance(line, Glance) else self._plain(line) or decode_row(line)
            if row is None:
                return None
            rows.append(row)
        return rows
