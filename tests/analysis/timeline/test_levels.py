"""Series in few buckets: the mean of each bucket is exact, in whatever order spans come."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.timeline.levels import LevelFold

_SPANS = st.lists(
    st.tuples(st.floats(0, 1e4), st.floats(0, 1e4), st.integers(1, 1_000)), min_size=1, max_size=30
)  # fmt: skip


def test_means_of_buckets() -> None:
    """Two things from 0 to 4 and one from 3 to 7 in at most four buckets of two seconds: 2, 1 + 1/2, 1, 1/2.

    The span of the first is 0 to 4: means 2, 2; the second adds half a bucket at 3, a whole one, and half a one.
    """
    fold = LevelFold(("n",), most=4)
    fold.span("n", 0, 4, 2)
    fold.span("n", 3, 7)
    levels = fold.result()

    assert (0.0, 2.0) == (levels.start, levels.width)
    assert [2.0, 2.5, 1.0, 0.5] == list(levels.values["n"])
    assert 12.0 == levels.total("n")


def test_an_amount_is_spread_over_its_time() -> None:
    """Six tokens from 1 to 4 and five at 6, in buckets of two seconds: 2, 4, 0 and 5 tokens."""
    fold = LevelFold(("n",), most=4)
    fold.amount("n", 1, 4, 6)
    fold.amount("n", 6, 6, 5)

    assert [1.0, 2.0, 0.0, 2.5] == [round(value, 9) for value in fold.result().values["n"]]


def test_what_comes_earlier_makes_room_in_front() -> None:
    """The second span begins before the first; with the moment 1001 they need five buckets of a second."""
    fold = LevelFold(("n", "m"), most=8)
    fold.span("n", 1000, 1001)
    fold.span("m", 997, 998, 3)
    levels = fold.result()

    assert (997.0, 1.0) == (levels.start, levels.width)
    assert [0, 0, 0, 1, 0] == list(levels.values["n"])
    assert [3, 0, 0, 0, 0] == list(levels.values["m"])


def test_without_anything() -> None:
    """There is no bucket."""
    assert [] == list(LevelFold(("n",)).result().values["n"])


def test_a_copy_goes_on_separately() -> None:
    """What is added to it does not change the first."""
    fold = LevelFold(("n",), most=4)
    fold.span("n", 0, 4)
    other = fold.copy()
    other.span("n", 0, 4)

    assert (4.0, 8.0) == (fold.result().total("n"), other.result().total("n"))


@given(_SPANS, st.integers(2, 40))
def test_the_area_is_what_was_added(spans: list[tuple[float, float, int]], most: int) -> None:
    """However wide the buckets have become, and never more of them than allowed."""
    fold = LevelFold(("n", "made"), most)
    area = 0.0
    for start, length, level in spans:
        fold.span("n", start, start + length, level)
        fold.amount("made", start, start + length, level)
        area += (start + length - start) * level
    levels = fold.result()

    assert levels.total("n") == pytest.approx(area, rel=1e-6, abs=1e-6)
    assert levels.total("made") == pytest.approx(sum(level for _, _, level in spans), rel=1e-6)
    assert len(levels.values["n"]) == len(levels.values["made"]) <= most
    assert all(value >= 0 and math.isfinite(value) for value in levels.values["n"])


@given(_SPANS, st.integers(2, 40))
def test_each_mean_is_that_of_its_bucket(spans: list[tuple[float, float, int]], most: int) -> None:
    """Worked out span by span: the part of each one that lies in the bucket."""
    fold = LevelFold(("n",), most)
    for start, length, level in spans:
        fold.span("n", start, start + length, level)
    levels = fold.result()

    for place, value in enumerate(levels.values["n"]):
        low = levels.start + place * levels.width
        inside = (max(min(s + d, low + levels.width) - max(s, low), 0.0) * n for s, d, n in spans)
        assert value == pytest.approx(sum(inside) / levels.width, rel=1e-6, abs=1e-4)
