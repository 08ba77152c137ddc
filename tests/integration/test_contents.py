"""Jaeger holds, id by id and field by field, what projecting the file gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from rtrace_otel.spans.model import FinishedSpan
from rtrace_otel.spans.projector import project
from tests.integration.chain import JOB, Found, Reference, SpanKey
from tests.integration.conftest import Job
from tests.servers import BUILD_TIMEOUT_S

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

JAEGERS_OWN: Final = frozenset(
    {"span.kind", "error", "otel.status_code", "otel.status_description", "otel.scope.name", "otel.scope.version"}
)


def _hexadecimal(trace_id: int, span_id: int) -> SpanKey:
    return f"{trace_id:032x}", f"{span_id:016x}"


def _as_shown(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as Jaeger's API gives them: it knows no lists."""
    return {
        name: json.dumps(list(value), separators=(",", ":")) if isinstance(value, (list, tuple)) else value
        for name, value in attributes.items()
    }


def _expected(span: FinishedSpan) -> tuple[Any, ...]:
    parent = () if span.parent_id is None else (Reference("CHILD_OF", _hexadecimal(span.trace_id, span.parent_id)),)
    links = tuple(Reference("FOLLOWS_FROM", _hexadecimal(link.trace_id, link.span_id)) for link in span.links)
    events = tuple((e.time_ns // 1000, {"event": e.name, **_as_shown(e.attributes)}) for e in span.events)
    duration_us = (span.end_ns - span.start_ns) // 1000
    status = (span.error is not None, span.error)
    return span.name, span.start_ns // 1000, duration_us, parent + links, _as_shown(span.attributes), events, status


def _shown(span: Found) -> tuple[Any, ...]:
    tags = {name: value for name, value in span.tags.items() if name not in JAEGERS_OWN}
    status = (span.tags.get("error", False), span.tags.get("otel.status_description"))
    return span.name, span.start_us, span.duration_us, span.references, tags, span.events, status


def test_the_ids_are_those_of_the_file(job: Job) -> None:
    """No span of the job is missing, none is there that the file does not give, none is there twice."""
    expected = sorted(_hexadecimal(span.trace_id, span.span_id) for span, _ in project(job.events))
    assert expected == sorted(span.key for span in job.spans if span.name != "llm_request")


def test_the_spans_are_those_of_the_file(job: Job) -> None:
    """Name, times, references, attributes, events and status of each span, through SDK, collector and Jaeger."""
    expected = {_hexadecimal(span.trace_id, span.span_id): _expected(span) for span, _ in project(job.events)}
    shown = {span.key: _shown(span) for span in job.spans if span.process["service.name"] == JOB}
    assert {} == {key: (expected.get(key), shown.get(key)) for key in shown if expected.get(key) != shown.get(key)}
    assert expected.keys() == shown.keys()


def test_every_span_has_the_scope_of_the_package(job: Job) -> None:
    """The instrumentation scope tells our spans from those of others."""
    scopes = {(s.process["service.name"] == JOB, s.tags["otel.scope.name"] == "rtrace_otel") for s in job.spans}
    assert {(True, True), (False, False)} == scopes


def test_the_dispatch_event_is_in_every_attempt(job: Job) -> None:
    """However an attempt ended, its first event is the one that began it."""
    first = {span.events[0][1]["event"] for span in job.named("rollout.attempt")}
    assert {"attempt_dispatched", "attempt_resumed"} == first
