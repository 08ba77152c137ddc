"""The schema page and the JSON Schema, written from the registry."""

from __future__ import annotations

import json
from typing import Any

from rtrace_otel.events import COMMON_FIELDS, EVENTS, SCHEMA_VERSION
from rtrace_otel.fields import EventType, Field, FieldType


def schema_page() -> str:
    """Text of ``docs/schema.md``."""
    parts = [
        "# Event schema",
        "",
        "<!-- Generated from the registry by `python -m tests.generate`; do not edit. -->",
        "",
        f"Schema version {SCHEMA_VERSION}. A trace is a UTF-8 file with one JSON object per line, in the order of",
        "emission within a run. It is strict JSON: NaN and the infinities are the strings `NaN`, `Infinity` and",
        "`-Infinity`. Ids are strings, whatever type they had. Unknown events and unknown fields are legal, kept and",
        "passed on.",
        "The same schema as [JSON Schema](rollout_trace.schema.json) describes one row.",
        "",
        "## Every row",
        "",
        *_field_table(COMMON_FIELDS),
        "",
        "## Events",
        "",
        "| event | meaning | span |",
        "|---|---|---|",
        *(f"| [`{event.name}`](#{event.name}) | {event.meaning} | {_spans(event)} |" for event in EVENTS),
    ]
    for event in EVENTS:
        parts += ["", f"### {event.name}", "", event.meaning]
        if event.fields:
            parts += ["", *_field_table(event.fields)]
    return "\n".join([*parts, "", _SCHEMA_NOTES])


_SCHEMA_NOTES = """## Notes

* `t` is a wall-clock anchor plus a monotonic delta, so it never decreases within a run. When the host's clock is
  stepped forward, `t` follows it; when it is stepped back, `t` goes on from the old anchor. Either way one
  `clock_adjusted` row says by how much the two differed.
* The `*_started` rows are optional: without one a span starts at `t - seconds`, else at `t`.
* `weight_sync.calls` lists every call that was running when the refit paused it, also those without a token yet (0)
  and those that began during the pause (0).
* A run may report the weights that it loaded as a `weight_sync` whose `replaced_version` equals its `new_version`; that
  cuts nothing.
* `trained_version` is the version that the step updates, before the update: a batch made with it has age 0.
* JSON object keys are strings; the reader gives the versions of `tokens_by_version` back as integers.
* After a redispatch (a refused attempt) the same `attempt_id` has several `attempt_dispatched` rows.
"""


def _field_table(fields: tuple[Field, ...]) -> list[str]:
    rows = ["| field | type | unit | required | meaning |", "|---|---|---|---|---|"]
    for field in fields:
        choices = f" One of {', '.join(f'`{choice}`' for choice in field.choices)}." if field.choices else ""
        required = "yes" if field.required else ""
        cells = (f"`{field.name}`", field.type.value, field.unit or "", required, field.meaning + choices)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _spans(event: EventType) -> str:
    return ", ".join(f"{role.value} `{span}`" for role, span in event.spans)


def json_schema() -> str:
    """Text of ``docs/rollout_trace.schema.json``."""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rtrace-otel event row",
        "description": f"One line of a rollout trace, schema version {SCHEMA_VERSION}.",
        "type": "object",
        "required": [field.name for field in COMMON_FIELDS],
        "properties": {field.name: _json_type(field) for field in COMMON_FIELDS},
        "allOf": [
            {
                "if": {"properties": {"event": {"const": event.name}}, "required": ["event"]},
                "then": {
                    "required": [field.name for field in event.required],
                    "properties": {field.name: _json_type(field) for field in event.fields},
                },
            }
            for event in EVENTS
        ],
    }
    return json.dumps(schema, indent=2) + "\n"


def _json_type(field: Field) -> dict[str, Any]:
    schema = {**_JSON_TYPES[field.type], "description": field.meaning}
    if field.choices:
        schema["enum"] = list(field.choices)
    if not field.required:
        schema = {"anyOf": [schema, {"type": "null"}]}
    return schema


_JSON_TYPES: dict[FieldType, dict[str, Any]] = {
    FieldType.ID: {"type": "string"},
    FieldType.TEXT: {"type": "string"},
    FieldType.INT: {"type": "integer"},
    FieldType.FLOAT: {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]},
    FieldType.BOOL: {"type": "boolean"},
    FieldType.IDS: {"type": "array", "items": {"type": "string"}},
    FieldType.TOKENS_BY_VERSION: {
        "type": "object",
        "propertyNames": {"pattern": "^-?[0-9]+$"},
        "additionalProperties": {"type": "integer", "minimum": 0},
    },
    FieldType.CALLS: {
        "type": "array",
        "items": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2},
    },
    FieldType.CALL_VERSIONS: {
        "type": "array",
        "items": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}, {"type": "integer"}],
            "minItems": 3,
        },
    },
    FieldType.OBJECT: {"type": "object"},
}
