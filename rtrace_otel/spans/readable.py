"""Finished spans as OpenTelemetry ``ReadableSpan`` objects, with explicit ids and times."""

from __future__ import annotations

from functools import lru_cache

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from rtrace_otel.events import SCHEMA_VERSION
from rtrace_otel.spans.model import SCOPE_NAME, FinishedSpan, RunResource

_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_SCOPE = InstrumentationScope(SCOPE_NAME, f"schema-{SCHEMA_VERSION}")
_UNSET = Status(StatusCode.UNSET)


class ProjectedSpan(ReadableSpan):
    """A readable span that knows where it stands in the projection of its run.

    Attributes:
        run: The run that it belongs to.
        number: Its number among the spans of that run, from 0; the same live and in every replay.
    """

    run: str
    number: int


def to_readable(span: FinishedSpan, resource: RunResource, number: int) -> ProjectedSpan:
    """A finished span for processors and exporters of the SDK.

    Args:
        span: From the projector.
        resource: What is known of its run's process.
        number: Its number among the spans of its run.
    """
    readable = ProjectedSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=None if span.parent_id is None else _context(span.trace_id, span.parent_id),
        resource=sdk_resource(resource),
        attributes=span.attributes,
        events=[Event(event.name, event.attributes, event.time_ns) for event in span.events],
        links=[Link(_context(link.trace_id, link.span_id), link.attributes) for link in span.links],
        kind=SpanKind.INTERNAL,
        status=_UNSET if span.error is None else Status(StatusCode.ERROR, span.error),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=_SCOPE,
    )
    readable.run = span.run
    readable.number = number
    return readable


def sdk_resource(resource: RunResource) -> Resource:
    """The resource of a run; without the SDK's own attributes, which differ from process to process."""
    return _resource(tuple(sorted(resource.attributes().items())))


@lru_cache(maxsize=64)
def _resource(attributes: tuple[tuple[str, str | int], ...]) -> Resource:
    return Resource(dict(attributes))


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=_SAMPLED)
