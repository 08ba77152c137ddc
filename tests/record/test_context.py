"""Trace context of an attempt, before its span exists."""

from __future__ import annotations

import enum
import pickle
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.projector import project
from tests.pace import cpu_s, within


class Kind(enum.Enum):
    """An id that is a member of an enumeration."""

    RED = "red"


def attempt_in(file: Path) -> str:
    """The traceparent of the only attempt in a file, from its span."""
    (attempt,) = (span for span, _ in project(read_events(file)) if span.name == "rollout.attempt")
    return f"00-{attempt.trace_id:032x}-{attempt.span_id:016x}-01"


def dispatched(file: Path, group: Any, attempt: Any, origin: str | None = None) -> str:
    """The traceparent of an attempt that is then recorded."""
    with RolloutTrace(file) as trace:
        parent = trace.traceparent(attempt, group, origin_run=origin)
        trace.group_reserved(group, "17", origin_run=origin)
        trace.attempt_dispatched(group, attempt, "17", 0)
        trace.attempt_sealed(attempt)
    return parent


def test_format(trace: RolloutTrace) -> None:
    """Version 00, 32 and 16 lower-case hexadecimal digits, sampled, not random."""
    assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", trace.traceparent("x", "g"))


@pytest.mark.parametrize("origin", [None, "a" * 16])
def test_span_has_these_ids(file: Path, origin: str | None) -> None:
    """The span that the attempt becomes has the ids that were promised, also in a restored group."""
    parent = dispatched(file, "g", "x", origin)
    assert attempt_in(file) == parent


@pytest.mark.parametrize(
    "given",
    [5, True, 1.5, uuid.UUID(int=7), Kind.RED, b"x", ("prompt", 3), frozenset({1}), "\ud800", "ü", "x" * 5000, None],
    ids=repr,
)
def test_ids_of_any_type(file: Path, given: object) -> None:
    """Whatever the controller uses as an id, the row, the span and the header mean the same."""
    parent = dispatched(file, given, given)
    assert attempt_in(file) == parent


@pytest.mark.parametrize("name", ["traceparent", "Traceparent", "TRACEPARENT"])
def test_inject_keeps_what_is_there(trace: RolloutTrace, name: str) -> None:
    """A header that somebody set stays, in any case, and so do the others."""
    headers = {name: "theirs", "tracestate": "a=b"}
    assert headers is trace.inject(headers, "x", "g")
    assert {name: "theirs", "tracestate": "a=b"} == headers


def test_inject_adds_one_header(trace: RolloutTrace) -> None:
    """Nothing but ``traceparent`` is added."""
    headers = trace.inject({"x-a": "1"}, "x", "g")
    assert {"x-a": "1", "traceparent": trace.traceparent("x", "g")} == headers


def test_carrier_survives_pickling(trace: RolloutTrace) -> None:
    """The carrier is a plain dict of strings."""
    carrier: dict[str, str] = trace.inject({}, "x", "g")
    assert carrier == pickle.loads(pickle.dumps(carrier))
    assert dict is type(carrier)


def test_disabled_recorder_injects_nothing() -> None:
    """Without a file nobody will ever make the parent, so children must not name it."""
    assert {} == RolloutTrace(None).inject({}, "x", "g")


def test_other_process_reads_the_same(trace: RolloutTrace) -> None:
    """OpenTelemetry's own propagator makes the header's context the parent."""
    context = TraceContextTextMapPropagator().extract(trace.inject({}, "x", "g"))
    span = TracerProvider(shutdown_on_exit=False).get_tracer("server").start_span("llm_request", context)
    assert span.parent is not None  # type: ignore[attr-defined]
    parent = span.parent  # type: ignore[attr-defined]
    assert trace.traceparent("x", "g") == f"00-{parent.trace_id:032x}-{parent.span_id:016x}-01"


@pytest.mark.parametrize("origin", [None, "a" * 16])
def test_context_in_this_process(trace: RolloutTrace, origin: str | None) -> None:
    """A tracer that is given the context makes a recorded child of the attempt."""
    context = trace.context("x", "g", origin_run=origin)
    span = TracerProvider(shutdown_on_exit=False).get_tracer("reward").start_span("score", context)
    parent = span.parent  # type: ignore[attr-defined]
    found = f"00-{parent.trace_id:032x}-{parent.span_id:016x}-01"
    assert (trace.traceparent("x", "g", origin_run=origin), True) == (found, span.is_recording())
    assert parent.trace_id == span.get_span_context().trace_id


def test_is_cheap(trace: RolloutTrace) -> None:
    """An injection takes microseconds."""

    def inject() -> None:
        for number in range(2_000):
            trace.inject({}, number, "g")

    within(2_000 * 15e-6, lambda: cpu_s(inject))
