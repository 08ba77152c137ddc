"""Rows with missing fields and wrong types stop neither ``steps`` nor ``groups`` nor ``attempts``."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.attempts import attempts_document, attempts_json
from rtrace_otel.report.document import Document
from rtrace_otel.report.formats import to_csv, to_json, to_markdown
from rtrace_otel.report.groups import groups_document, groups_json
from rtrace_otel.report.steps import steps_document, steps_json
from tests.report.history import event, trace
from tests.report.timed import JOB

HUGE: Final = 10**400
WRONG: Final[list[Any]] = [
    None, True, 0, -1, 2.5, HUGE, math.inf, -math.inf, math.nan, "", "x", [], [None], [[]], [{}], ["c", 1],
    [["c", 1]], {}, {"x": 1}, {"4": HUGE},
]  # fmt: skip
FIELDS: Final = [(event.name, field.name) for event in EVENTS for field in event.fields]
CHOICES: Final = (Choice(limit=0), Choice(open_only=True, sort="waited", descending=True, limit=2))


def can_be_shown(rows: list[Row]) -> bool:
    """Everything adds up and can be written in every format."""
    written: list[tuple[Document, dict[str, Any]]] = []
    steps = train_steps(rows)
    steps.self_check()
    written.append((steps_document(steps, "f"), steps_json(steps)))
    for choice in CHOICES:
        found, grouped = attempts(rows, choice), groups(rows, choice)
        found.self_check()
        grouped.self_check()
        written.append((attempts_document(found, choice, "f"), attempts_json(found)))
        written.append((groups_document(grouped, choice, "f"), groups_json(grouped)))
    return all(to_csv(document) and to_markdown(document) and to_json("x", data, {}) for document, data in written)


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field of each event of that name, in the middle of a job."""
    for value in WRONG:
        rows = [row | {field: value} if row["event"] == name else row for row in JOB]
        odd = event("b", name, **{"attempt_id": "z", "group_id": "h"} | {field: value})

        assert can_be_shown(rows), value
        assert can_be_shown(trace(*JOB, odd)), value


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_no_missing_field_raises(name: str) -> None:
    """A row without any of its fields, or all rows of an event without them."""
    bare = [{key: row[key] for key in ("event", "t", "run", "seq")} if row["event"] == name else row for row in JOB]

    assert can_be_shown(bare)
    assert can_be_shown(trace(event("z", name), *JOB, event("a", name), event("b", name)))


@pytest.mark.parametrize("t", WRONG, ids=lambda t: repr(t)[:9])
def test_no_time_raises(t: Any) -> None:
    """Every row's time in turn, and all of them."""
    for place in range(len(JOB)):
        assert can_be_shown([*JOB[:place], JOB[place] | {"t": t}, *JOB[place + 1 :]])
    assert can_be_shown([row | {"t": t} for row in JOB])


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7])
def test_missing_rows_make_nothing_up(step: int) -> None:
    """Of a job with every so many row lost, no more is told than of the whole job."""
    for first in range(step):
        rows = [row for place, row in enumerate(JOB) if place % step != first or step == 1]

        assert can_be_shown(rows)
        assert attempts(rows).begun <= attempts(JOB).begun


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["g", "x", "3", "sibling", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["3", "x"]), inner, max_size=2),
    max_leaves=5,
)
_ROWS = st.builds(
    lambda name, run, fields: event(run, name, **fields),
    st.sampled_from([event.name for event in EVENTS] + ["mark"]),
    st.sampled_from("ab"),
    st.dictionaries(st.sampled_from([*sorted({field for _, field in FIELDS}), "t"]), _JSON, max_size=8),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(_ROWS, max_size=12))
def test_any_rows_give_an_answer(events: list[Row]) -> None:
    """No sequence of rows, however odd, raises."""
    assert can_be_shown(trace(*events))
    assert can_be_shown([*JOB, *trace(*events)])
