"""Whatever is emitted, strict decoders read the file, and every row is there."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from dataclasses import make_dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.events import EVENTS, FIELD_TYPES
from rtrace_otel.record.trace import RolloutTrace
from tests.record.written import all_rows

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
Holder = make_dataclass("Holder", ["value"])

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**40), max_value=10**40),
    st.floats(),
    ANY_TEXT,
    st.binary(max_size=8),
    st.decimals(),
    st.fractions(),
    st.complex_numbers(),
    st.uuids(),
    st.datetimes(timezones=st.just(datetime.UTC)),
    st.dates(),
    st.timedeltas(),
    st.builds(PurePosixPath, st.just("/a")),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.int64, st.integers(-(2**63), 2**63 - 1)),
    st.builds(np.array, st.lists(st.floats(), max_size=3)),
    st.builds(object),
)
HASHABLE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), ANY_TEXT, st.binary(max_size=4), st.tuples(st.integers())
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.builds(Holder, inner),
        st.sets(HASHABLE, max_size=4),
        st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=12,
)
NAMES = st.one_of(st.sampled_from(sorted(FIELD_TYPES)), ANY_TEXT)
TYPED = [event.name for event in EVENTS if hasattr(RolloutTrace, event.name)]
SETTINGS = settings(max_examples=150, deadline=None)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RolloutTrace, Path]]:
    """One recorder for all examples: opening one for each would take most of the time."""
    path = tmp_path_factory.mktemp("shared") / "trace.jsonl"
    with RolloutTrace(path) as trace:
        yield trace, path


def emitted(shared: tuple[RolloutTrace, Path], event: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """The row of an event between two others, all read by strict decoders."""
    trace, path = shared
    assert trace.flush(10.0)
    seen = path.stat().st_size
    trace.emit("before")
    trace.emit(event, **fields)
    trace.emit("after")
    assert trace.flush(10.0)
    tail = path.with_name("tail.jsonl")
    with path.open("rb") as file:
        file.seek(seen)
        tail.write_bytes(file.read())
    before, row, after = all_rows(tail)
    assert ("before", "after", 2) == (before["event"], after["event"], after["seq"] - before["seq"])
    return row


@SETTINGS
@given(fields=st.dictionaries(NAMES, VALUES, max_size=5))
def test_any_value_under_any_name(shared: tuple[RolloutTrace, Path], fields: dict[str, Any]) -> None:
    """Any nested value gives one line of strict JSON with the common keys first."""
    row = emitted(shared, "odd", fields)

    assert ["event", "t", "run", "seq"] == list(row)[:4]
    assert "odd" == row["event"]


@SETTINGS
@given(value=VALUES)
def test_any_value_keeps_the_fields_beside_it(shared: tuple[RolloutTrace, Path], value: Any) -> None:
    """A field of any value leaves those before and after it as they were."""
    row = emitted(shared, "odd", {"first": 1, "value": value, "last": "é"})

    assert (["first", "value", "last"], 1, "é") == (list(row)[4:], row["first"], row["last"])


@SETTINGS
@given(event=VALUES)
def test_any_name_of_an_event(shared: tuple[RolloutTrace, Path], event: Any) -> None:
    """Any value as the event's name gives a row with a text for a name."""
    row = emitted(shared, event, {"kept": 1})

    assert (str, 1) == (type(row["event"]), row["kept"])


@SETTINGS
@given(value=st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(), st.lists, max_leaves=9))
def test_json_values_are_unchanged(shared: tuple[RolloutTrace, Path], value: Any) -> None:
    """A value that is JSON already reads back equal."""
    assert value == emitted(shared, "odd", {"value": value})["value"]


@SETTINGS
@given(value=st.floats())
def test_floats_are_exact(shared: tuple[RolloutTrace, Path], value: float) -> None:
    """A finite float reads back as the same float; the others are the three texts."""
    read = emitted(shared, "odd", {"value": value})["value"]

    if math.isfinite(value):
        assert (value, math.copysign(1.0, value)) == (read, math.copysign(1.0, read))
    else:
        assert {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)] == read


@SETTINGS
@given(data=st.data(), name=st.sampled_from(TYPED), count=st.integers(0, 12))
def test_typed_methods_take_anything(
    shared: tuple[RolloutTrace, Path], data: st.DataObject, name: str, count: int
) -> None:
    """A method of the vocabulary, called with any values, writes one row and never raises."""
    trace, path = shared
    event = next(event for event in EVENTS if event.name == name)
    values = [data.draw(VALUES) for _ in range(max(len(event.required), min(count, len(event.fields))))]
    assert trace.flush(10.0)
    seen = path.stat().st_size

    getattr(trace, name)(*values, extra=data.draw(st.dictionaries(NAMES, VALUES, max_size=2)))

    assert trace.flush(10.0)
    tail = path.with_name("tail.jsonl")
    with path.open("rb") as file:
        file.seek(seen)
        tail.write_bytes(file.read())
    (row,) = all_rows(tail)
    required = [field.name for field in event.required]
    assert (name, required) == (row["event"], list(row)[4 : 4 + len(required)])
