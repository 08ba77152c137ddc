"""A file read a batch of lines at a time gives the same as one that is read line by line."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.batches import batches
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.analysis.reading.decoding import LineDecoder
from rtrace_otel.analysis.reading.plain import every_row
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from tests.analysis.rows import lines, row

ODD: tuple[bytes, ...] = (
    b"\n",
    b"[]\n",
    b'{"event":["a"],"t":1.0,"run":"r","seq":0}\n',
    b'{"event":"train_step","t":1.0,"run":["r"],"seq":0,"step":1}\n',
    b'{"event":"train_step","t":1.0,"run":"r","seq":true,"step":1}\n',
    b'{"event":"train_step","run":"r","seq":1,"step":1}\n',
    b'{"event":"train_step","t":1.0,"run":"r","seq":1,"step":1}\r\n',
    b'{"event":"train_step","t":1.0,"run":"r","seq":1,"resourceSpans":[]}\n',
    b'{"event":"group_published","t":1.0,"run":"r","seq":1,"group_id":"g","tokens_by_version":{"x":1}}\n',
    b'{"event":"group_published","t":1.0,"run":"r","seq":1,"group_id":"g","tokens_by_version":{"3":1}}\n',
    b'{"event":"of_mine","t":1.0,"run":"r","seq":1}\n',
    b'{"event":"train_st',
    b"\xff\xfe\n",
)
"""Lines that are no plain row, or become one only where they follow the row before."""


def step(seq: int, run: str = "r") -> Row:
    """A plain row."""
    return row(seq, run, "train_step", step=seq)


def told(rows: Iterable[Row], tally: Tally) -> list[Any]:
    """After each row: the row, and the report so far; at the end what was raised, if anything, and the report."""
    found: list[Any] = []
    try:
        found += ((one, tally.report()) for one in rows)
    except TraceFileError as error:
        found.append(str(error))
    return [*found, tally.report()]


def both(data: bytes, *, strict: bool = False) -> tuple[list[Any], list[Any]]:
    """What is told where the lines are read one by one, and a batch at a time."""
    alone, several = LineDecoder("x", strict=strict), LineDecoder("x", strict=strict)
    one_by_one = told(alone.rows_of(data.splitlines(keepends=True)), alone.tally)
    return one_by_one, told(every_row(several, batches(io.BytesIO(data).read)), several.tally)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_odd_line_among_plain_ones(odd: bytes, place: int) -> None:
    """Rows, lines and the report after each row are the same, wherever the odd line stands."""
    plain = [lines(step(number)) for number in range(3)]
    one_by_one, batch = both(b"".join((*plain[:place], odd, *plain[place:])))
    assert one_by_one == batch
    assert len(batch) > 3


@pytest.mark.parametrize(("strict", "rows"), [(False, 3), (True, 1)])
def test_versions_that_are_none_are_damage_of_their_line(strict: bool, rows: int) -> None:
    """The rows before the damage are given first, and a strict reading stops at it."""
    odd = row(1, "r", "group_published", group_id="g", tokens_by_version={"x": 1})
    one_by_one, batch = both(lines(step(0), odd, step(2)), strict=strict)
    assert one_by_one == batch
    assert rows == sum(isinstance(one, tuple) for one in batch)


def test_a_report_in_the_middle_of_a_batch_counts_what_was_given() -> None:
    """Two runs, each in a batch of its own: after three rows of four, the second one has one row."""
    parts = [([lines(step(0, run)), lines(step(1, run))], 0) for run in "rs"]
    decoder = LineDecoder("x")
    told_of = told(every_row(decoder, parts), decoder.tally)
    assert [{"r": 1}, {"r": 2}, {"r": 2, "s": 1}, {"r": 2, "s": 2}] == [one[1].runs for one in told_of[:4]]


@given(st.lists(st.one_of(st.sampled_from(ODD), st.tuples(st.sampled_from("rs"), st.integers(0, 4))), max_size=12))
def test_any_mixture_of_lines(parts: Iterable[bytes | tuple[str, int]]) -> None:
    """Runs in turn, numbers that jump, odd lines: both ways tell the same after each row."""
    data = b"".join(part if isinstance(part, bytes) else lines(step(part[1], part[0])) for part in parts)
    one_by_one, batch = both(data)
    assert one_by_one == batch
