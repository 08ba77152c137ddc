"""Widths of texts on a terminal, and curves of one character per value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from rtrace_otel.report.cells import cells, clipped, padded, sparkline


@pytest.mark.parametrize(("text", "width"), [("", 0), ("abc", 3), ("\u7d44x", 3), ("e\u0301", 1), ("\u2026", 1)])
def test_cells(text: str, width: int) -> None:
    """A wide character takes two, an accent that is drawn over a letter none."""
    assert width == cells(text) == cell_len(text)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (9, "\u7d44\u7d44 abc"),
        (8, "\u7d44\u7d44 abc"),
        (7, "\u7d44\u7d44 a\u2026"),
        (5, "\u7d44\u7d44\u2026"),
        (4, "\u7d44\u2026"),
        (3, "\u7d44\u2026"),
        (1, "\u2026"),
        (0, ""),
    ],
)
def test_clipped(width: int, expected: str) -> None:
    """The end is left out, and a sign stands for it; half of a wide character is not shown."""
    assert expected == clipped("\u7d44\u7d44 abc", width)


@given(st.text(), st.integers(0, 30))
def test_clipped_text_fits(text: str, width: int) -> None:
    """Whatever it is."""
    assert cells(clipped(text, width)) <= width


def test_padded() -> None:
    """By columns, not by characters."""
    assert ("\u7d44  ", "  \u7d44") == (padded("\u7d44", 4), padded("\u7d44", 4, right=True))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ""),
        ([0.0, 7.0], "\u2581\u2588"),
        ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"),
        ([7.0, 7.0], "\u2588\u2588"),  # the scale begins at 0
        ([-7.0, 0.0], "\u2581\u2588"),  # or below it
        ([0.0, 0.0], "\u2581\u2581"),
        ([None, 7.0], "\u00b7\u2588"),
        ([None], "\u00b7"),
        ([-1.7e308, 1.7e308], "\u2581\u2588"),
    ],
)
def test_sparkline(values: list[float | None], expected: str) -> None:
    """Eight heights from 0 to the greatest value."""
    assert expected == sparkline(values)
