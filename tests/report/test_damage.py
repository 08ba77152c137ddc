"""Damage and gaps of a file, in words and as JSON values."""

from __future__ import annotations

import json

import pytest

from rtrace_otel.analysis.reading.damage import MAX_KEPT, Damage, DamageKind, ReadReport, SeqGap, Tally
from rtrace_otel.report.damage import damage_json, damage_sentences
from rtrace_otel.report.formats import to_json


def report(*damages: Damage, **counts: int) -> ReadReport:
    """A read report with these damages and counts."""
    tally = Tally("trace.jsonl", lines=9, rows=8, runs={"a": 8})
    for name, count in counts.items():
        setattr(tally, name, count)
    for damage in damages:
        tally.add_damage(damage)
    return tally.report()


def test_an_intact_file_has_no_sentence() -> None:
    """Nothing to say; blank lines and CR LF are harmless."""
    assert [] == damage_sentences(report(blank_lines=3, crlf_lines=2))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            report(Damage(9, DamageKind.TORN_TAIL, '{"event":"tr', 0)),
            ['1 x torn tail (line 9: {"event":"tr)'],
        ),
        (
            report(*(Damage(line, DamageKind.NOT_JSON, f"l{line}", 0) for line in (1, 2, 3))),
            ["3 x not JSON (line 1: l1; line 2: l2; line 3: l3)"],
        ),
        (
            report(*(Damage(line, DamageKind.NOT_JSON, "x", 0) for line in range(1, 2001))),
            ["2,000 x not JSON (line 1: x; line 2: x; line 3: x, ...)"],
        ),
        (
            report(Damage(2, DamageKind.NUL_BYTES, "8 of them", 1), Damage(5, DamageKind.NOT_AN_EVENT, "[1]", 0)),
            ["1 x NUL bytes (line 2: 8 of them)", "1 x not an event (line 5: [1])"],
        ),
        (report(rows_out_of_order=1), ["1 row out of order or doubled, by sequence number"]),
        (report(rows_out_of_order=1200), ["1,200 rows out of order or doubled, by sequence number"]),
    ],
    ids=["one", "three", "two thousand", "two kinds", "one row out of order", "rows out of order"],
)
def test_damages_in_words(found: ReadReport, expected: list[str]) -> None:
    """One sentence for each kind: how many, where the first ones are, and what is there."""
    assert expected == damage_sentences(found)


def test_gaps_in_words() -> None:
    """How many rows are missing, in how many places, and where the first place is."""
    tally = Tally("f")
    tally.unexpected_seq("abcdefghij", 1, 3)
    assert [
        "1 row missing by sequence number, in 1 place (first: run abcdefgh, before line 3: 1 row from number 0)"
    ] == (damage_sentences(tally.report()))
    tally.unexpected_seq("abcdefghij", 1202, 9)
    assert [
        "1,201 rows missing by sequence number, in 2 places (first: run abcdefgh, before line 3: 1 row from number 0)"
    ] == damage_sentences(tally.report())


def test_more_gaps_than_are_kept_are_counted() -> None:
    """The number of places is not the number of places that are remembered."""
    tally = Tally("f")
    for number in range(MAX_KEPT + 50):
        tally.unexpected_seq("a", 2 * number + 1, number + 1)
    where = f"in {MAX_KEPT + 50} places (first: run a, before line 1: 1 row from number 0)"

    assert [f"{MAX_KEPT + 50} rows missing by sequence number, {where}"] == damage_sentences(tally.report())


def test_a_kind_of_which_no_example_is_kept_has_no_empty_list_of_places() -> None:
    """The first damages fill the memory; a kind that comes later is counted, and the sentence is whole."""
    found = report(
        *(Damage(line, DamageKind.NOT_JSON, "x", 0) for line in range(1, MAX_KEPT + 1)),
        *(Damage(line, DamageKind.NUL_BYTES, "1 of them", 0) for line in range(200, 202)),
    )
    sentence = damage_sentences(found)[1]

    assert (True, False) == (sentence.startswith("2 x NUL bytes"), "(," in sentence)


def test_the_text_of_a_damaged_line_is_shown_not_obeyed() -> None:
    """Escape codes and line ends of a damaged file do not reach the terminal."""
    found = report(Damage(1, DamageKind.NOT_JSON, "\x1b[2J\x9b1m\r\n\u202e", 0))

    assert ["1 x not JSON (line 1: \\x1b[2J\\x9b1m\\r\\n\\u202e)"] == damage_sentences(found)


def test_the_run_of_a_gap_is_shown_not_obeyed() -> None:
    """Run ids come from the file too."""
    tally = Tally("f")
    tally.unexpected_seq("\x1b[2Jab", 1, 3)

    assert "run \\x1b[2Jab," in damage_sentences(tally.report())[0]


def test_json_holds_the_whole_report() -> None:
    """Every count, every damage and gap that was kept, and whether the file is intact."""
    tally = Tally("trace.jsonl", lines=4, rows=3, blank_lines=1, crlf_lines=2, runs={"a": 3})
    tally.add_damage(Damage(2, DamageKind.NOT_JSON, "x", 0))
    tally.gaps.append(SeqGap("a", 3, 1, 5))
    tally.rows_missing = 5
    tally.gap_count = 1
    expected = {
        "source": "trace.jsonl", "lines": 4, "rows": 3, "runs": {"a": 3},
        "gaps": [{"run": "a", "line": 3, "first": 1, "missing": 5}], "rows_missing": 5, "rows_out_of_order": 0,
        "damages": [{"line": 2, "kind": "not JSON", "detail": "x", "rows_recovered": 0}],
        "damage_counts": {"not JSON": 1}, "blank_lines": 1, "crlf_lines": 2, "gap_count": 1, "intact": False,
    }  # fmt: skip

    assert expected == json.loads(to_json("age", {}, damage_json(tally.report())))["read"]


def test_json_of_an_intact_file_says_so() -> None:
    """Scripts ask for one value."""
    assert True is damage_json(report())["intact"]
