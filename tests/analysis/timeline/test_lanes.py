"""Bars are packed into as few lanes as bars are open at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.timeline.lanes import pack_lanes

_BARS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20))).map(sorted)


def test_a_bar_takes_the_lowest_free_lane() -> None:
    """The third one begins where the first one ends; the fourth one finds lane 1 free since 3."""
    assert [0, 1, 0, 1, 2] == list(pack_lanes([0, 1, 2, 3, 3.5], [2, 3, 9, 5, 4]))


def test_bars_that_are_moments_share_a_lane() -> None:
    """Nothing overlaps what takes no time."""
    assert [0, 0, 0] == list(pack_lanes([1, 1, 1], [1, 1, 2]))


def test_no_bars() -> None:
    """No lanes."""
    assert [] == list(pack_lanes([], []))


@given(_BARS)
def test_no_two_bars_of_a_lane_overlap_and_no_lane_is_wasted(bars: list[tuple[int, int]]) -> None:
    """As many lanes as bars are open at once, counted at each start one by one."""
    starts, ends = [start for start, _ in bars], [start + length for start, length in bars]
    lanes = pack_lanes(starts, ends)

    for place, lane in enumerate(lanes):
        others = [at for at in range(place) if lanes[at] == lane]
        assert all(ends[at] <= starts[place] for at in others)
    open_at_starts = [1 + sum(end > start for end in ends[:place]) for place, start in enumerate(starts)]
    assert max([*open_at_starts, 0]) == max([*lanes, -1]) + 1
