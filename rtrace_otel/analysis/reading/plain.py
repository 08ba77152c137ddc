"""All rows of a file, a batch of lines at a time: what makes a line plain is looked at for all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Final

import msgspec

from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.analysis.reading.decoding import BEGINNINGS, NOT_PLAIN, LineDecoder
from rtrace_otel.events import Row
from rtrace_otel.spans.otlp_lines import BEGIN

_decode: Final = msgspec.json.Decoder().decode


def every_row(decoder: LineDecoder, parts: Iterable[tuple[list[bytes], int]]) -> Iterator[Row]:
    """All rows of a file, as :meth:`LineDecoder.rows_of` gives them, with the same counts at each row.

    Args:
        decoder: Reads batches that are not plain, and counts.
        parts: Batches of lines, and their sizes in bytes.
    """
    tally = decoder.tally
    for lines, _ in parts:
        rows = None if decoder.in_long_line else _plain_rows(lines, tally)
        if rows is None:
            yield from decoder.rows_of(lines)
            continue
        tally.run_ahead(rows)
        for place, row in enumerate(rows, tally.lines + 1):
            tally.lines = place
            if "tokens_by_version" in row:
                decoder.restore_versions(row)
            yield row
        tally.ahead = ()


def _plain_rows(lines: list[bytes], tally: Tally) -> list[Row] | None:
    """The rows of lines, if each is a plain one of ours and the next one of the same run."""
    if lines[0].startswith(BEGIN) or len(lines[0]) >= batches.MAX_LINE_BYTES:
        return None
    try:
        rows = list(map(_decode, lines))
        if set(map(type, rows)) != {dict}:
            return None
        begins = [BEGINNINGS[row["event"]] for row in rows]
        numbers = [row["seq"] for row in rows]
        runs = [row["run"] for row in rows]
    except (*NOT_PLAIN, KeyError, TypeError):  # TypeError: a list or an object in place of a name
        return None
    run, first = runs[0], tally.next_seq.get(runs[0], 0) if type(runs[0]) is str else 0
    is_plain = (
        type(run) is str
        and runs.count(run) == len(rows)
        and set(map(type, numbers)) == {int}
        and numbers == list(range(first, first + len(rows)))
        and all(map(bytes.startswith, lines, begins))
        and not any(map(bytes.endswith, lines, repeat(b"\r\n")))
        and len(rows) == len([1 for row in rows if "t" in row and "resourceSpans" not in row])
    )
    return rows if is_plain else None
