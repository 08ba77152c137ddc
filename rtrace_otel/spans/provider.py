"""Finished spans through a tracer provider that the team already has: its processors, sampler and resource, our ids."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision, Sampler
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

from rtrace_otel.spans.model import SCOPE_NAME, FinishedSpan, RunResource, SpanEvent

MAX_EVENTS: Final = 128
"""Events of a span that an SDK provider keeps by default."""

ROOT_OF: Final = {"rollout.attempt": "rollout.group", "train.step.groups": "train.step"}
"""The root of the trace that a child span is in."""

FOLDED: Final = "rtrace.events_folded."

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
        """Get a tracer of our own from the provider; recorders of one provider share it."""
        self._own = _tracer_of(provider)

    def __call__(self, span: FinishedSpan, resource: RunResource) -> None:
        """Hand a span over.

        Args:
            span: The span.
            resource: What is known of its run's process; the provider's own resource takes its place.
        """
        if self._own is None:
            return
        events, folded = _within_limit(span)
        with self._own.lock:
            self._own.ids.trace_id, self._own.ids.span_id = span.trace_id, span.span_id
            started = self._own.tracer.start_span(
                span.name,
                context=Context() if span.parent_id is None else self._own.parent(span, span.parent_id),
                attributes={**span.attributes, **folded, "rtrace.service_instance": resource.run},
                links=[Link(_context(link.trace_id, link.span_id), link.attributes) for link in span.links],
                start_time=span.start_ns,
            )
        for event in events:
            started.add_event(event.name, event.attributes, event.time_ns)
        if span.error is not None:
            started.set_status(Status(StatusCode.ERROR, span.error))
        started.end(span.end_ns)


@dataclass(frozen=True, slots=True)
class _OwnTracer:
    tracer: Tracer
    ids: _GivenIds
    lock: threading.Lock
    sampler: Sampler | None

    def parent(self, span: FinishedSpan, parent_id: int) -> Context:
        """The parent of a span, as sampled as it will be.

        A group ends after its attempts, so its sampling is not decided yet when they are handed over. A sampler that
        goes by the trace id decides the same now as then, and a trace is kept whole or not at all.
        """
        sampled = TraceFlags(TraceFlags.SAMPLED)
        if self.sampler is not None:
            asked = self.sampler.should_sample(Context(), span.trace_id, ROOT_OF.get(span.name, span.name))
            if asked.decision is not Decision.RECORD_AND_SAMPLE:
                sampled = TraceFlags(TraceFlags.DEFAULT)
        return set_span_in_context(NonRecordingSpan(_context(span.trace_id, parent_id, sampled)), Context())


_tracers: WeakKeyDictionary[Any, _OwnTracer] = WeakKeyDictionary()


def _tracer_of(provider: Any) -> _OwnTracer | None:
    """Our tracer of a provider, which keeps one for each scope and would give a second recorder the first one's."""
    found = _tracers.get(provider)
    if found is not None:
        return found
    if not hasattr(provider, "id_generator"):
        logger.warning(
            "rollout trace: %s has no id_generator, so it cannot take spans with our ids; it gets none. "
            "Set OTEL_EXPORTER_OTLP_ENDPOINT or pass otlp= to export them otherwise.",
            type(provider).__name__,
        )
        return None
    ids, own = _GivenIds(), provider.id_generator
    provider.id_generator = ids
    try:
        tracer = provider.get_tracer(f"{SCOPE_NAME}.rollouts")
    finally:
        provider.id_generator = own
    sampler = getattr(provider, "sampler", None)
    known = sampler if isinstance(sampler, Sampler) else None
    found = _tracers[provider] = _OwnTracer(tracer, ids, threading.Lock(), known)
    return found


def _within_limit(span: FinishedSpan) -> tuple[Sequence[SpanEvent], dict[str, int]]:
    """The first event and the last ones: an SDK span drops its oldest event first, and that is the dispatch."""
    events = span.events
    if len(events) <= MAX_EVENTS:
        return events, {}
    left_out = Counter(event.name for event in events[1 : len(events) - MAX_EVENTS + 1])
    kept = (events[0], *events[len(events) - MAX_EVENTS + 1 :])
    folded = {f"{FOLDED}{name}": count for name, count in left_out.items()}
    # The projector folds repeats too, and counts them under the same name.
    return kept, {name: count + _number(span.attributes.get(name)) for name, count in folded.items()}


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _context(trace_id: int, span_id: int, flags: TraceFlags | None = None) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED) if flags is None else flags
    return SpanContext(trace_id, span_id, is_remote=False, trace_flags=flags)
