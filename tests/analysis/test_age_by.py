"""Batch age by the values of a field, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rtrace_otel.analysis.age.by_field import MAX_LENGTH, MAX_VALUES, AgeBy, ByFold, ValueAge, ValueKind
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.events import Row
from tests.report.history import dispatched, event, published, reserved, resumed, sealed, trace, trained

VALUE, NOT_GIVEN, OTHERS = ValueKind.VALUE, ValueKind.NOT_GIVEN, ValueKind.OTHERS


def ages_by(field: str, *events: Row) -> AgeBy:
    """The ages by a field; every token with an age is under one value."""
    fold = ByFold(field)
    result = staleness(trace(*events), fold)
    result.self_check()
    by = fold.result()
    by.self_check(result.coverage.known)
    return by


def values(by: AgeBy) -> dict[str | None, int]:
    """Tokens by value."""
    return {value.value: value.tokens for value in by.values}


def test_tokens_weigh_within_a_value() -> None:
    """math: 30 tokens of age 1 in step 1, 10 of age 3 in step 2, so 60 / 40. code: 5 of age 0. No field: 2 of age 2."""
    by = ages_by(
        "environment",
        reserved("a", "g", environment="math"),
        reserved("a", "h", environment="code"),
        published("a", "g", {3: 30}),
        published("a", "h", {4: 5}),
        published("a", "i", {2: 2}),
        published("a", "j") | {"environment": "code"},
        trained("a", 1, 4, "g", "h", "i", "j"),
        published("a", "k", {2: 10}) | {"environment": "math"},
        trained("a", 2, 5, "k"),
    )

    assert AgeBy("environment", (
        ValueAge(VALUE, "math", 1.5, 40, 2, 2),
        ValueAge(VALUE, "code", 0.0, 5, 2, 1),
        ValueAge(NOT_GIVEN, None, 2.0, 2, 1, 1),
    )) == by  # fmt: skip


def test_the_latest_row_with_the_field_counts() -> None:
    """A later row without it, or with null, does not take it away."""
    rows = (
        reserved("a", "g", environment="old"),
        dispatched("a", "x") | {"environment": "new"},
        event("a", "group_sealed", group_id="g", environment=None),
        published("a", "g", {3: 5}),
    )

    assert {"new": 5} == values(ages_by("environment", *rows, trained("a", 1, 3, "g")))


def test_rows_of_an_attempt_are_rows_of_its_group() -> None:
    """A seal names no group; the dispatch did. An attempt that goes on belongs where the one before it did."""
    rows = (dispatched("a", "x", "g"), published("a", "g", {3: 5}), trained("a", 1, 3, "g"))
    seal = sealed("a", "x") | {"environment": "math"}
    assert {"math": 5} == values(ages_by("environment", rows[0], seal, *rows[1:]))

    goes_on = (resumed("b", "y", "turn", "x"), sealed("b", "y") | {"environment": "math"})
    assert {"math": 5} == values(ages_by("environment", rows[0], *goes_on, *rows[1:]))
    stranger = sealed("a", "z") | {"environment": "math"}
    assert {None: 5} == values(ages_by("environment", rows[0], stranger, *rows[1:]))


@pytest.mark.parametrize(
    ("field", "expected"), [("prompt_id", "17"), ("instance", "s1"), ("run", "a"), ("generations", "8"), ("new", None)]
)
def test_fields_of_the_vocabulary_and_of_the_user(field: str, expected: str | None) -> None:
    """Any field of any row of the group."""
    rows = (reserved("a", "g", generations=8), dispatched("a", "x") | {"instance": "s1"}, published("a", "g", {3: 5}))

    assert {expected: 5} == values(ages_by(field, *rows, trained("a", 1, 3, "g")))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", ""),
        (True, "true"),
        (0, "0"),
        (1.5, "1.5"),
        ([1, {"a": None}], '[1, {"a": null}]'),
        (10**5000, "(cannot be shown)"),
        ("x" * (MAX_LENGTH + 1), "x" * MAX_LENGTH + "..."),
        ("x" * MAX_LENGTH, "x" * MAX_LENGTH),
    ],
    ids=["empty", "bool", "int", "float", "list", "huge", "too long", "long"],
)
def test_values_of_any_type_are_text(value: Any, expected: str) -> None:
    """Texts stay as they are, all else is JSON; long ones are cut."""
    rows = (reserved("a", "g", field=value), published("a", "g", {3: 5}), trained("a", 1, 3, "g"))

    assert {expected: 5} == values(ages_by("field", *rows))


def test_values_beyond_the_limit_are_counted_together() -> None:
    """The first values are told apart, the others not; a value named like the rest is still a value."""
    groups = [f"g{number}" for number in range(MAX_VALUES + 2)]
    by = ages_by(
        "name",
        *(published("a", group, {3: 5}) | {"name": group} for group in groups),
        published("a", "odd", {3: 9}) | {"name": "(others)"},
        trained("a", 1, 4, "odd", *groups),
    )

    assert MAX_VALUES + 1 == len(by.values)
    assert ValueAge(VALUE, "(others)", 1.0, 9, 1, 1) == by.values[0]
    assert ValueAge(OTHERS, None, 1.0, 15, 3, 3) == by.values[-1]


def test_a_step_trained_again_is_counted_once_and_keeps_its_values() -> None:
    """A restored group has the value that the earlier run gave it."""
    rows = (reserved("a", "g", environment="math"), published("a", "g", {3: 5}), trained("a", 1, 3, "g"))

    assert {"math": 5} == values(ages_by("environment", *rows, trained("b", 1, 4, "g")))


def test_steps_without_a_version_weigh_nothing() -> None:
    """Their groups are counted, their tokens have no age."""
    rows = (published("a", "g", {3: 5}) | {"environment": "math"}, trained("a", 1, None, "g"))

    assert (ValueAge(VALUE, "math", None, 0, 1, 1),) == ages_by("environment", *rows).values


def test_versions_too_large_for_numbers_have_no_age() -> None:
    """The tokens are counted all the same."""
    rows = (published("a", "g", {10**400: 5}) | {"environment": "math"}, trained("a", 1, 3, "g"))

    assert (ValueAge(VALUE, "math", None, 5, 1, 1),) == ages_by("environment", *rows).values


def test_without_steps_there_are_no_values() -> None:
    """What was not trained is not in the table."""
    assert AgeBy("environment", ()) == ages_by("environment", reserved("a", "g", environment="math"))
