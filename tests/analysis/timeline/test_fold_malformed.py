"""Rows with missing fields and wrong types, and random histories: the timeline adds up all the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.timeline.fold import timeline
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.events import EVENTS, Row
from tests.analysis.test_flow_malformed import FIELDS, WRONG
from tests.analysis.test_flow_properties import HISTORIES
from tests.report.history import event, trace
from tests.report.timed import JOB


def adds_up(rows: list[Row]) -> bool:
    """Every attempt that ran is there once."""
    whole = timeline(rows)
    whole.self_check()
    begun = dict(attempts(rows, Choice(limit=0)).by_outcome)
    begun.pop("kept", None)
    assert begun == dict(whole.by_outcome)
    assert whole.attempts_shown == whole.attempts_total - whole.attempts_untimed
    return True


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field of each event of that name, in the middle of a job."""
    for value in WRONG:
        rows = [row | {field: value} if row["event"] == name else row for row in JOB]
        odd = event("b", name, **{"attempt_id": "z", "group_id": "h"} | {field: value})

        assert adds_up(trace(*rows, odd)), value


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_no_time_raises(name: str) -> None:
    """Whatever stands for the time of each event of that name."""
    for value in WRONG:
        assert adds_up([row | {"t": value} if row["event"] == name else row for row in JOB]), value


@settings(deadline=None, max_examples=200)
@given(HISTORIES)
def test_random_histories_add_up(events: list[Row]) -> None:
    """Every attempt once, no overlap in a lane, and the series has all attempt-seconds."""
    rows = trace(*events)
    sample = timeline(rows, Selection(max_attempts=2))
    sample.self_check()

    assert adds_up(rows)
    assert min(2, sample.attempts_matching) == sample.attempts_shown
