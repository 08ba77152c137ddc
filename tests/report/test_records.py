"""Records of a table hold what the results hold."""

from __future__ import annotations

from dataclasses import asdict

from rtrace_otel.analysis.overview import OverviewFold
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.report.records import flat
from tests.browser.pages import DEMO


def test_what_has_a_line_for_each_step_is_flat() -> None:
    """For each of these the deep copy is the same: none holds another result."""
    fold = OverviewFold()
    with read_events(DEMO) as reader:
        for row in reader:
            fold.add(row, reader.line)
    found = fold.result(reader.report)
    bands = [band for kind in found.timeline.bands.__slots__ for band in getattr(found.timeline.bands, kind)]
    results = [*found.staleness.ages.steps, *found.steps.steps, *found.waste.steps, *bands]
    results += [*found.pauses.refits, *found.pauses.checkpoints]

    assert len(results) > 80
    assert [asdict(result) for result in results] == [flat(result) for result in results]
