"""Sets of numbers as ranges, against Python's own sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.spans.ranges import Ranges

_numbers = st.lists(st.integers(0, 40), max_size=40)


def made(numbers: list[int]) -> Ranges:
    """The set of numbers."""
    ranges = Ranges()
    for number in numbers:
        ranges.add(number)
    return ranges


def content(ranges: Ranges) -> set[int]:
    """The numbers that are in a set."""
    return {number for number in range(-1, 60) if number in ranges}


def text_of(numbers: set[int]) -> str:
    """The documented text form, made another way."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return " ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


@given(_numbers)
def test_adding_is_like_a_set(numbers: list[int]) -> None:
    """Content, size and text are those of a set."""
    ranges, expected = made(numbers), set(numbers)
    assert (expected, len(expected), text_of(expected)) == (content(ranges), len(ranges), str(ranges))


@given(_numbers, _numbers)
def test_taking_tells_what_was_there(before: list[int], numbers: list[int]) -> None:
    """Afterwards all numbers are there; those that were there before are told."""
    ranges = made(before)
    expected = set(before) | set(numbers)
    assert (len(set(numbers)), set(before) & set(numbers)) == ranges.take(numbers)
    assert (expected, text_of(expected)) == (content(ranges), str(ranges))


@given(st.integers(2, 4), st.sets(st.integers(0, 400), max_size=6))
def test_a_few_numbers_far_apart(every: int, numbers: set[int]) -> None:
    """Among a hundred gaps, whether they fill some of them or not."""
    before = set(range(0, 400, every))
    ranges = made(sorted(before))
    assert (len(numbers), before & numbers) == ranges.take(numbers)
    assert text_of(before | numbers) == str(ranges)


@given(_numbers, _numbers)
def test_merging_is_a_union(left: list[int], right: list[int]) -> None:
    """A merge is a union, and leaves the other set alone."""
    ranges, other = made(left), made(right)
    ranges.merge(other)
    expected = set(left) | set(right)
    assert (expected, len(expected), set(right)) == (content(ranges), len(ranges), content(other))
    assert text_of(expected) == str(ranges)


@given(_numbers)
def test_text_comes_back(numbers: list[int]) -> None:
    """The text form is parsed to the same set."""
    assert set(numbers) == content(Ranges.parse(str(made(numbers))))


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=5), _numbers)
def test_any_ranges_parse(pairs: list[tuple[int, int]], more: list[int]) -> None:
    """Ranges that overlap, come in any order, or run backwards (these are empty) still make a set."""
    ranges = Ranges.parse(" ".join(f"{first}-{last}" for first, last in pairs))
    for number in more:
        ranges.add(number)
    expected = {number for first, last in pairs for number in range(first, last + 1)} | set(more)
    assert (expected, len(expected)) == (content(ranges), len(ranges))


@given(st.text(max_size=20))
def test_garbage_parses_to_something(text: str) -> None:
    """A damaged row of deliveries raises nothing."""
    assert len(Ranges.parse(text)) >= 0
