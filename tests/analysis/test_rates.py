"""What happened in the last minute."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.watch.rates import WINDOW_S, RecentCounts


def test_counts_leave_the_window_after_a_minute() -> None:
    """At second 1059 the second 1000 is the oldest of sixty; at 1060 it is gone."""
    recent = RecentCounts()
    recent.add("rows", 1000.9)
    recent.add("rows", 1059.0, 5)

    assert {"rows": 6} == recent.totals(1059.5)
    assert {"rows": 5} == recent.totals(1060.0)
    assert {} == recent.totals(1200.0)


def test_a_time_far_off_costs_its_slot_only() -> None:
    """A damaged row from the year 9000 does not empty the window."""
    recent = RecentCounts()
    recent.add("rows", 1000.0)
    recent.add("rows", 1001.0)
    recent.add("rows", 221_845_392_000.0)

    assert 1 <= recent.totals(1001.0)["rows"] <= 2


@given(st.lists(st.floats(1000.0, 1300.0), max_size=50))
def test_totals_are_those_of_a_list(given_times: list[float]) -> None:
    """Times that never decrease, as within a run: exactly those of the last sixty seconds."""
    recent, times = RecentCounts(), sorted(given_times)
    for t in times:
        recent.add("rows", t)
    now = times[-1] if times else 1300.0

    assert sum(int(now) - WINDOW_S < int(t) for t in times) == recent.totals(now).get("rows", 0)
