"""Validation names the field at fault and what was expected, and never minds what it does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.validation import Problem, validate_row

STEP: Row = {"event": "train_step", "t": 1.5, "run": "a", "seq": 0, "step": 5, "trained_version": 4, "group_ids": ["g"]}
VERSIONS = "tokens_by_version: object: version -> tokens in tokens"
CALLS = "calls: list of [call_id, tokens] in tokens"
CALL_VERSIONS = "call_versions: list of [call_id, version, tokens] in tokens"


def _problems(**changes: Any) -> list[str]:
    row = {name: value for name, value in (STEP | changes).items() if value is not ...}
    return [str(problem) for problem in validate_row(row)]


def test_a_valid_row_has_no_problem() -> None:
    """All that is required, and every optional field."""
    assert [] == _problems() == _problems(batch_age=0.5, tokens=7, seconds=1)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("event", ..., "?: field 'event': expected text, found nothing"),
        ("event", 7, "?: field 'event': expected text, found 7"),
        ("t", ..., "train_step: field 't': expected float in Unix seconds, found nothing"),
        ("t", "late", "train_step: field 't': expected float in Unix seconds, found 'late'"),
        ("run", 7, "train_step: field 'run': expected id, found 7"),
        ("seq", True, "train_step: field 'seq': expected int in rows, found True"),
        ("seq", 0.5, "train_step: field 'seq': expected int in rows, found 0.5"),
        ("step", ..., "train_step: field 'step': expected int, found nothing"),
        ("step", None, "train_step: field 'step': expected int, found None"),
        ("step", "5", "train_step: field 'step': expected int, found '5'"),
        ("trained_version", False, "train_step: field 'trained_version': expected int in versions, found False"),
        ("group_ids", "g", "train_step: field 'group_ids': expected list of ids, found 'g'"),
        ("group_ids", [7], "train_step: field 'group_ids': expected list of ids, found [7]"),
        ("batch_age", "old", "train_step: field 'batch_age': expected float in versions, found 'old'"),
        ("batch_age", True, "train_step: field 'batch_age': expected float in versions, found True"),
        ("tokens", 1.5, "train_step: field 'tokens': expected int in tokens, found 1.5"),
    ],
)
def test_a_problem_names_the_field_and_what_was_expected(field: str, value: Any, message: str) -> None:
    """One sentence with event, field, expectation and what was found."""
    assert [message] == _problems(**{field: value})


@pytest.mark.parametrize(
    ("event", "fields", "expected"),
    [
        ("attempt_resumed", {"attempt_id": "a", "level": "all"}, "level: one of sibling, turn, prefix"),
        ("attempt_resumed", {"attempt_id": "a", "level": ["turn"]}, "level: one of sibling, turn, prefix"),
        ("attempt_sealed", {"attempt_id": "a", "masked": 1}, "masked: bool"),
        ("run_started", {"schema": 1, "host": "h", "pid": 1, "config": []}, "config: object"),
        ("group_sealed", {"group_id": "g", "tokens_by_version": {"new": 1}}, VERSIONS),
        ("group_sealed", {"group_id": "g", "tokens_by_version": {"--5": 1}}, VERSIONS),
        ("group_sealed", {"group_id": "g", "tokens_by_version": {"٣": 1}}, VERSIONS),
        ("group_sealed", {"group_id": "g", "tokens_by_version": {3: -1}}, VERSIONS),
        ("group_sealed", {"group_id": "g", "tokens_by_version": [3]}, VERSIONS),
        ("weight_sync", {"replaced_version": 1, "new_version": 2, "calls": [["c"]]}, CALLS),
        ("weight_sync", {"replaced_version": 1, "new_version": 2, "calls": [[7, 1]]}, CALLS),
        ("weight_sync", {"replaced_version": 1, "new_version": 2, "calls": {"c": 1}}, CALLS),
        ("group_published", {"group_id": "g", "call_versions": [["c", 1]]}, CALL_VERSIONS),
    ],
)  # fmt: skip
def test_values_of_the_wrong_shape_are_problems(event: str, fields: dict[str, Any], expected: str) -> None:
    """Choices, booleans, objects and the lists of calls are checked to the last column."""
    row = {"event": event, "t": 1, "run": "a", "seq": 0, **fields}

    assert [expected] == [f"{problem.field}: {problem.expected}" for problem in validate_row(row)]


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("group_sealed", {"group_id": "g", "tokens_by_version": {}}),
        ("group_sealed", {"group_id": "g", "tokens_by_version": {0: 0, -1: 5}}),
        ("group_sealed", {"group_id": "g", "tokens_by_version": {"0": 0, "-1": 5}}),
        ("group_sealed", {"group_id": "g", "tokens_by_version": None}),
        ("weight_sync", {"replaced_version": 0, "new_version": 0, "calls": []}),
        ("weight_sync", {"replaced_version": 0, "new_version": 1, "calls": [["c", 0, "shard-1"]]}),
        ("attempt_sealed", {"attempt_id": "", "reward": "NaN", "tokens": 10**70}),
        ("attempt_sealed", {"attempt_id": "a", "reward": "-Infinity", "masked": False}),
        ("attempt_sealed", {"attempt_id": "a", "reward": float("nan")}),
        ("my_event", {"step": "any", "group_ids": 7}),
        ("train_step_started", {"step": 1, "my_field": object()}),
        ("attempt_resumed", {"attempt_id": "a", "level": "turn", "group_id": None}),
    ],
)
def test_what_the_vocabulary_allows_is_no_problem(event: str, fields: dict[str, Any]) -> None:
    """Zero, empty, further columns, words for NaN, absent values, unknown events and unknown fields."""
    assert [] == validate_row({"event": event, "t": 1, "run": "a", "seq": 0, **fields})


def test_all_problems_are_given_in_the_order_of_the_registry() -> None:
    """A row with several faults is repaired in one go."""
    assert ["seq", "step", "trained_version", "group_ids"] == [
        problem.field for problem in validate_row({"event": "train_step", "t": 1, "run": "a"})
    ]
    assert ["event", "t", "run", "seq"] == [problem.field for problem in validate_row({})]


@pytest.mark.parametrize(
    ("field", "value", "legal"),
    [
        ("group_ids", ("g",), False),
        ("group_ids", ["\ud800"], True),
        ("step", 2**70, True),
        ("step", True, False),
        ("step", "\ud800", False),
        ("batch_age", float("nan"), True),
        ("batch_age", 2**70, True),
        ("batch_age", None, True),
        ("extra", {"\ud800": 1}, True),
    ],
)
def test_a_verdict_is_about_one_field(field: str, value: Any, legal: bool) -> None:
    """Whatever stands in a field is named or passed, and no other field with it."""
    assert ([] if legal else [field]) == [problem.field for problem in validate_row(STEP | {field: value})]


def test_a_level_that_is_no_text_for_utf8_is_named() -> None:
    """Half a surrogate pair is no level, and no error."""
    row = {"event": "attempt_resumed", "t": 1.5, "run": "a", "seq": 0, "attempt_id": "x", "level": "\ud800"}

    assert ["level"] == [problem.field for problem in validate_row(row)]


def test_long_values_are_clipped() -> None:
    """A problem fits on a line, whatever the row holds."""
    assert [Problem("train_step", "step", "int", "'" + "x" * 76 + "...")] == validate_row(STEP | {"step": "x" * 500})


@pytest.mark.parametrize("event", [event for event in EVENTS if event.required], ids=lambda event: event.name)
def test_every_required_field_is_missed(event: Any) -> None:
    """No event is checked less than another."""
    bare = {"event": event.name, "t": 1, "run": "a", "seq": 0}

    assert [field.name for field in event.required] == [problem.field for problem in validate_row(bare)]


def test_what_the_recorder_writes_is_valid(tmp_path: Path) -> None:
    """Own rows and the rows of the typed methods, with ids and numbers of any type."""
    path = tmp_path / "rollout_trace.jsonl"
    with RolloutTrace(path, service="s", weight_version=0, config={"a": 1}) as trace:
        trace.group_reserved(1, 2, 4)
        trace.attempt_dispatched(1, 3, 2, 0)
        trace.attempt_sealed(3, 10, float("nan"), masked=False)
        trace.group_published(1, {0: 10}, [("c", 0, 10)])
        trace.weight_sync(0, 1, [(7, 10)], 0.5)
        trace.train_step(1, 0, [1])
        trace.checkpoint_published("s", 1, groups=(1,))
    rows = list(read_events(path))

    assert (9, []) == (len(rows), [str(problem) for row in rows for problem in validate_row(row)])
