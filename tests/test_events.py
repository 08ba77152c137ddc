"""The registry holds the agreed vocabulary, name by name: stored files and dashboards depend on it."""

from __future__ import annotations

import pytest

from rtrace_otel.events import (
    COMMON_FIELDS,
    EVENTS,
    EVENTS_BY_NAME,
    FIELD_TYPES,
    ROLLOUT_TRACE_FILENAME,
    SCHEMA_VERSION,
)
from rtrace_otel.fields import FieldType, SpanRole

AGREED: dict[str, tuple[str, str, str]] = {
    "run_started": ("schema host pid", "parent_run service framework weight_version config resource", ""),
    "run_ended": ("reason", "", ""),
    "group_reserved": (
        "group_id prompt_id", "generations weight_version epoch origin_run", "opens rollout.group"
    ),
    "group_admitted": ("group_id", "target_step weight_version", "marks rollout.group"),
    "group_sealed": ("group_id", "tokens_by_version", "marks rollout.group"),
    "group_published": ("group_id", "tokens_by_version call_versions", "marks rollout.group"),
    "group_discarded": ("group_id reason", "", "ends rollout.group"),
    "attempt_dispatched": (
        "group_id attempt_id prompt_id generation_index", "attempt_index weight_version instance",
        "opens rollout.attempt",
    ),
    "attempt_refused": ("attempt_id", "reason", "marks rollout.attempt"),
    "attempt_resumed": (
        "attempt_id level", "previous_attempt_id tokens_kept group_id prompt_id generation_index",
        "opens rollout.attempt, marks rollout.group",
    ),
    "attempt_sealed": ("attempt_id", "tokens reward masked", "ends rollout.attempt"),
    "attempt_abandoned": ("attempt_id reason", "tokens", "ends rollout.attempt"),
    "train_step_started": ("step", "", "opens train.step"),
    "train_step": (
        "step trained_version group_ids", "batch_age tokens seconds", "ends train.step, ends rollout.group"
    ),
    "weight_sync_started": ("", "", "opens weights.sync"),
    "weight_sync": ("replaced_version new_version", "calls seconds", "ends weights.sync"),
    "checkpoint_started": ("", "", "opens checkpoint.publish"),
    "checkpoint_published": ("checkpoint_id step", "kind groups seconds", "ends checkpoint.publish"),
    "checkpoint_restored": ("checkpoint_id step", "groups from_run seconds", "ends checkpoint.restore"),
    "trace_gap": ("lost reason", "since", ""),
    "spans_delivered": ("destination of_run spans", "", ""),
    "clock_adjusted": ("offset_s", "", ""),
}  # fmt: skip
"""Event: required fields, optional fields (both in the order of the recording method), spans."""

TYPES: dict[FieldType, str] = {
    FieldType.ID: (
        "run parent_run origin_run from_run of_run group_id prompt_id attempt_id previous_attempt_id checkpoint_id"
    ),
    FieldType.TEXT: "event host service framework reason instance level kind destination spans",
    FieldType.INT: (
        "seq schema pid weight_version generations epoch target_step generation_index attempt_index tokens_kept tokens "
        "step trained_version replaced_version new_version lost"
    ),
    FieldType.FLOAT: "t reward batch_age seconds since offset_s",
    FieldType.BOOL: "masked",
    FieldType.IDS: "group_ids groups",
    FieldType.TOKENS_BY_VERSION: "tokens_by_version",
    FieldType.CALLS: "calls",
    FieldType.CALL_VERSIONS: "call_versions",
    FieldType.OBJECT: "config resource",
}


def test_the_registry_holds_the_agreed_events_and_no_others() -> None:
    """Adding or renaming an event is a change of the contract."""
    assert list(AGREED) == [event.name for event in EVENTS]


@pytest.mark.parametrize("name", AGREED)
def test_each_event_has_the_agreed_fields_and_spans(name: str) -> None:
    """Required and optional fields in the order of the positional arguments, and what the event does to spans."""
    event = EVENTS_BY_NAME[name]
    spans = ", ".join(f"{role.value} {span}" for role, span in event.spans)
    found = (" ".join(f.name for f in event.required), " ".join(f.name for f in event.optional), spans)

    assert AGREED[name] == found


def test_every_row_has_event_time_run_and_number() -> None:
    """The event comes first, so that a person sees it first."""
    assert ["event", "t", "run", "seq"] == [field.name for field in COMMON_FIELDS]
    assert all(field.required for field in COMMON_FIELDS)


def test_required_fields_stand_before_optional_ones() -> None:
    """The order of the fields is that of the recording method's parameters."""
    assert {event.name: event.fields for event in EVENTS} == {
        event.name: event.required + event.optional for event in EVENTS
    }


def test_each_field_has_the_agreed_type() -> None:
    """Ids are strings, versions and counts ints, times floats."""
    assert {name: kind for kind, names in TYPES.items() for name in names.split()} == FIELD_TYPES


def test_a_field_means_the_same_in_every_event() -> None:
    """One name, one type and one unit."""
    seen: dict[str, set[tuple[FieldType, str | None]]] = {}
    for field in (*COMMON_FIELDS, *(field for event in EVENTS for field in event.fields)):
        seen.setdefault(field.name, set()).add((field.type, field.unit))

    assert {} == {name: kinds for name, kinds in seen.items() if len(kinds) > 1}


def test_a_resumed_attempt_has_one_of_three_levels() -> None:
    """A sealed sibling, the turns so far, or the tokens so far were kept."""
    (level,) = [field for field in EVENTS_BY_NAME["attempt_resumed"].fields if field.name == "level"]

    assert ("sibling", "turn", "prefix") == level.choices


def test_numbers_with_a_dimension_have_a_unit() -> None:
    """A reader of the schema need not guess whether seconds are milliseconds."""
    dimensional = ("seconds", "since", "offset_s", "tokens", "tokens_kept", "calls", "tokens_by_version", "lost", "t")
    fields = (*COMMON_FIELDS, *(field for event in EVENTS for field in event.fields))

    assert set() == {field.name for field in fields if field.name in dimensional and not field.unit}


def test_everything_has_a_meaning_of_one_line() -> None:
    """The schema page has a sentence for each event and each field."""
    meanings = [event.meaning for event in EVENTS]
    meanings += [field.meaning for event in EVENTS for field in event.fields] + [
        field.meaning for field in COMMON_FIELDS
    ]

    assert [] == [meaning for meaning in meanings if not meaning.endswith(".") or "\n" in meaning]


def test_spans_are_opened_before_they_are_ended() -> None:
    """A span that an event ends is opened by another, or by the same event's start or duration."""
    opened = {span for event in EVENTS for role, span in event.spans if role is SpanRole.OPENS}
    ended = {span for event in EVENTS for role, span in event.spans if role is SpanRole.ENDS}

    assert (set(), {"checkpoint.restore"}) == (opened - ended, ended - opened)


def test_schema_version_and_file_name_are_those_of_the_contract() -> None:
    """Stored files carry the one and are found by the other."""
    assert (1, "rollout_trace.jsonl") == (SCHEMA_VERSION, ROLLOUT_TRACE_FILENAME)
