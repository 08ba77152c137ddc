"""Rows with missing fields and wrong types never stop the analysis, and leave their neighbours alone."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.age import age_document, age_json
from tests.report.history import published, refit, trace, trained

HUGE: Final = 10**400
"""JSON has integers that no float holds."""

WRONG: Final[list[Any]] = [
    None, True, -1, 2.5, HUGE, -HUGE, math.inf, -math.inf, math.nan, "", "x", "7", "NaN", [], [None], [[]], [[[]]], {},
    {"x": 1}, {"3": None}, {"3": "x"}, {"3": []}, {"3": math.inf}, {"3": math.nan}, {"3": HUGE}, {"3": -5}, {3: 2.5},
    {str(HUGE): 1}, {"-1": 1}, [["c"]], [["c", 1]], [["c", "x", "y"]], [["c", 3, 4.5]], [["c", math.inf, math.nan]],
    [[["c"], 3, 100]], [[{"c": 1}, 3, 100]], [[None, 3, 100]], [["c", HUGE, HUGE]], [["c", 3, -7]], ["c", 3, 100],
]  # fmt: skip
FIELDS: Final = [(event.name, field.name) for event in EVENTS for field in event.fields]

GOOD: Final = (
    refit("a", 3, 4, ("c", 40)),
    published("a", "g", {3: 40, 4: 60}, ("c", 3, 100)),
    trained("a", 1, 5, "g", logged=1.4),
)
"""Valid rows that use every event of the analysis, and the ids ``c`` and ``g``."""


def whole_row(name: str) -> Row:
    """A valid row of an event, with plausible values in all its fields, of ids that no good row has."""
    values: dict[str, Any] = {
        "replaced_version": 3, "new_version": 4, "calls": [["d", 40]], "group_id": "h", "trained_version": 5,
        "tokens_by_version": {3: 100}, "call_versions": [["d", 3, 100]], "step": 2, "group_ids": ["h"],
        "batch_age": 1.0,
    }  # fmt: skip
    (event,) = [event for event in EVENTS if event.name == name]
    return {"event": name, "run": "b", **{field.name: values.get(field.name, "x") for field in event.fields}}


def after(*bad: Row) -> list[Row]:
    """Bad rows in the middle of a history: what follows uses the ids that they name."""
    more = (published("b", "h", {3: 50}, ("d", 3, 100)), trained("b", 2, 5, "h", logged=1.0))
    return trace(*GOOD, *bad, *more, *bad)


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field, the report is made and the steps of other rows are as they were."""
    expected = list(step_ages(trace(*GOOD)).steps)
    for value in WRONG:
        report = step_ages(after(whole_row(name) | {field: value}))
        assert expected == [step for step in report.steps if step.step == 1], value


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_missing_field_raises(name: str, field: str) -> None:
    """A row without one of its fields, or without all of them, costs at most itself."""
    without = {key: value for key, value in whole_row(name).items() if key != field}

    assert step_ages(trace(*GOOD)).steps[0] == step_ages(after(without)).steps[0]
    assert step_ages(trace(*GOOD)).steps[0] == step_ages(after({"event": name, "run": "b"})).steps[0]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:20])
def test_whatever_is_logged_can_be_shown(value: Any) -> None:
    """The report of a step with an odd logged age can be written in words and as JSON."""
    report = step_ages(trace(published("a", "g", {3: 100}), trained("a", 1, 4, "g") | {"batch_age": value}))

    assert (1.0, 100) == (report.steps[0].published, report.tokens)
    assert age_document(report, "f").blocks
    assert age_json(report)["steps"]


@pytest.mark.parametrize(
    "row",
    [published("b", "h", {3: HUGE, 4: 100}), published("b", "h", {4: 100}, ("d", 3, HUGE))],
    ids=["count", "call"],
)
def test_no_group_has_so_many_tokens(row: Row) -> None:
    """A count that no other tool could hold is none; the 100 tokens of version 4 are one version old at 5."""
    (step,) = step_ages(trace(row, trained("b", 2, 5, "h"))).steps

    assert (100, 1.0, 1, 1) == (step.tokens, step.best, step.p50, step.max)


def test_a_truth_value_is_not_an_age() -> None:
    """``true`` is no number, though Python counts with it."""
    (step,) = step_ages(trace(published("a", "g", {3: 100}), trained("a", 1, 4, "g", logged=True))).steps

    assert step.logged is None


@pytest.mark.parametrize("step", [None, "1", 1.0, True, [1]])
def test_a_step_without_a_number_is_left_out(step: Any) -> None:
    """A training whose step is no whole number cannot be put in its place."""
    assert () == step_ages(trace(published("a", "g", {3: 100}), trained("a", 1, 4, "g") | {"step": step})).steps


def test_what_can_be_read_of_a_field_is_used() -> None:
    """Entries that are none are dropped, the others count."""
    (step,) = step_ages(
        trace(
            refit("a", 3, 4, ("c", "x"), ("c", 50), ("d",)),
            published("a", "g", {3: 50, 4: 50, "x": 1}, ("c", 3, 100), ("e", None, 3), ("f", 3)),
            trained("a", 1, 4, "g"),
        )
    ).steps

    assert (0.5, 0.5, 100, 1.0) == (step.published, step.recomputed, step.tokens, step.cut_share)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["g", "h", "c", "3", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["3", "4", "x"]), inner, max_size=2),
    max_leaves=6,
)
_ROWS = st.builds(
    lambda name, fields: {"event": name, "run": "a", **fields},
    st.sampled_from(["group_published", "group_sealed", "train_step", "weight_sync"]),
    st.dictionaries(st.sampled_from(sorted({field for _, field in FIELDS})), _JSON, max_size=6),
)


@settings(deadline=None)
@given(st.lists(_ROWS, max_size=8))
def test_any_rows_give_a_report(rows: list[Row]) -> None:
    """No sequence of rows, however odd, raises; the report can be written down."""
    report = step_ages(trace(*rows, *GOOD))

    assert 1 <= len(report.steps)
    assert age_document(report, "f").blocks
