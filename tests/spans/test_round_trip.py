"""Events to spans to rows to events: the identity on everything that a span carries."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from rtrace_otel.spans.exporter import JsonlSpanExporter
from rtrace_otel.spans.otlp_json import traces_data
from rtrace_otel.spans.projector import project
from tests.spans.rows import History, readable

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"
_name = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=5).map("user_{}".format)
_text = st.text(st.characters(codec="utf-8"), max_size=8)
_scalar = st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text
_json = _scalar | st.recursive(
    _scalar | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=5,
).filter(lambda value: value is not None)  # fmt: skip
_extra = st.dictionaries(_name, _json, max_size=3)


def through_sdk(rows: Iterable[Row]) -> list[Row]:
    """The rows after a trip through readable spans and the span exporter's file."""
    with tempfile.TemporaryDirectory() as folder:
        exporter = JsonlSpanExporter(Path(folder) / "spans.jsonl")
        exporter.export(readable(rows))
        return list(read_events(Path(folder) / "spans.jsonl"))


def through_otlp_json(rows: Iterable[Row]) -> list[Row]:
    """The rows after a trip through OTLP JSON Lines and the reader."""
    lines = [json.dumps(traces_data([pair]), ensure_ascii=False).encode() for pair in project(rows)]
    return list(read_events(lines))


def carried(rows: Iterable[Row]) -> dict[int, Row]:
    """Rows by number, without those that belong to a run and not to a span."""
    return {row["seq"]: row for row in rows if row["event"] not in {"run_started", "run_ended"}}


@st.composite
def histories(draw: st.DrawFn) -> list[Row]:
    """A run with user fields and user events of every JSON type, all of whose spans end."""
    run = History()
    groups = [f"g{number}" for number in range(draw(st.integers(1, 3)))]
    for group in groups:
        run.reserve(group, **draw(_extra))
        for number in range(draw(st.integers(0, 3))):
            attempt = f"{group}-{number}"
            run.dispatch(attempt, group, number, weight_version=number, **draw(_extra))
            if draw(st.booleans()):
                run.add("attempt_refused", attempt_id=attempt, reason=draw(_text))
                run.dispatch(attempt, group, number, **draw(_extra))
            run.add("note", attempt_id=attempt, **draw(_extra))
            if draw(st.booleans()):
                run.seal(attempt, tokens=draw(st.integers(0, 99)), reward=0.5, **draw(_extra))
            else:
                run.add("attempt_abandoned", attempt_id=attempt, reason=draw(_text), **draw(_extra))
        counts = draw(st.dictionaries(st.integers(-1, 5), st.integers(0, 99), max_size=3))
        run.add("group_published", group_id=group, tokens_by_version=counts, **draw(_extra))
        run.add("metric", **draw(_extra))
    run.refit(1, 2, seconds=0.25, **draw(_extra))
    run.add("checkpoint_published", checkpoint_id="c", step=1, **draw(_extra))
    run.train(1, *groups, **draw(_extra))
    run.add("run_ended", reason="closed")
    return run.rows


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories())
def test_sdk_spans_carry_the_rows(rows: list[Row]) -> None:
    """Spans of the SDK, written by the span exporter, give the rows back."""
    assert carried(rows) == carried(through_sdk(rows))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories())
def test_otlp_json_carries_the_rows(rows: list[Row]) -> None:
    """OTLP JSON Lines give the rows back."""
    assert carried(rows) == carried(through_otlp_json(rows))


def note(**fields: Any) -> list[Row]:
    """A run with one event of the user's."""
    run = History()
    run.add("note", **fields)
    return run.rows


def test_names_with_dots_come_back() -> None:
    """A user's field may have dots in its name, also where they look like ours."""
    rows = note(**{"env.name": "x", "a.count": 3, "b.json": "{", "c.versions": [1]})
    assert (carried(rows), carried(rows)) == (carried(through_sdk(rows)), carried(through_otlp_json(rows)))


def test_nulls_come_back() -> None:
    """A user's field may be null."""
    rows = note(nothing=None)
    assert (carried(rows), carried(rows)) == (carried(through_sdk(rows)), carried(through_otlp_json(rows)))


def test_many_groups_come_back_in_order() -> None:
    """The links over 128 are put together again."""
    run = History()
    groups = [f"g{number}" for number in range(300)]
    for group in groups:
        run.reserve(group)
    run.train(1, *groups)
    found = [carried(trip(run.rows))[301]["group_ids"] for trip in (through_sdk, through_otlp_json)]
    assert [groups, groups] == found


def test_foreign_spans_are_passed_over() -> None:
    """Other people's spans between ours, and odd ones, give no rows and hide none."""
    rows = note(number=1)
    document = traces_data(project(rows))
    foreign = {"name": "llm_request", "spanId": "1" * 16, "attributes": [{"key": "a", "value": {"intValue": "1"}}]}
    ours = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    document["resourceSpans"][0]["scopeSpans"][0]["spans"] = [foreign, 5, None, *ours, {"name": 7}]
    assert carried(rows) == carried(read_events([json.dumps(document).encode()]))


def test_demo_has_the_same_batch_ages() -> None:
    """The stored job's file and its spans give the same published ages."""
    with gzip.open(DEMO) as file:
        rows = list(read_events(file))
    expected = [(age.step, age.logged, age.published) for age in step_ages(rows).steps]
    found = [
        [(age.step, age.logged, age.published) for age in step_ages(trip(rows)).steps]
        for trip in (through_sdk, through_otlp_json)
    ]
    assert [expected, expected] == found
