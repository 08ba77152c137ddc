"""What is derived from the registry is what lies in the repository, and says the same as the code."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.events import COMMON_FIELDS, EVENTS, EVENTS_BY_NAME, Row
from rtrace_otel.fields import Field, FieldType
from rtrace_otel.validation import validate_row
from tests.generate import FILES, ROOT
from tests.schema_pages import json_schema, schema_page

SCHEMA: dict[str, Any] = json.loads(json_schema())
VALIDATOR = import_module("jsonschema").Draft202012Validator
"""Imported by name: the library has no types."""


@pytest.mark.parametrize("path", FILES)
def test_derived_files_are_up_to_date(path: str) -> None:
    """After a change of the registry, ``python -m tests.generate`` was run."""
    assert FILES[path]() == (ROOT / path).read_text(encoding="utf-8")


def test_the_schema_page_explains_every_event_and_field() -> None:
    """Each event has a section, each of its fields a line with type and meaning."""
    page = schema_page()
    sections = {part.split("\n", 1)[0]: part for part in page.split("\n### ")[1:]}

    assert [event.name for event in EVENTS] == list(sections)
    lines = {event.name: sections[event.name].splitlines() for event in EVENTS}
    missing = [
        f"{event.name}.{field.name}"
        for event in EVENTS
        for field in event.fields
        if not any(line.startswith(f"| `{field.name}` | {field.type.value} |") for line in lines[event.name])
    ]
    assert [] == missing


def test_the_json_schema_is_a_json_schema() -> None:
    """Any validator can load it."""
    VALIDATOR.check_schema(SCHEMA)


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False).filter(lambda number: number % 1 != 0),
    st.text(max_size=4), st.sampled_from(["NaN", "Infinity", "-Infinity", "nan", "turn", "5"]),
    st.lists(st.integers() | st.text(max_size=2), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)  # fmt: skip
VERSION_KEYS = st.integers(-3, 99).map(str) | st.sampled_from(
    ["", "-", "--5", "5-", "+5", " 5", "5.0", "٣", "x", "1_0"]
)
LEGAL: dict[FieldType, st.SearchStrategy[Any]] = {
    FieldType.ID: st.text(max_size=4),
    FieldType.TEXT: st.text(max_size=4) | st.sampled_from(["sibling", "turn", "prefix"]),
    FieldType.INT: st.integers(),
    FieldType.FLOAT: st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.just("NaN"),
    FieldType.BOOL: st.booleans(),
    FieldType.IDS: st.lists(st.text(max_size=2), max_size=3),
    FieldType.TOKENS_BY_VERSION: st.dictionaries(VERSION_KEYS, st.integers(-1, 50), max_size=3),
    FieldType.CALLS: st.lists(st.tuples(st.text(max_size=2), st.integers()).map(list), max_size=2),
    FieldType.CALL_VERSIONS: st.lists(
        st.tuples(st.text(max_size=2), st.integers(), st.integers(), ODD).map(list)
        | st.tuples(st.text(max_size=2), st.integers() | ODD).map(list),
        max_size=2,
    ),
    FieldType.OBJECT: st.dictionaries(st.text(max_size=2), ODD, max_size=2),
}


@st.composite
def rows(draw: st.DrawFn) -> Row:
    """A row as JSON has it: mostly legal, with fields missing, odd or unknown."""
    event = draw(st.sampled_from([*EVENTS_BY_NAME, "my_event"]))
    known = EVENTS_BY_NAME.get(event)
    row: Row = {"event": event}
    fields: tuple[Field, ...] = COMMON_FIELDS[1:] + (known.fields if known else ())
    for field in fields:
        how = draw(st.integers(0, 29))
        if how > 0:
            row[field.name] = draw(LEGAL[field.type] if how > 1 else ODD)
    return row | draw(st.dictionaries(st.sampled_from(["my_field", "note", "event"]), ODD, max_size=1))


@settings(max_examples=500, deadline=None)
@given(rows())
def test_the_json_schema_judges_as_the_code_does(row: Row) -> None:
    """Whoever validates with the schema file and whoever calls ``validate_row`` come to one verdict."""
    by_schema = sorted("/".join(map(str, error.path)) + error.message for error in VALIDATOR(SCHEMA).iter_errors(row))
    by_code = [str(problem) for problem in validate_row(row)]

    assert (not by_schema) is (not by_code), (by_schema, by_code)


@pytest.mark.parametrize("key", ["--5", "٣", "5-", "-", "", "x", "+5", "1_0", "0", "-1", "12"])
def test_both_agree_on_what_a_version_is(key: str) -> None:
    """A version is written as JSON writes an int."""
    row = {"event": "group_sealed", "t": 1, "run": "a", "seq": 0, "group_id": "g", "tokens_by_version": {key: 1}}

    assert VALIDATOR(SCHEMA).is_valid(row) is (not validate_row(row))


def test_both_agree_on_whole_floats() -> None:
    """JSON Schema takes 3.0 for an integer; a row that one of the two refuses is refused by both."""
    row = {"event": "train_step_started", "t": 1, "run": "a", "seq": 3.0, "step": 4.0}

    assert VALIDATOR(SCHEMA).is_valid(row) is (not validate_row(row))


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.integers(-3, 99), st.integers(0, 50), max_size=3))
def test_rows_as_read_are_as_valid_as_rows_on_disk(counts: dict[int, int]) -> None:
    """The reader turns versions into ints; that changes no verdict."""
    row = {"event": "group_sealed", "t": 1, "run": "a", "seq": 0, "group_id": "g"}

    assert [] == validate_row(row | {"tokens_by_version": counts})
    assert VALIDATOR(SCHEMA).is_valid(row | {"tokens_by_version": {str(v): n for v, n in counts.items()}})
