"""What of a report fits on a screen."""

from __future__ import annotations

import pytest

from rtrace_otel.report.frame import Heading, Line, Section, fitted, joined, listing


def section(name: str, rank: int, least: int, most: int, *, apart: bool = False) -> Section:
    return Section(rank, least, most, lambda given: [Line(f"{name}{place}") for place in range(given)], apart)


SECTIONS = [section("a", 0, 1, 1), section("b", 2, 2, 4, apart=True), section("c", 1, 1, 2), section("d", 3, 1, 0)]


@pytest.mark.parametrize(
    ("height", "expected"),
    [
        (0, ""),
        (1, "a0"),
        (2, "a0 c0"),
        (3, "a0 c0 c1"),  # two lines of b are the fewest that are of use, and there is room for one
        (4, "a0 b0 b1 c0"),
        (5, "a0 b0 b1 c0 c1"),
        (7, "a0 b0 b1 b2 b3 c0 c1"),
        (8, "a0  b0 b1 b2 b3 c0 c1"),  # and a blank line
        (None, "a0  b0 b1 b2 b3 c0 c1"),
    ],
)
def test_sections_are_left_out_and_shortened_by_rank(height: int | None, expected: str) -> None:
    """In their own order, whatever their ranks."""
    assert expected == " ".join(line.text for line in fitted(SECTIONS, height))


@pytest.mark.parametrize(
    ("width", "expected"), [(20, "aa, bb, cc"), (9, "aa, cc"), (5, "cc"), (2, "cc"), (1, "\u2026")]
)
def test_parts_are_left_out_by_rank(width: int, expected: str) -> None:
    """What has rank 0 stays, clipped if it must be."""
    assert expected == joined([("aa", 1), ("bb", 2), ("cc", 0)], width)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (20, ["id  for  where", "x     1  p", "yy   20  qq"]),
        (13, ["id  for", "x     1", "yy   20"]),
        (6, ["id  f\u2026", "x\u2026", "yy\u2026"]),
    ],
)
def test_columns_are_left_out_by_rank(width: int, expected: list[str]) -> None:
    """Each line fits; a column that is empty everywhere is not shown."""
    headings = (Heading("id"), Heading("for", 0, right=True), Heading("where", 2), Heading("empty"))
    found = listing(headings, [["x", "1", "p", ""], ["yy", "20", "qq", ""]], width)

    assert expected == [line.text for line in found]
    assert ["heading", "plain", "plain"] == [line.tone for line in found]
