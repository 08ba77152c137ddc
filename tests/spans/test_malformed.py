"""Rows with anything in any field: no exception, and spans that the encoders take."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import EVENTS_BY_NAME, Row
from rtrace_otel.spans.otlp_json import traces_data
from rtrace_otel.spans.projector import project
from tests.spans.rows import History, as_read, otlp_bytes


def must_project(made: list[Row]) -> None:
    """Read the rows as a file has them, project them, and encode the spans both ways."""
    read = list(read_events(as_read(made)))
    traces_data(project(read, end_last=True))
    otlp_bytes(read)


_scalar = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["g", "x", "--5", "", "\ud800", "1" * 30])
)
_json = st.recursive(
    _scalar,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """A run of known events, each of whose fields may hold anything or be missing."""
    made: list[Row] = []
    for seq in range(draw(st.integers(1, 12))):
        event = EVENTS_BY_NAME[draw(st.sampled_from(sorted(EVENTS_BY_NAME)))]
        row: Row = {"event": event.name, "t": 100.0 + seq, "run": draw(st.sampled_from("ab")), "seq": seq}
        for field in event.fields:
            value = draw(st.sampled_from(["g", "x"]) | _json) if field.name.endswith("id") else draw(_json)
            if draw(st.integers(0, 3)):
                row[field.name] = value
        made.append(row)
    return made


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows())
def test_odd_fields_never_raise(made: list[Row]) -> None:
    """Wrong types in any field cost at most an attribute, never the projection or its encoding."""
    must_project(made)


def full(changes: dict[str, dict[str, Any]]) -> list[Row]:
    """A group's life, with other values in some fields, by event."""
    run = History()
    run.reserve()
    run.dispatch()
    run.add("weight_sync", replaced_version=1, new_version=2, calls=[["c", 1]], seconds=0.1)
    run.seal(tokens=1)
    run.dispatch("y")
    run.add("attempt_abandoned", attempt_id="y", reason="r")
    run.add("group_published", group_id="g", tokens_by_version={1: 1})
    run.train(1, "g")
    later = History("b")
    later.dispatch("z")
    return [{**row, **changes.get(row["event"], {})} for row in (*run.rows, *later.rows)]


@pytest.mark.parametrize(
    ("event", "field", "value"),
    [
        ("attempt_dispatched", "generation_index", []),
        ("attempt_dispatched", "prompt_id", {}),
        ("attempt_abandoned", "reason", "\ud800"),
        ("attempt_abandoned", "reason", ["a"]),
        ("group_reserved", "group_id", "\ud800"),
        ("group_published", "tokens_by_version", {"--5": 1}),
        ("group_published", "tokens_by_version", {"1": "many"}),
        ("group_published", "tokens_by_version", {"1": None}),
        ("group_published", "tokens_by_version", 5),
        ("group_published", "tokens_by_version", False),
        ("group_published", "tokens_by_version", {str(2**70): 1}),
        ("weight_sync", "new_version", []),
        ("weight_sync", "calls", [["c", 2**70]]),
        ("weight_sync", "seconds", math.inf),
        ("train_step", "group_ids", ["\ud800", 5, None]),
        ("train_step", "seconds", math.nan),
        ("run_started", "pid", 2**70),
        ("run_started", "service", "\ud800"),
        ("run_started", "resource", {"\ud800": "\ud800"}),
    ],
)
def test_odd_field_never_raises(event: str, field: str, value: object) -> None:
    """One odd value costs neither the projection nor its encoding."""
    made = full({event: {field: value}})
    must_project(made)


@pytest.mark.parametrize("t", [math.nan, math.inf, -1.0, 1e30, "now", None, True])
def test_odd_time_never_raises(t: object) -> None:
    """A row whose time is no time still makes spans that can be encoded."""
    must_project(full({"attempt_sealed": {"t": t}, "group_reserved": {"t": t}}))


@pytest.mark.parametrize("name", ["", "\ud800", "group", "rollout.attempt", "x" * 5000])
def test_odd_event_name_never_raises(name: str) -> None:
    """An event of the user's may be called anything."""
    run = History()
    run.reserve()
    run.add(name, **{name or "empty": 1})
    run.add(name, group_id="g")
    must_project(run.rows)


@pytest.mark.parametrize("field", ["generation_index", "prompt_id"])
@pytest.mark.parametrize("value", [[], {}])
def test_odd_field_of_a_lost_attempt_never_raises(field: str, value: object) -> None:
    """Nor is it trouble when a later run looks for what this one lost."""
    before, after = History(), History("b")
    before.dispatch("x")
    before.rows[-1][field] = value
    after.dispatch("y")
    after.rows[-1][field] = value
    must_project([*before.rows, *after.rows])
