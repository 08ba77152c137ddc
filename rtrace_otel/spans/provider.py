"""Finished spans through a tracer provider that the team already has: its processors, sampler and resource, our ids."""

from __future__ import annotations

import logging
from typing import Any

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from rtrace_otel.spans.model import SCOPE_NAME, FinishedSpan, RunResource

logger = logging.getLogger("rtrace_otel")


class _GivenIds(IdGenerator):
    """Gives the ids that the projector chose."""

    def __init__(self) -> None:
        self.trace_id = 1
        self.span_id = 1

    def generate_trace_id(self) -> int:
        return self.trace_id

    def generate_span_id(self) -> int:
        return self.span_id

    def is_trace_id_random(self) -> bool:
        return False


class ProviderSink:
    """Starts and ends each finished span anew through a provider.

    Only public attributes of the SDK are used: a tracer takes the provider's ``id_generator`` when it is made, so ours
    is in place for that moment and then the provider has its own back.

    Args:
        provider: An SDK ``TracerProvider``. Another one cannot take our ids: that is warned of, and it gets nothing.
    """

    def __init__(self, provider: Any) -> None:
        """Get a tracer of our own from the provider."""
        self._ids = _GivenIds()
        self._tracer: Tracer | None = None
        if not hasattr(provider, "id_generator"):
            logger.warning(
                "rollout trace: %s has no id_generator, so it cannot take spans with our ids; it gets none. "
                "Set OTEL_EXPORTER_OTLP_ENDPOINT or pass otlp= to export them otherwise.",
                type(provider).__name__,
            )
            return
        own = provider.id_generator
        provider.id_generator = self._ids
        try:
            self._tracer = provider.get_tracer(f"{SCOPE_NAME}.rollouts")
        finally:
            provider.id_generator = own

    def __call__(self, span: FinishedSpan, resource: RunResource) -> None:
        """Hand a span over.

        Args:
            span: The span.
            resource: What is known of its run's process; the provider's own resource takes its place.
        """
        if self._tracer is None:
            return
        self._ids.trace_id, self._ids.span_id = span.trace_id, span.span_id
        started = self._tracer.start_span(
            span.name,
            context=Context() if span.parent_id is None else _parent(span.trace_id, span.parent_id),
            attributes={**span.attributes, "rtrace.service_instance": resource.run},
            links=[Link(_context(link.trace_id, link.span_id), link.attributes) for link in span.links],
            start_time=span.start_ns,
        )
        for event in span.events:
            started.add_event(event.name, event.attributes, event.time_ns)
        if span.error is not None:
            started.set_status(Status(StatusCode.ERROR, span.error))
        started.end(span.end_ns)


def _parent(trace_id: int, span_id: int) -> Context:
    return set_span_in_context(NonRecordingSpan(_context(trace_id, span_id)), Context())


def _context(trace_id: int, span_id: int) -> SpanContext:
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
