"""The first so many of a stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.top import Top

KEYS = st.lists(st.none() | st.integers(-5, 5) | st.floats(-5, 5), max_size=40)


def first(keys: list[float | None], limit: int, *, descending: bool) -> list[int]:
    """Places of the first keys, by sorting them all; unknown keys last, equal ones in the order of their coming."""
    sign = -1 if descending else 1
    order = sorted(range(len(keys)), key=lambda place: (keys[place] is None, sign * (keys[place] or 0), place))
    return order[: limit or None]


@given(KEYS, st.integers(0, 12), st.booleans())
def test_it_keeps_what_sorting_all_gives(keys: list[float | None], limit: int, descending: bool) -> None:
    """The same items in the same order, for any keys and any limit."""
    top: Top[int] = Top(limit, descending=descending)
    for place, key in enumerate(keys):
        top.add(key, place)

    assert first(keys, limit, descending=descending) == list(top.result())


@pytest.mark.parametrize(("descending", "expected"), [(False, "dbc"), (True, "abc")])
def test_by_hand(descending: bool, expected: str) -> None:
    """Three of five; of the two equal keys the one that came first is nearer to the front."""
    top: Top[str] = Top(3, descending=descending)
    for key, item in ((9, "a"), (2, "b"), (2.0, "c"), (1, "d"), (None, "e")):
        top.add(key, item)

    assert expected == "".join(top.result())


def test_no_more_than_the_limit_is_held() -> None:
    """Many items need room for three."""
    top: Top[int] = Top(3, descending=True)
    for number in range(100_000):
        top.add(number % 1000, number)

    assert 3 == len(top._heap)
