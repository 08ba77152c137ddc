"""Each kind of damage: which rows are still read, and what the report says."""

from __future__ import annotations

import json

import pytest

from rtrace_otel.analysis.reading.damage import DamageKind as Kind
from rtrace_otel.events import Row
from tests.analysis.rows import Fault, faults, lines, read, report_of, row, text

A, B = row(0), row(1)
NEXT_RUN = row(0, "b", "run_started", schema=1, host="h", pid=1)
RICH = row(0, note='a "quoted" {"event": \\ } [1', nested={"a": {"b": [1, {"c": "}"}]}}, calls=[["c", 1]], last=True)
BOM, NUL = b"\xef\xbb\xbf", b"\0" * 7

CASES: dict[str, tuple[bytes, list[Row], list[Fault], int]] = {
    "torn tail": (lines(A) + text(B)[:20], [A], [(2, Kind.TORN_TAIL, 0)], 2),
    "tail of one byte": (lines(A) + b"{", [A], [(2, Kind.TORN_TAIL, 0)], 2),
    "torn row, next run on its own line": (
        lines(A) + text(B)[:20] + b"\n" + lines(NEXT_RUN), [A, NEXT_RUN], [(2, Kind.TORN_ROW, 0)], 3
    ),
    "torn row fused with the next run": (
        lines(A) + text(B)[:20] + lines(NEXT_RUN),
        [A, NEXT_RUN], [(2, Kind.TORN_ROW, 1), (2, Kind.FUSED_ROWS, 1)], 2,
    ),
    "two torn rows, then a whole one": (
        text(A)[:9] + text(B)[:30] + lines(NEXT_RUN), [NEXT_RUN], [(1, Kind.TORN_ROW, 1), (1, Kind.FUSED_ROWS, 1)], 1
    ),
    "whole row, then a torn tail on its line": (text(A) + text(B)[:20], [A], [(1, Kind.TORN_TAIL, 1)], 1),
    "two objects on one line": (text(A) + lines(B), [A, B], [(1, Kind.FUSED_ROWS, 2)], 1),
    "three objects with white space": (
        text(A) + b" " + text(B) + b"\t\r" + lines(row(2)), [A, B, row(2)], [(1, Kind.FUSED_ROWS, 3)], 1
    ),
    "whole row, then junk": (text(A) + b" junk\n" + lines(B), [A, B], [(1, Kind.NOT_JSON, 1)], 2),
    "NUL before a row": (NUL + lines(A), [A], [(1, Kind.NUL_BYTES, 1)], 1),
    "NUL after a row": (text(A) + NUL + b"\n", [A], [(1, Kind.NUL_BYTES, 1)], 1),
    "NUL between two rows": (
        text(A) + NUL + lines(B), [A, B], [(1, Kind.NUL_BYTES, 2), (1, Kind.FUSED_ROWS, 2)], 1
    ),
    "NUL as a whole line": (lines(A) + NUL + b"\n" + lines(B), [A, B], [(2, Kind.NUL_BYTES, 0)], 3),
    "NUL as the tail": (lines(A) + NUL, [A], [(2, Kind.NUL_BYTES, 0)], 2),
    "nothing but NUL": (NUL, [], [(1, Kind.NUL_BYTES, 0)], 1),
    "invalid UTF-8 as a line": (
        lines(A) + b"\xff\xfe\x80\n" + lines(B), [A, B], [(2, Kind.INVALID_UTF8, 0), (2, Kind.NOT_JSON, 0)], 3
    ),
    "invalid UTF-8 in a value": (
        lines(A) + lines(row(1, s="xyz")).replace(b"y", b"\xe9"),
        [A, row(1, s="x\ufffdz")], [(2, Kind.INVALID_UTF8, 1)], 2,
    ),
    "byte order mark at the start": (BOM + lines(A, B), [A, B], [(1, Kind.BYTE_ORDER_MARK, 1)], 2),
    "a file appended with its byte order mark": (
        lines(A) + BOM + lines(NEXT_RUN), [A, NEXT_RUN], [(2, Kind.TORN_ROW, 1), (2, Kind.FUSED_ROWS, 1)], 2
    ),
    "text": (b"Traceback (most recent call last):\n" + lines(A), [A], [(1, Kind.NOT_JSON, 0)], 2),
    "a list": (b'[{"event":"x","t":1,"run":"a","seq":0}]\n' + lines(A), [A], [(1, Kind.NOT_AN_EVENT, 0)], 2),
    "a string, a number, null": (
        b'"x"\n7\nnull\n' + lines(A), [A], [(n, Kind.NOT_AN_EVENT, 0) for n in (1, 2, 3)], 4
    ),
    "an object without event, t or run": (
        b'{"t":1,"run":"a"}\n{"event":"x","run":"a"}\n{"event":"x","t":1}\n{}\n' + lines(A),
        [A], [(n, Kind.NOT_AN_EVENT, 0) for n in (1, 2, 3, 4)], 5,
    ),
    "a lone surrogate escape": (
        lines(row(s="?")).replace(b"?", b"\\ud800"), [row(s="\ufffd")], [(1, Kind.LONE_SURROGATE, 1)], 1
    ),
    "a lone surrogate escape in a key": (
        lines(row() | {"k?": 1}).replace(b"?", b"\\udfff"), [row() | {"k\ufffd": 1}], [(1, Kind.LONE_SURROGATE, 1)], 1
    ),
    "versions that are no numbers": (
        lines(row(tokens_by_version={"new": 1})),
        [row(tokens_by_version={"new": 1})], [(1, Kind.BAD_FIELD, 1)], 1,
    ),
    "counts that are no object": (
        lines(row(tokens_by_version=[3, 4])), [row(tokens_by_version=[3, 4])], [(1, Kind.BAD_FIELD, 1)], 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_was_whole_is_read_and_what_was_not_is_named(case: str) -> None:
    """Every row that was whole arrives, in order; the report has each damage with its line."""
    data, expected, damage, line_count = CASES[case]
    rows, report = read(data)

    assert expected == rows
    assert damage == faults(report)
    counts = {kind: sum(1 for fault in damage if fault[1] is kind) for _, kind, _ in damage}
    assert report_of(rows, lines=line_count, damages=report.damages, damage_counts=counts) == report
    assert not report.intact


def test_a_row_torn_at_any_byte_is_a_torn_tail() -> None:
    """However far the last write came, the rows before it arrive and the tear is named."""
    whole = lines(RICH)
    seen = [(rows, faults(report)) for rows, report in (read(lines(A) + whole[:n]) for n in range(1, len(whole) - 1))]

    assert [([A], [(2, Kind.TORN_TAIL, 0)])] * (len(whole) - 2) == seen


def test_a_row_torn_at_any_byte_does_not_cost_the_row_fused_to_it() -> None:
    """The next run's first row arrives, wherever the row before it was torn."""
    torn = text(RICH)
    seen = [
        (n, rows, faults(report))
        for n, (rows, report) in ((n, read(torn[:n] + lines(NEXT_RUN))) for n in range(1, len(torn)))
    ]

    expected = [(1, Kind.TORN_ROW, 1), (1, Kind.FUSED_ROWS, 1)]
    assert [(n, [NEXT_RUN], expected) for n in range(1, len(torn))] == seen


def test_bare_constants_of_json_dumps_are_read_and_named() -> None:
    """``json.dumps`` writes NaN and the infinities bare; that is no strict JSON, and costs no row."""
    values = [float("nan"), float("inf"), float("-inf")]
    rows, report = read(lines(*(row(seq, value=value, text="NaN") for seq, value in enumerate(values))))

    assert ["nan", "inf", "-inf"] == [str(float(found["value"])) for found in rows]
    assert [(n, Kind.NOT_STRICT_JSON, 1) for n in (1, 2, 3)] == faults(report)


def test_the_word_nan_in_a_text_is_no_damage() -> None:
    """Only a bare constant is damage, also in a line that is read the slow way."""
    rows, report = read(text(row(0, s="NaN")) + lines(row(1, s="-Infinity")))

    assert [row(0, s="NaN"), row(1, s="-Infinity")] == rows
    assert [(1, Kind.FUSED_ROWS, 2)] == faults(report)


def test_a_torn_row_shows_as_a_gap_when_its_run_goes_on() -> None:
    """What the damage cost is counted by the sequence numbers."""
    rows, report = read(lines(A) + text(B)[:15] + b"\n" + lines(row(2)))

    assert ([A, row(2)], 1, [(2, Kind.TORN_ROW, 0)]) == (rows, report.rows_missing, faults(report))


@pytest.mark.parametrize("kind", ["json array", "json lines"])
def test_a_pretty_printed_file_is_reported_line_by_line(kind: str) -> None:
    """A file that is JSON but not one object per line gives no row and no silence."""
    data = json.dumps([A] if kind == "json array" else A, indent=1).encode()
    rows, report = read(data)

    assert ([], len(data.splitlines())) == (rows, report.lines)
    assert set(range(1, report.lines + 1)) == {damage.line for damage in report.damages}
