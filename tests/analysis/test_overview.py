"""One pass says what each analysis says by itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.flow.slow import SlowFold
from rtrace_otel.analysis.overview import Overview, OverviewFold
from rtrace_otel.analysis.pauses import pauses
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.timeline.fold import timeline
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.events import Row
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.rows import report_of


def overview(rows: list[Row], *, check: bool = True, selection: Selection | None = None) -> Overview:
    """What is known of rows, which adds up."""
    fold = OverviewFold(check=check, selection=selection)
    for line, row in enumerate(rows, 1):
        fold.add(row, line)
    found = fold.result(report_of(rows))
    found.self_check()
    return found


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_each_part_is_the_analysis(seed: int) -> None:
    """Summary, restores, waste, staleness, steps, slow attempts, pauses, timeline and findings."""
    rows = simulate(varied_settings(seed)).rows
    found, slow, check = overview(rows), SlowFold(), CheckFold()
    for line, row in enumerate(rows, 1):
        slow.add(row)
        check.add(row, line)

    assert summarise(rows) == found.summary
    assert restore_report(rows) == found.restores
    assert waste_report(rows) == found.waste
    assert staleness(rows) == found.staleness
    assert train_steps(rows) == found.steps
    assert slow.result() == found.slow
    assert pauses(rows) == found.pauses
    assert repr(timeline(rows)) == repr(found.timeline)  # unknown times are NaN, which equals nothing
    assert check.result(report_of(rows)) == found.check


def test_it_can_be_asked_again_and_again() -> None:
    """After each row, for a page that follows a file; in the end it says the same as one that was asked once."""
    rows = simulate(varied_settings(7)).rows[:120]
    fold = OverviewFold()
    for line, row in enumerate(rows, 1):
        fold.add(row, line)
        fold.result(report_of(rows[:line])).self_check()

    assert overview(rows).restores == fold.result(report_of(rows)).restores
    assert overview(rows).slow == fold.result(report_of(rows)).slow
    assert overview(rows).check == fold.result(report_of(rows)).check
    assert overview(rows, check=False).check is None


def test_the_timeline_holds_what_was_selected() -> None:
    """At most so many attempts; the other parts are those of the whole file."""
    rows = simulate(varied_settings(3)).rows
    found = overview(rows, selection=Selection(max_attempts=5))

    assert 5 == len(found.timeline.attempts)
    assert overview(rows).summary == found.summary


def test_nothing_is_known_of_nothing() -> None:
    """No row."""
    found = overview([])

    assert (0, (), ()) == (found.summary.rows, found.restores.stops, found.pauses.refits)
    assert pytest.approx(0.0) == found.timeline.attempt_seconds
