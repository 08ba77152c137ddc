"""Percentiles: exact for few values, within 2 % for many, in constant memory."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.checked import MAX_TIME_S
from rtrace_otel.analysis.percentiles import EXACT_UP_TO, RELATIVE_ERROR, Distribution, Percentiles


def of(values: list[float]) -> Distribution:
    """The percentiles of these values."""
    collected = Percentiles()
    for value in values:
        collected.add(value)
    return collected.result()


def nearest_rank(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    return next(v for v in sorted(values) if sum(other <= v for other in values) >= share * len(values) - 1e-9)


def test_no_value_has_no_percentile() -> None:
    """Nothing is known of nothing; unknown values do not count."""
    assert Distribution(0, None, None, None, None, exact=True) == of([])
    unknown = Percentiles()
    unknown.add(None)
    assert Distribution(0, None, None, None, None, exact=True) == unknown.result()


def test_few_values_by_hand() -> None:
    """Of 1 to 20: half of them are at most 10, 95 % are at most 19, 99 % need the twentieth."""
    assert Distribution(20, 10.0, 19.0, 20.0, 20.0, exact=True) == of([float(n) for n in range(20, 0, -1)])


def test_one_value_is_every_percentile() -> None:
    """Also if it is zero."""
    assert Distribution(1, 0.0, 0.0, 0.0, 0.0, exact=True) == of([0.0])


@pytest.mark.parametrize(("count", "exact"), [(EXACT_UP_TO, True), (EXACT_UP_TO + 1, False)])
def test_a_thousand_values_are_kept(count: int, exact: bool) -> None:
    """One more, and the percentiles are approximate; the largest value stays exact, and the answer says so."""
    found = of([float(n) for n in range(1, count + 1)])

    assert (count, exact, float(count)) == (found.count, found.exact, found.max)
    assert (500.0 == found.p50) is exact
    assert math.isclose(500.5, found.p50 or 0, rel_tol=RELATIVE_ERROR)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.floats(0.1, 6), st.floats(-6, 8))
def test_many_values_are_within_two_per_cent(seed: int, spread: float, scale: float) -> None:
    """Whatever the scale of the values, from microseconds to years."""
    draw = random.Random(seed)
    values = [max(1e-6, min(10**scale * math.exp(draw.gauss(0, spread)), MAX_TIME_S)) for _ in range(1500)]
    found = of(values)

    assert not found.exact
    for share, value in ((0.5, found.p50), (0.95, found.p95), (0.99, found.p99)):
        assert math.isclose(nearest_rank(values, share), value or 0, rel_tol=RELATIVE_ERROR)
    assert max(values) == found.max


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=60))
def test_few_values_are_exact(values: list[float]) -> None:
    """They equal the definition."""
    expected = [nearest_rank(values, share) for share in (0.5, 0.95, 0.99)]

    assert expected == [(found := of(values)).p50, found.p95, found.p99]


def test_less_than_a_microsecond_is_nothing() -> None:
    """Rows cannot tell it from zero; a percentile never exceeds the largest value."""
    found = of([0.0] * 600 + [2e-7] * 600)

    assert (0.0, 0.0, 2e-7) == (found.p50, found.p99, found.max)
    same = of([5.0] * 1200)
    assert (5.0, 5.0) == (same.p99, same.max)


def test_memory_is_bounded() -> None:
    """Values over the whole range of time fill about a thousand buckets, not more."""
    collected = Percentiles()
    for n in range(200_000):
        collected.add(1e-7 * math.exp(42.9 * n / 200_000))

    assert 1000 < len(collected._buckets) < 1100
    assert collected._values is None


def test_survival_by_hand() -> None:
    """Of 1, 2, 2 and 4: four are at least 1, three at least 2, one at least 4; of nothing there is no curve."""
    collected = Percentiles()
    for value in (2.0, 4.0, 1.0, 2.0):
        collected.add(value)

    assert ((1.0, 4), (2.0, 3), (4.0, 1)) == collected.survival()
    assert () == Percentiles().survival()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(1, 3 * EXACT_UP_TO))
def test_survival_counts_every_value(seed: int, count: int) -> None:
    """It begins with all of them, falls, and each point is within 2 % of a place where so many values are left."""
    rng = random.Random(seed)
    values = [0.0, *(rng.lognormvariate(0, 3) for _ in range(count - 1))]
    collected = Percentiles()
    for value in values:
        collected.add(value)
    curve = collected.survival()

    assert count == curve[0][1]
    assert [left for _, left in curve] == sorted((left for _, left in curve), reverse=True)
    for point, left in curve:
        assert sum(value >= point * (1 + RELATIVE_ERROR) for value in values) <= left
        assert left <= sum(value >= point * (1 - RELATIVE_ERROR) - 1e-6 for value in values)
