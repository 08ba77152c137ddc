"""Whatever stands in a file, tables come of it, and their types do not change."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.columns.arrow import column_of, schema_of
from rtrace_otel.columns.from_rows import event_record
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.types import ColumnType
from rtrace_otel.events import EVENTS, EVENTS_BY_NAME, Row
from tests.analysis.test_flow_malformed import FIELDS, WRONG
from tests.columns.tables import ask, tables_of
from tests.report.history import event, trace
from tests.report.hostile import HOSTILE, hostile_trace
from tests.report.timed import JOB


def come_out_typed(rows: list[Row]) -> bool:
    """Each table has its schema, the rows of the file are all in ``events``, and DuckDB takes them."""
    tables = tables_of(rows)
    assert len(rows) == tables["events"].num_rows
    for table in tables.values():
        table.validate(full=True)
    return all(tables[name].schema.equals(schema_of(spec)) for name, spec in TABLES.items())


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field of each event of that name, in the middle of a job."""
    for value in WRONG:
        rows = [row | {field: value} if row["event"] == name else row for row in JOB]
        odd = event("b", name, **{"attempt_id": "z", "group_id": "h"} | {field: value})

        assert come_out_typed([*rows, odd]), value


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_no_missing_field_raises(name: str) -> None:
    """Rows without any of their fields."""
    bare = [{key: row[key] for key in ("event", "t", "run", "seq")} if row["event"] == name else row for row in JOB]

    assert come_out_typed(trace(event("z", name), *bare, event("a", name), event("b", name)))


@pytest.mark.parametrize("t", WRONG, ids=lambda t: repr(t)[:9])
def test_no_time_raises(t: Any) -> None:
    """All rows at an odd time."""
    assert come_out_typed([row | {"t": t} for row in JOB])


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_texts_come_through_as_they_are(text: str) -> None:
    """A table holds values, and whoever shows them makes them harmless."""
    tables = tables_of(hostile_trace(text))

    assert [(f"{text[:40]}1", text), (f"{text[:40]}2", text)] == ask(
        tables, "SELECT run, host FROM runs ORDER BY place"
    )
    assert [(text,)] == ask(tables, "SELECT DISTINCT checkpoint_id FROM restores")


def test_a_lone_surrogate_is_replaced() -> None:
    """UTF-8 cannot hold it."""
    tables = tables_of(trace(event("a\ud800", "note", words="x\udfff"), event("a\ud800", "run_ended", reason="\ud800")))

    assert [("a\ufffd", "\ufffd")] == ask(tables, "SELECT run, reason FROM runs")
    assert [('{"words":"x\ufffd"}',), (None,)] == ask(tables, "SELECT rest FROM events ORDER BY line")


@pytest.mark.parametrize(
    ("row", "record"),
    [
        (
            {"event": "attempt_sealed", "t": 1, "run": "a", "seq": 4, "attempt_id": 7, "tokens": 9, "reward": 0.5},
            {"event": "attempt_sealed", "t": 1.0, "run": "a", "seq": 4, "attempt_id": "7", "tokens": 9,
             "rest": '{"reward":0.5}'},
        ),
        (
            {"event": "x", "t": 1, "run": "a", "seq": True, "tokens": 2.5, "step": "3", "reason": ["r"],
             "group_id": {}},
            {"event": "x", "t": 1.0, "run": "a", "rest":
             '{"seq":true,"tokens":2.5,"step":"3","reason":["r"],"group_id":{}}'},
        ),
        (
            {"event": "x", "t": 1, "run": "a", "tokens": None, "seconds": 10**400},
            {"event": "x", "t": 1.0, "run": "a", "rest": f'{{"tokens":null,"seconds":{10**400}}}'},
        ),
        ({"event": "x", "t": 1, "run": "a"}, {"event": "x", "t": 1.0, "run": "a"}),
    ],
    ids=["typed", "wrong types", "null and huge", "nothing else"],
)  # fmt: skip
def test_a_row_is_never_lost(row: Row, record: dict[str, Any]) -> None:
    """A value of the wrong type stays in ``rest``, as it was."""
    found = {key: value for key, value in event_record(row, 12).items() if value is not None}

    assert record | {"line": 12} == found


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers(), max_size=3))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted(EVENTS_BY_NAME)), st.dictionaries(st.text(min_size=1), VALUES, max_size=6), st.integers(0)
)
def test_a_row_can_be_put_together_again(name: str, fields: dict[str, Any], seq: int) -> None:
    """Columns and ``rest`` hold every field once: together they are the row."""
    row = {"event": name, "t": 1.5, "run": "r", "seq": seq % 2**63} | {
        key: value for key, value in fields.items() if key not in {"event", "t", "run", "seq", "line", "rest"}
    }
    record = dict(event_record(row, 1))
    rest = json.loads(record.pop("rest") or "{}")
    columns = {key: value for key, value in record.items() if value is not None and key != "line"}

    assert row.keys() == rest.keys() | columns.keys()
    assert set() == rest.keys() & columns.keys()
    assert all(value in {row[key], str(row[key])} for key, value in columns.items())
    assert json.loads(msgspec.json.encode({key: row[key] for key in rest})) == rest


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            lambda name, run, odd: event(run, name, **odd),
            st.sampled_from(sorted(EVENTS_BY_NAME)),
            st.sampled_from("abc"),
            st.dictionaries(
                st.sampled_from(sorted({field for _, field in FIELDS})), st.sampled_from(WRONG), max_size=4
            ),
        ),
        max_size=30,
    )
)
def test_no_sequence_of_odd_rows_raises(rows: list[Row]) -> None:
    """Events in any order, with any values."""
    assert come_out_typed(trace(*rows))


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (ColumnType.TEXT, ["a", None, "b\ud800"], ["a", None, "b\ufffd"]),
        (ColumnType.TEXT, ["a", 7], ["a", "7"]),
        (ColumnType.INT, [1, None, 2**63 - 1], [1, None, 2**63 - 1]),
        (ColumnType.INT, [1, 2**63], [1, None]),
        (ColumnType.INT, [1, -(2**63)], [1, None]),
        (ColumnType.INT, [1, True, 2.0, "3"], [1, None, None, None]),
        (ColumnType.FLOAT, [0.5, None, -1e308, 1e308], [0.5, None, -1e308, 1e308]),
        (ColumnType.FLOAT, [0.5, float("nan"), float("inf")], [0.5, None, None]),
        (ColumnType.FLOAT, [1, 0.5, True], [1.0, 0.5, None]),
        (ColumnType.BOOL, [True, None, 1], [True, None, None]),
        (ColumnType.TEXT, [None, None], [None, None]),
        (ColumnType.INT, [None], [None]),
        (ColumnType.FLOAT, [None], [None]),
    ],
    ids=str,
)
def test_a_column_takes_what_fits_it(kind: ColumnType, values: list[Any], expected: list[Any]) -> None:
    """Values that are all of its type go in at once; what does not fit is no value."""
    assert expected == column_of(values, kind).to_pylist()
