"""Writes what is derived: ``python -m tests.generate``; a test holds the files on disk to it.

The schema page, the JSON Schema and the typed methods come from the registry, the definitions of staleness in
``docs/concepts.md`` from theirs, the help texts of ``docs/cli.md`` from the commands, and the demo's output in the
README from the demo stored in ``tests/data/demo``.
"""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import click

from rtrace_otel.analysis.age_definitions import DEFINITIONS
from rtrace_otel.analysis.reader import read_events
from rtrace_otel.cli.main import COMMANDS, build_cli
from rtrace_otel.cli.terminal import render_documents
from rtrace_otel.demo.report import demo_documents
from rtrace_otel.events import COMMON_FIELDS, EVENTS, SCHEMA_VERSION
from rtrace_otel.fields import EventType, Field, FieldType
from tests.conventions_page import conventions_page
from tests.record_demo import DATA, recorded
from tests.reference_pages import checks_page, definitions_page

ROOT = Path(__file__).resolve().parent.parent

_ANNOTATIONS = {
    FieldType.ID: "Id",
    FieldType.TEXT: "str",
    FieldType.INT: "int",
    FieldType.FLOAT: "float",
    FieldType.BOOL: "bool",
    FieldType.IDS: "Iterable[Id]",
    FieldType.TOKENS_BY_VERSION: "Mapping[int, int]",
    FieldType.CALLS: "Iterable[Sequence[Any]]",
    FieldType.CALL_VERSIONS: "Iterable[Sequence[Any]]",
    FieldType.OBJECT: "Mapping[str, Any]",
}
_COPIED = {FieldType.IDS, FieldType.TOKENS_BY_VERSION, FieldType.CALLS, FieldType.CALL_VERSIONS, FieldType.OBJECT}

_TYPED_HEAD = '''"""One recording method per event, with positional fields: the fast path. Generated from the registry.

Do not edit: change ``rtrace_otel/events.py`` and run ``python -m tests.generate``.

Each method does what ``emit`` does, without the cost of a dict per event. ``None`` leaves an optional field out;
``extra`` takes fields of your own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from rtrace_otel.record.clock import now
from rtrace_otel.record.queue import RowQueue

Id: TypeAlias = str | int | UUID
"""Ids of any type are written as strings."""


def _copy(value: Any) -> Any:
    """A shallow copy, so that a later change by the caller does not change the row; never raises."""
    try:
        if isinstance(value, (str, bytes)):
            return value
        return dict(value) if isinstance(value, Mapping) else list(value)
    except Exception:  # not iterable, or its iteration failed: the worker writes what it is
        return value


def _shallow(value: Any) -> Any:
    try:
        if isinstance(value, list):
            return list(value)
        return dict(value) if isinstance(value, dict) else value
    except Exception:  # a subclass may do anything: the worker writes what it is
        return value


def _copies(extra: Mapping[str, Any]) -> Any:
    try:
        return {n: _shallow(v) for n, v in extra.items()}
    except Exception:  # not a mapping: the worker writes what it is
        return {"extra": extra}


class TypedEvents:
    """The vocabulary as methods. None of them blocks or raises."""

    _queue: RowQueue
'''


def typed_methods() -> str:
    """Source of ``rtrace_otel/record/typed.py``."""
    return _TYPED_HEAD + "".join(_method(event) for event in EVENTS if event.name not in _OWN_EVENTS)


_OWN_EVENTS = {"run_started", "run_ended", "trace_gap", "spans_delivered", "clock_adjusted"}
"""Rows that the recorder writes itself."""


def _method(event: EventType) -> str:
    fields = (*event.required, *event.optional)
    parameters = "".join(
        f"        {field.name}: {_ANNOTATIONS[field.type]}{'' if field.required else ' | None = None'},\n"
        for field in fields
    )
    values = "".join(f"{_value(field)}, " for field in event.fields)
    arguments = "".join(
        f"            {field.name}: {field.meaning}{f' Unit: {field.unit}.' if field.unit else ''}\n"
        for field in fields
    )
    return f'''
    def {event.name}(
        self,
{parameters}        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """{event.meaning}

        Args:
{arguments}            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("{event.name}", stamp, {values}None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)
'''


def _value(field: Field) -> str:
    if field.type not in _COPIED:
        return field.name
    return f"_copy({field.name})" if field.required else f"None if {field.name} is None else _copy({field.name})"


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


def readme() -> str:
    """``README.md`` with the stored demo's output."""
    result = recorded()
    reader = read_events(DATA / "rollout_trace.jsonl.gz")
    events = list(reader)
    read = dataclasses.replace(reader.report, source=str(result.trace))
    return _with_block(
        (ROOT / "README.md").read_text(encoding="utf-8"), "demo", render_documents(demo_documents(result, events, read))
    )


def cli_page() -> str:
    """``docs/cli.md`` with each command's help."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    group = build_cli()
    context = click.Context(
        group, info_name="rtrace", max_content_width=100, terminal_width=100, help_option_names=["-h", "--help"]
    )
    text = _with_block(text, "rtrace", group.get_help(context))
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        text = _with_block(text, name, command.get_help(click.Context(command, context, name)))
    return text


def concepts_page() -> str:
    """``docs/concepts.md`` with the definitions of staleness."""
    text = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    rows = [
        "| name | framework and metric | from | back to | unit | weighting | approximation |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in DEFINITIONS:
        metric = one.metric if " " in one.metric else f"`{one.metric}`"
        cells = (
            f"`{one.name}`",
            f"{one.framework}: {metric}",
            one.later_clock,
            one.earlier_clock,
            one.unit,
            one.weight,
        )
        rows.append(f"| {' | '.join((*cells, one.approximation))} |")
    head, _, rest = text.partition("<!-- definitions -->")
    _, end, tail = rest.partition("<!-- end of definitions -->")
    assert end, "no place for the definitions"
    return "\n".join([f"{head}<!-- definitions -->", "", *rows, "", f"{end}{tail}"])


def _with_block(text: str, name: str, output: str) -> str:
    """The text with the code block that follows ``<!-- output: NAME -->`` replaced."""
    pattern = re.compile(rf"(<!-- output: {name} -->\n```text\n).*?(```\n)", re.DOTALL)
    assert pattern.search(text), f"no block for {name}"
    return pattern.sub(lambda match: match[1] + output.rstrip() + "\n" + match[2], text)


FILES = {
    "README.md": readme,
    "docs/cli.md": cli_page,
    "docs/concepts.md": concepts_page,
    "rtrace_otel/record/typed.py": typed_methods,
    "docs/checks.md": checks_page,
    "docs/definitions.md": definitions_page,
    "docs/schema.md": schema_page,
    "docs/semantic-conventions.md": conventions_page,
    "docs/rollout_trace.schema.json": json_schema,
}

if __name__ == "__main__":
    for path, text in FILES.items():
        (ROOT / path).write_text(text(), encoding="utf-8")
        print(f"wrote {path}")
