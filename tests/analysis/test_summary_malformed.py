"""Rows with missing fields and wrong types never stop the summary, and every row is counted."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.summary import summary_document, summary_json
from tests.report.history import abandoned, dispatched, event, reserved, sealed, trace, trained

HUGE: Final = 10**400
WRONG: Final[list[Any]] = [
    None, True, False, 0, -1, 2.5, HUGE, math.inf, -math.inf, math.nan, "", "x", [], [None], [[]], [{}], ["c", 1],
    [["c", 1]], {}, {"x": 1}, [1.5, HUGE],
]  # fmt: skip
FIELDS: Final = [(event.name, field.name) for event in EVENTS for field in event.fields]

GOOD: Final = (reserved("a", "g"), dispatched("a", "x"), sealed("a", "x"), trained("a", 1, 0, "g"))
"""Valid rows whose ids no bad row has."""


def whole_row(name: str) -> Row:
    """A valid row of an event, in a run of its own."""
    values: dict[str, Any] = {"group_ids": ["h"], "calls": [["d", 1]], "groups": ["h"], "step": 2, "seconds": 0.5}
    (known,) = [known for known in EVENTS if known.name == name]
    return event("b", name, **{field.name: values.get(field.name, "x1") for field in known.fields})


def can_be_shown(rows: list[Row]) -> bool:
    """The rows can be summarised, the counts add up, and the report can be written down."""
    found = summarise(rows)
    found.self_check()
    read = Tally("f", rows=len(rows)).report()
    assert len(rows) == found.rows
    tables = [block for block in summary_document(found, read).blocks if hasattr(block, "for_people")]
    return bool([table.for_people() for table in tables] and summary_json(found))


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field, every row counts, and the report can be written."""
    for value in WRONG:
        assert can_be_shown(trace(*GOOD, whole_row(name) | {field: value}, *GOOD)), value


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_no_missing_field_raises(name: str) -> None:
    """A row without any of its fields is a row."""
    assert can_be_shown(trace(*GOOD, event("a", name), event("b", name), *GOOD))


@pytest.mark.parametrize("groups", ["gh", {"g": 1}, 7, True, None, 2.5], ids=repr)
def test_groups_that_are_no_list_are_none(groups: Any) -> None:
    """A text is not a list of one-letter ids, nor is an object a list of its keys."""
    found = summarise(trace(reserved("a", "g"), event("a", "train_step", step=1, trained_version=0, group_ids=groups)))

    assert (0, 1) == (found.groups.trained, found.groups.open)


@pytest.mark.parametrize("calls", ["abc", {"c": 1}, 7, True, None], ids=repr)
def test_calls_that_are_no_list_are_none(calls: Any) -> None:
    """Only a list of calls says how many were paused."""
    found = summarise(trace(event("a", "weight_sync", replaced_version=0, new_version=1, calls=calls)))

    assert (1, 0) == (found.refits, found.calls_cut)


@pytest.mark.parametrize("seconds", [True, "1", None, [1], math.nan, math.inf, HUGE], ids=lambda s: repr(s)[:20])
def test_a_duration_that_is_none_does_not_spoil_the_sum(seconds: Any) -> None:
    """The time of the refits is the sum of those that tell it."""
    odd = event("a", "weight_sync", replaced_version=0, new_version=1, seconds=seconds)
    good = event("a", "weight_sync", replaced_version=1, new_version=2, seconds=0.5)

    assert (2, 0.5) == ((found := summarise(trace(odd, good, odd | {"new_version": 0}))).refits, found.refit_s)


def test_reasons_and_levels_of_any_type_are_names() -> None:
    """A missing reason is told apart from one that was given."""
    rows = trace(
        *(dispatched("a", name) for name in "uvw"),
        abandoned("a", "u"),
        event("a", "attempt_abandoned", attempt_id="v"),
        event("a", "attempt_abandoned", attempt_id="w", reason=["x"]),
    )

    assert 3 == sum(summarise(rows).attempts.abandoned.values())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["g", "x", "3"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["3", "x"]), inner, max_size=2),
    max_leaves=5,
)
_ROWS = st.builds(
    lambda name, run, fields: event(run, name, **fields),
    st.sampled_from([event.name for event in EVENTS] + ["mark"]),
    st.sampled_from("ab"),
    st.dictionaries(st.sampled_from(sorted({field for _, field in FIELDS})), _JSON, max_size=8),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(_ROWS, max_size=8), _JSON)
def test_any_rows_give_a_summary(events: list[Row], t: Any) -> None:
    """No sequence of rows, however odd, raises, whatever stands for their time."""
    rows = trace(*events, *GOOD)
    rows[0]["t"] = t

    assert can_be_shown(rows)
