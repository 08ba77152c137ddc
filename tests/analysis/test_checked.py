"""Values from damaged rows are what they should be, or ``None``."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rtrace_otel.analysis.checked import amount, between, duration, integer, name, names, number, time_of

ODD: list[Any] = [None, True, "1", [], {}, math.nan, math.inf, -math.inf, 10**400, -(10**400)]


@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:9])
def test_odd_values_are_none(value: Any) -> None:
    """Whatever they are: no time, no number, no count."""
    found = (duration(value), time_of({"t": value}), number(value), integer(value), amount(value))

    assert (None,) * 5 == found


def test_good_values_stay() -> None:
    """Zero is a value."""
    assert (0.0, 1.5, -1.5, 0, -3, 3) == (
        duration(0), time_of({"t": 1.5}), number(-1.5), integer(0), integer(-3), amount(3)
    )  # fmt: skip


def test_limits() -> None:
    """No time before 1970 or after the year 9999, no whole number beyond 63 bits, no negative amount."""
    assert (None, None, None) == (duration(-1e-9), duration(253_402_300_800), amount(-1))
    assert (2**63 - 1, None) == (integer(2**63 - 1), integer(2**63))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(1.0, 3.5, 2.5), (2.0, 2.0, 0.0), (3.0, 2.0, None), (None, 2.0, None), (2.0, None, None)],
)
def test_between(start: float | None, end: float | None, expected: float | None) -> None:
    """Clocks that go back tell nothing."""
    assert expected == between(start, end)


def test_names() -> None:
    """Ids of any type are texts; a list has each once; a text is no list of letters."""
    assert (None, "7", "[1]") == (name(None), name(7), name([1]))
    assert (["7", "g"], [], []) == (names([7, "g", "7"]), names("gh"), names(None))
