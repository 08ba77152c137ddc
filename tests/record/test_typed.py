"""One method per event of the vocabulary, which writes what ``emit`` writes."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rtrace_otel.events import EVENTS
from rtrace_otel.fields import EventType, Field, FieldType
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.validation import validate_row
from tests.record.written import event_rows, recorded

OWN_ROWS = {"run_started", "run_ended", "trace_gap", "clock_adjusted", "spans_delivered"}
"""What the recorder writes about itself; nobody calls it."""

TYPED = [event for event in EVENTS if event.name not in OWN_ROWS]
IDS = [event.name for event in TYPED]

SAMPLES: dict[FieldType, Any] = {
    FieldType.ID: 17,
    FieldType.TEXT: "some text",
    FieldType.INT: 3,
    FieldType.FLOAT: 0.5,
    FieldType.BOOL: True,
    FieldType.IDS: [1, "b"],
    FieldType.TOKENS_BY_VERSION: {0: 5, 1: 6},
    FieldType.CALLS: [("c", 1), (2, 0)],
    FieldType.CALL_VERSIONS: [("c", 0, 5)],
    FieldType.OBJECT: {"a": 1},
}
ODD: dict[FieldType, Any] = {
    FieldType.ID: np.int64(17),
    FieldType.TEXT: "lone \ud800",
    FieldType.INT: np.int32(3),
    FieldType.FLOAT: float("nan"),
    FieldType.BOOL: np.bool_(False),
    FieldType.IDS: (np.int64(1), "b"),
    FieldType.TOKENS_BY_VERSION: {np.int64(0): np.int64(5)},
    FieldType.CALLS: ((1, np.int64(1)),),
    FieldType.CALL_VERSIONS: [[1, np.int64(0), 5]],
    FieldType.OBJECT: {"a": float("inf")},
}
FALSY: dict[FieldType, Any] = {
    FieldType.ID: 0,
    FieldType.TEXT: "",
    FieldType.INT: 0,
    FieldType.FLOAT: 0.0,
    FieldType.BOOL: False,
    FieldType.IDS: [],
    FieldType.TOKENS_BY_VERSION: {},
    FieldType.CALLS: [],
    FieldType.CALL_VERSIONS: [],
    FieldType.OBJECT: {},
}


def sample(fields: tuple[Field, ...], values: dict[FieldType, Any]) -> dict[str, Any]:
    """A value for each field, legal where the field has choices."""
    return {field.name: field.choices[0] if field.choices else values[field.type] for field in fields}


def test_every_event_of_the_host_has_a_method() -> None:
    """The recorder has a method for each event of the registry but those that it writes about itself."""
    assert set(IDS) == {event.name for event in EVENTS if callable(getattr(RolloutTrace, event.name, None))}


@pytest.mark.parametrize("event", TYPED, ids=IDS)
def test_signature_agrees_with_the_registry(event: EventType) -> None:
    """Required fields first, then the optional ones with ``None``, by the registry's names, then ``extra``."""
    parameters = list(inspect.signature(getattr(RolloutTrace, event.name)).parameters.values())[1:]

    expected: list[tuple[str, object]] = [(field.name, inspect.Parameter.empty) for field in event.required]
    expected += [(field.name, None) for field in event.optional]
    assert [*expected, ("extra", None)] == [(parameter.name, parameter.default) for parameter in parameters]
    assert {inspect.Parameter.POSITIONAL_OR_KEYWORD} == {parameter.kind for parameter in parameters}


@pytest.mark.parametrize("event", TYPED, ids=IDS)
def test_documentation_names_every_field(event: EventType) -> None:
    """What an editor shows has the registry's meaning of the event and of each field."""
    text = " ".join((inspect.getdoc(getattr(RolloutTrace, event.name)) or "").split())

    assert [] == [part for part in (event.meaning, *(field.meaning for field in event.fields)) if part not in text]


@pytest.mark.parametrize("values", [SAMPLES, ODD, FALSY], ids=["samples", "odd", "falsy"])
@pytest.mark.parametrize("event", TYPED, ids=IDS)
def test_same_row_as_emit(file: Path, event: EventType, values: dict[FieldType, Any]) -> None:
    """The typed method, positional or by keyword, writes the row that ``emit`` writes."""
    fields = sample(event.fields, values)

    def act(trace: RolloutTrace) -> None:
        trace.emit(event.name, **fields)
        getattr(trace, event.name)(*fields.values())
        getattr(trace, event.name)(**fields)

    emit, positional, keyword = recorded(file, act)
    assert [(emit, list(emit))] * 2 == [(positional, list(positional)), (keyword, list(keyword))]
    assert ["event", *fields] == list(emit)


@pytest.mark.parametrize("event", TYPED, ids=IDS)
def test_optional_fields_left_out(file: Path, event: EventType) -> None:
    """An optional field that is not given, or ``None``, is not in the row."""
    fields = sample(event.required, SAMPLES)
    nones = dict.fromkeys((field.name for field in event.optional), None)

    def act(trace: RolloutTrace) -> None:
        getattr(trace, event.name)(*fields.values())
        getattr(trace, event.name)(*fields.values(), **nones, extra={})

    assert [["event", *fields]] * 2 == [list(row) for row in recorded(file, act)]


@pytest.mark.parametrize("event", [event for event in TYPED if event.required], ids=lambda event: event.name)
def test_none_of_a_required_field_is_kept(file: Path, event: EventType) -> None:
    """A required field is in the row even where the caller has nothing for it."""
    (row,) = recorded(file, lambda t: getattr(t, event.name)(*[None] * len(event.required)))

    assert {"event": event.name, **dict.fromkeys((field.name for field in event.required), None)} == row


@pytest.mark.parametrize("event", TYPED, ids=IDS)
def test_rows_follow_the_vocabulary(file: Path, event: EventType) -> None:
    """What the typed method writes of legal values is valid by the registry."""
    with RolloutTrace(file) as trace:
        getattr(trace, event.name)(**sample(event.fields, SAMPLES), extra={"mine": 1})

    (row,) = event_rows(file)
    assert [] == [str(problem) for problem in validate_row(row)]


@pytest.mark.parametrize("event", TYPED, ids=IDS)
def test_extra_keeps_none(file: Path, event: EventType) -> None:
    """Fields of the user come last, in the order given, ``None`` included."""
    fields = sample(event.required, SAMPLES)

    (row,) = recorded(file, lambda t: getattr(t, event.name)(*fields.values(), extra={"z": None, "a": [1]}))
    assert (["event", *fields, "z", "a"], None, [1]) == (list(row), row["z"], row["a"])
