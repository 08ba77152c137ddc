"""What a report is made of."""

from __future__ import annotations

import pytest

from rtrace_otel.report.document import Column, Document, Facts, Sentence, Table, printable


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        (None, "-"),
        (0, "0"),
        (False, "False"),
        ("two words", "two words"),
        ("tab\tnew\nline\r", "tab\\tnew\\nline\\r"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("\u2028\u202e\ufeff", "\\u2028\\u202e\\ufeff"),
        ("\ud800", "\\ud800"),
        ("Grüße 組 🙂", "Grüße 組 🙂"),
        (["a\nb"], "['a\\nb']"),
    ],
)
def test_control_characters_are_shown_not_obeyed(value: object, expected: str) -> None:
    """Whatever would move the cursor, change colours or turn the writing direction is written out."""
    assert expected == printable(value)


TABLE = Table(
    "Things",
    (
        Column("name", "name", align="left"),
        Column("size", "size", lambda size: f"{size} m"),
        Column("broken", "broken", usual=0),
    ),
    [{"name": "a", "size": 1, "broken": 0}, {"name": None, "size": 2, "broken": 0}],
)


def test_a_column_that_tells_nothing_is_left_out_for_people() -> None:
    """Every record has the usual value: the column is not worth its place."""
    columns, rows = TABLE.for_people()

    assert (["name", "size"], [["a", "1 m"], ["-", "2 m"]]) == ([column.key for column in columns], rows)


def test_one_unusual_value_brings_the_column_back() -> None:
    """A finding is never hidden."""
    table = Table("Things", TABLE.columns, [*TABLE.records, {"name": "c", "size": 3, "broken": 1}])
    columns, rows = table.for_people()

    assert (["name", "size", "broken"], ["c", "3 m", "1"]) == ([column.key for column in columns], rows[-1])


def test_a_table_without_records_shows_its_columns() -> None:
    """Nothing to show is shown as nothing, under headings."""
    columns, rows = Table("Things", TABLE.columns, []).for_people()

    assert (["name", "size"], []) == ([column.key for column in columns], rows)


def test_the_main_table_is_the_first() -> None:
    """CSV gives the first table of a report."""
    second = Table("More", TABLE.columns, [])

    assert TABLE is Document("D", (Sentence("s"), TABLE, second)).main_table


def test_a_report_without_a_table_has_no_main_one() -> None:
    """The error names the report."""
    with pytest.raises(ValueError, match=r"^D: no table$"):
        _ = Document("D", (Sentence("s"), Facts("F", (("a", "b"),)))).main_table


def test_a_report_can_be_followed_by_more() -> None:
    """The blocks are added at the end of a new report; the old one stays as it was."""
    report = Document("D", (Sentence("first"),))

    assert Document("D", (Sentence("first"), Sentence("then"))) == report.followed_by((Sentence("then"),))
    assert (Sentence("first"),) == report.blocks
