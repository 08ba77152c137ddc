"""How numbers, times and ids are shown to people."""

from __future__ import annotations

import math

import pytest

from rtrace_otel.report.numbers import age, count, listed, moment, percent, plural, ranges, seconds, shortener


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0 ms"),
        (0.0004, "0 ms"),
        (0.02, "20 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),  # never "1000 ms"
        (1, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 0 s"),  # never "60.0 s"
        (60, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 0 min"),
        (3600, "1 h 0 min"),
        (11520, "3 h 12 min"),
        (90_000, "25 h 0 min"),
        (None, "-"),
    ],
)
def test_durations(value: float | None, expected: str) -> None:
    """Two units at most, and no unit beyond its range."""
    assert expected == seconds(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.5, 1e300])
def test_odd_durations_are_shown_all_the_same(value: float) -> None:
    """A clock that was stepped, or a foreign file, can give any number."""
    assert seconds(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "1970-01-01 00:00:00"),
        (1_795_977_464.957, "2026-11-29 18:37:44"),
        (None, "-"),
    ],
)
def test_moments_are_in_utc_to_the_second(value: float | None, expected: str) -> None:
    """The second that has begun, in UTC whatever the host's time zone."""
    assert expected == moment(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300, -1e300])
def test_moments_beyond_the_calendar_are_shown_as_they_are(value: float) -> None:
    """Not every number is a time."""
    assert str(value) == moment(value)


@pytest.mark.parametrize(
    ("value", "expected"), [(0.0, "0.000"), (-0.25, "-0.250"), (1.39, "1.390"), (0.0004, "0.000"), (None, "-")]
)
def test_ages_have_three_digits(value: float | None, expected: str) -> None:
    """In versions; the sign of a negative age is kept."""
    assert expected == age(value)


@pytest.mark.parametrize(("value", "expected"), [(0, "0 %"), (1.0, "100 %"), (0.126, "13 %"), (None, "-")])
def test_shares_are_whole_per_cents(value: float | None, expected: str) -> None:
    """Enough to compare steps."""
    assert expected == percent(value)


@pytest.mark.parametrize(("value", "expected"), [(0, "0"), (999, "999"), (1234567, "1,234,567"), (None, "-")])
def test_counts_separate_thousands(value: int | None, expected: str) -> None:
    """Large numbers can be read."""
    assert expected == count(value)


@pytest.mark.parametrize(("number", "expected"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (1000, "1,000 steps")])
def test_one_is_singular(number: int, expected: str) -> None:
    """Only 1 is singular."""
    assert expected == plural(number, "step")


def test_an_irregular_plural_is_given() -> None:
    """``dispatches`` is not ``dispatchs``."""
    assert ["1 dispatch", "2 dispatches"] == [plural(number, "dispatch", "dispatches") for number in (1, 2)]


@pytest.mark.parametrize(
    ("words", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_listed(words: list[str], expected: str) -> None:
    """As in a sentence."""
    assert expected == listed(words)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((), ""),
        ((5,), "5"),
        ((5, 6, 7), "5-7"),
        ((5, 6, 7, 9), "5-7 and 9"),
        ((1, 3, 5, 6), "1, 3 and 5-6"),
        ((0, 1), "0-1"),
    ],
)
def test_neighbours_are_a_range(numbers: tuple[int, ...], expected: str) -> None:
    """Many steps fit into one sentence."""
    assert expected == ranges(numbers)


@pytest.mark.parametrize(("value", "expected"), [("03844d5728a066ff", "03844d57"), ("a", "a"), (7, "7"), (None, "-")])
def test_ids_are_shortened_to_their_head(value: object, expected: str) -> None:
    """Eight characters tell the random ids of one file apart."""
    assert expected == shortener([])(value)


def test_ids_with_a_common_head_are_shown_so_far_that_they_differ() -> None:
    """Names that people give runs often begin alike; shown names never collide."""
    show = shortener(["controller-1", "controller-2", "x"])

    assert ("controller-1", "controller-2", "x") == (show("controller-1"), show("controller-2"), show("x"))
