"""Lanes of spans that overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.report.lanes import Lanes

SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)).map(lambda pair: (pair[0], pair[0] + pair[1])))


def lanes_of(spans: list[tuple[int, int]]) -> list[int]:
    """The lane of each span."""
    lanes = Lanes()
    return [lanes.lane(start, end) for start, end in spans]


def test_the_lane_that_fell_free_last_is_used() -> None:
    """The third span could follow either; it follows the nearer one, and leaves room for the fourth."""
    assert [0, 1, 1, 0] == lanes_of([(0, 2), (0, 5), (6, 7), (3, 9)])


def test_a_span_may_begin_where_another_ends() -> None:
    """Also one without a length."""
    assert [0, 0, 0] == lanes_of([(0, 5), (5, 5), (5, 8)])


@given(SPANS)
def test_no_two_spans_of_a_lane_overlap(spans: list[tuple[int, int]]) -> None:
    """Whatever the order in which they come."""
    placed = list(zip(lanes_of(spans), spans, strict=True))
    for place, (lane, (start, end)) in enumerate(placed):
        others = [other for other_lane, other in placed[place + 1 :] if other_lane == lane]
        assert [] == [(s, e) for s, e in others if s < end]
        assert start <= end


@given(SPANS)
def test_there_are_as_many_lanes_as_spans_that_overlap(spans: list[tuple[int, int]]) -> None:
    """In the order of their ends, the greatest number that is open at one moment is enough.

    Just before each moment ``t``, those with ``start < t <= end`` are open; a span without a length needs a lane too.
    """
    spans = sorted((span for span in spans if span[0] < span[1]), key=lambda span: span[1])
    deepest = max((sum(s < t <= e for s, e in spans) for t in range(62)), default=0)
    assert deepest == len(set(lanes_of(spans)))
