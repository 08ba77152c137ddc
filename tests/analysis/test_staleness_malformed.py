"""Odd rows never stop the analyses of staleness, break their laws, or keep a report from being written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.by_field import ByFold
from rtrace_otel.analysis.age.defined import DefinitionFold
from rtrace_otel.analysis.age.definitions import DEFINITIONS
from rtrace_otel.analysis.age.staleness import Staleness, staleness
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.age_by import by_document, by_json
from rtrace_otel.report.age_definitions import definitions_document, definitions_json
from rtrace_otel.report.damage import damage_json
from rtrace_otel.report.formats import to_csv, to_json, to_markdown
from rtrace_otel.report.staleness import staleness_document, staleness_json
from tests.analysis.staleness_rows import step_began
from tests.analysis.test_ages_malformed import FIELDS, WRONG, after, whole_row
from tests.report.history import dispatched, published, refit, reserved, sealed, started, trace, trained

READ = damage_json(Tally("f").report())
GOOD = (
    started("c", weight_version=3),
    reserved("c", "k", environment="math"),
    dispatched("c", "y", "k"),
    sealed("c", "y"),
    refit("c", 3, 4, ("e", 40)),
    published("c", "k", {3: 40, 4: 60}, ("e", 3, 100)),
    step_began("c", 3),
    trained("c", 3, 5, "k"),
)
"""Valid rows of a run of their own, with ids of their own."""


def everything(rows: list[Row]) -> Staleness:
    """All analyses over the rows; their laws hold and their reports can be written in all formats."""
    by, defined = ByFold("environment"), DefinitionFold(DEFINITIONS)
    found = staleness(rows, by, defined)
    found.self_check()
    by.result().self_check(found.coverage.known)
    for document in (
        staleness_document(found, "f"),
        by_document(by.result(), found, "f"),
        definitions_document(defined.result(), found, "f"),
    ):
        assert to_csv(document)
        assert to_markdown(document)
    result = staleness_json(found) | by_json(by.result()) | definitions_json(defined.result())
    assert to_json("age", result, READ)
    return found


@pytest.mark.parametrize(("name", "field"), FIELDS, ids=[f"{name}-{field}" for name, field in FIELDS])
def test_no_value_of_any_field_raises(name: str, field: str) -> None:
    """Whatever stands in a field, the step of other rows is as it was."""
    expected = everything(trace(*GOOD)).steps
    for value in WRONG:
        odd = whole_row(name) | {field: value}
        found = everything([*trace(*GOOD), *after(odd, {"event": name, "run": "b"})])
        assert expected == tuple(step for step in found.steps if step.step == 3), value


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
@pytest.mark.parametrize("t", WRONG, ids=lambda t: repr(t)[:20])
def test_no_time_raises(name: str, t: Any) -> None:
    """A time that no clock shows is an unknown time."""
    assert everything([*trace(*GOOD), whole_row(name) | {"t": t, "seq": 0, "seconds": 1.0}]).steps


_ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["g", "x", "3"])
_JSON = st.recursive(
    _ANY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["3", "4", "x"]), inner, max_size=2),
    max_leaves=6,
)
_NUMBERS = st.integers(-3, 6)
_VALUES = {
    "step": _NUMBERS,
    "trained_version": _NUMBERS,
    "new_version": _NUMBERS,
    "replaced_version": _NUMBERS,
    "weight_version": _NUMBERS,
    "tokens": _NUMBERS,
    "group_id": st.sampled_from("gh"),
    "attempt_id": st.sampled_from("xy"),
    "group_ids": st.lists(st.sampled_from("ghi"), max_size=3),
    "tokens_by_version": st.dictionaries(_NUMBERS, _NUMBERS, max_size=3),
    "call_versions": st.lists(st.tuples(st.sampled_from("cd"), st.none() | _NUMBERS, _NUMBERS), max_size=3),
    "calls": st.lists(st.tuples(st.sampled_from("cd"), _NUMBERS), max_size=3),
    "environment": _JSON,
}
_FIELDS = st.fixed_dictionaries({}, optional={name: values | _JSON for name, values in _VALUES.items()})
_ROWS = st.builds(
    lambda name, run, fields: {"event": name, "run": run, **fields},
    st.sampled_from([event.name for event in EVENTS]),
    st.sampled_from("ab"),
    _FIELDS,
)


@settings(deadline=None)
@given(st.lists(_ROWS, max_size=15))
def test_any_rows_keep_the_laws(rows: list[Row]) -> None:
    """No sequence of rows raises, and sums always add up."""
    assert everything([*trace(*rows), *trace(*GOOD)]).steps
