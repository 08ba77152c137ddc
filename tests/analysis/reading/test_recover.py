"""The slow path may save rows; it may not invent, alter or lose them, nor take forever."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind as Kind
from rtrace_otel.analysis.reading.recover import recover
from tests.analysis.rows import faults, lines, read, row, text
from tests.pace import cpu_s, within

SLOW_S = 10.0
"""CPU seconds for a line of 5 MB that a bounded search does not need."""

QUADRATIC_S = 3.0
"""CPU seconds that a linear search is ten times below, and a quadratic one well above."""


def test_an_object_nested_in_a_torn_row_is_not_taken_for_a_row() -> None:
    """Nobody emitted it: a row that was quoted in a field of a torn row stays inside it."""
    torn = text(row(1, last_row=row(0, "b"), more="to"))[:-3]
    rows, report = read(lines(row(0)) + torn + b"\n" + lines(row(2)))

    assert ([row(0), row(2)], [(2, Kind.TORN_ROW, 0)]) == (rows, faults(report))


def test_a_list_of_rows_nested_in_a_torn_row_is_not_taken_for_rows() -> None:
    """A debug event that carries the last rows does not double them when it is torn."""
    torn = text(row(1, last_rows=[row(7, "b"), row(8, "b")], more="to"))[:-3]
    rows, report = read(lines(row(0)) + torn + b"\n" + lines(row(2)))

    assert ([row(0), row(2)], [(2, Kind.TORN_ROW, 0)]) == (rows, faults(report))


def test_a_row_that_nul_bytes_overwrote_is_not_read_without_them() -> None:
    """A file system that lost a block leaves NUL in its place: 12345 must not become 15."""
    damaged = lines(row(0, tokens=12345, s="abcdef")).replace(b"234", b"\0\0\0")
    rows, report = read(damaged + lines(row(1)))

    assert [row(1)] == rows
    assert Kind.NUL_BYTES in report.damage_counts


def test_two_rows_are_not_joined_over_the_nul_bytes_between_them() -> None:
    """A lost block from the middle of one row to the middle of another must not make one row of both."""
    data = bytearray(lines(row(0, group_id="abcdefgh"), row(1, group_id="ijklmnop"), row(2)))
    start, end = data.index(b"cdef"), data.index(b"klm")
    data[start:end] = b"\0" * (end - start)
    rows, report = read(bytes(data))

    assert [row(2)] == rows
    assert Kind.NUL_BYTES in report.damage_counts


def test_a_torn_row_with_many_nested_objects_does_not_hide_the_row_fused_to_it() -> None:
    """The next run's first row arrives, however many objects the torn row holds."""
    torn = text(row(0, samples=[{"id": n} for n in range(3000)]))[:-2]
    rows, report = read(torn + lines(row(0, "b")))

    assert ([row(0, "b")], [(1, Kind.TORN_ROW, 1), (1, Kind.FUSED_ROWS, 1)]) == (rows, faults(report))


@pytest.mark.parametrize("depth", [100, 300, 500, 900, 1100, 5000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("inner", ["1", "NaN", '"\\ud800"'])
def test_no_depth_of_nesting_makes_reading_fail(depth: int, opening: str, closing: str, inner: str) -> None:
    """A row nested beyond what can be decoded is named, and the next row arrives."""
    deep = f'{{"event":"mark","t":100.0,"run":"a","seq":0,"deep":{opening * depth}{inner}{closing * depth}}}\n'
    rows, report = read(deep.encode() + lines(row(1)))

    assert row(1) == rows[-1]
    assert (1 if len(rows) == 1 else 0) == report.rows_missing


@pytest.mark.parametrize(
    "garbage",
    [b'{"' * 2_500_000, b'{"a":' * 1_000_000, b"[" * 5_000_000, b'"' * 5_000_000, b"\xff" * 5_000_000,
     b"{} " * 1_600_000, b"0 " * 2_500_000, b'{"event":' * 500_000, bytes(range(1, 10)) * 550_000],
    ids=["keys", "nesting", "brackets", "quotes", "bytes", "objects", "numbers", "events", "control"],
)  # fmt: skip
def test_five_megabytes_of_garbage_do_not_stop_the_reader(garbage: bytes) -> None:
    """A line of garbage costs a bounded search, and the rows around it arrive."""
    data = lines(row(0)) + garbage + b"\n" + lines(row(1))
    rows, report = within(SLOW_S, lambda: cpu_s(lambda: read(data)))

    assert ([row(0), row(1)], {2}) == (rows, {damage.line for damage in report.damages})


def test_a_line_of_garbage_does_not_become_millions_of_damages() -> None:
    """One line that holds no row is one fault or a few, not one for each token in it."""
    _, report = read(b"00 " * 100_000 + b"\n")

    assert sum(report.damage_counts.values()) <= 1000


@pytest.mark.parametrize("between", [b"", b" ", b",", b", "])
def test_a_file_without_newlines_is_read_in_linear_time(between: bytes) -> None:
    """The rows that a tool joined into one line all arrive, before a quadratic search would end."""
    rows = [row(seq, pad="x" * 40) for seq in range(25_000)]
    data = between.join(map(text, rows)) + b"\n"
    read_rows, _ = within(QUADRATIC_S, lambda: cpu_s(lambda: read(data)))

    assert rows == read_rows


def test_a_torn_list_inside_nested_objects_is_searched_once() -> None:
    """A torn row of a megabyte that begins with three hundred nested objects is not parsed three hundred times."""
    data = b'{"a":[' * 300 + b"1," * 500_000 + b"\n" + lines(row(0))
    rows, _ = within(QUADRATIC_S, lambda: cpu_s(lambda: read(data)))

    assert [row(0)] == rows


def test_details_are_one_short_line() -> None:
    """The text at fault is for a message: clipped, and without the line's end."""
    details = [fault[1] for fault in recover(text(row(0))[:9] + b"\n").faults]
    long = [fault[1] for fault in recover(b'{"event":"' + b"x" * 500 + b"\n").faults]

    assert ['{"event":'] == details
    assert ['{"event":"' + "x" * 67 + "..."] == long
