"""The report: frozen, bounded, and honest about what it does not list."""

from __future__ import annotations

import dataclasses

import pytest

from rtrace_otel.analysis.reading.damage import MAX_KEPT, Damage, DamageKind, SeqGap
from tests.analysis.rows import lines, read, row


def test_beyond_the_first_hundred_damages_are_counted_only() -> None:
    """A file of garbage does not fill the memory, and no damage is left out of the count."""
    _, report = read(b"garbage\n" * (MAX_KEPT + 50))

    assert {DamageKind.NOT_JSON: MAX_KEPT + 50} == report.damage_counts
    assert list(range(1, MAX_KEPT + 1)) == [damage.line for damage in report.damages]


def test_beyond_the_first_hundred_gaps_are_counted_only() -> None:
    """Every missing row is in the count, also where its gap is not listed."""
    _, report = read(lines(*(row(seq) for seq in range(1, 2 * MAX_KEPT + 100, 2))))

    assert MAX_KEPT + 50 == report.rows_missing
    assert tuple(SeqGap("a", n + 1, 2 * n, 1) for n in range(MAX_KEPT)) == report.gaps


def test_a_report_does_not_change_while_reading_goes_on() -> None:
    """A caller may keep the report of a moment."""
    _, report = read(lines(row(0)))

    with pytest.raises(dataclasses.FrozenInstanceError):
        report.rows = 7  # type: ignore[misc]


@pytest.mark.parametrize(
    ("data", "intact"),
    [
        (lines(row(0)), True),
        (b"\n" + lines(row(0)), True),
        (lines(row(0)).replace(b"\n", b"\r\n"), True),
        (lines(row(1)), False),
        (lines(row(0), row(0)), False),
        (lines(row(0)) + b"{", False),
        (lines(row(0)) + b"[]\n", False),
    ],
    ids=["whole", "blank line", "CR LF", "gap", "doubled", "torn", "no event"],
)
def test_intact_means_that_nothing_is_wrong(data: bytes, intact: bool) -> None:
    """Harmless oddities leave a file intact; every loss does not."""
    assert intact is read(data)[1].intact


def test_a_damage_says_what_and_where() -> None:
    """Line, kind, text and what could be saved: enough to look it up."""
    _, report = read(lines(row(0)) + b"oops\n")

    assert (Damage(2, DamageKind.NOT_JSON, "oops", 0),) == report.damages
