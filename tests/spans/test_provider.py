"""Spans through a tracer provider that the team already has."""

from __future__ import annotations

import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace as api
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import (
    ALWAYS_OFF,
    ALWAYS_ON,
    Decision,
    ParentBased,
    Sampler,
    SamplingResult,
    TraceIdRatioBased,
)

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.trace import RolloutTrace
from tests.spans.rows import readable


def provided(sampler: Sampler) -> tuple[TracerProvider, InMemorySpanExporter]:
    """A provider with a resource of its own, and what it exports to."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler, Resource({"service.name": "theirs"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider, exporter


def record(file: Path, provider: api.TracerProvider) -> None:
    """A group of two attempts, one redone, with a refit."""
    with RolloutTrace(file, tracer_provider=provider) as trace:
        trace.group_reserved("g", 17)
        trace.attempt_dispatched("g", "x", 17, 0)
        trace.weight_sync(1, 2)
        trace.attempt_abandoned("x", "server error")
        trace.attempt_dispatched("g", "y", 17, 0)
        trace.attempt_sealed("y", tokens=3)
        trace.train_step(1, 1, ["g"])


def record_groups(file: Path, provider: api.TracerProvider, groups: int) -> None:
    """Groups of one attempt each, and the step that trains them; ids are the same each time."""
    with RolloutTrace(file, run="0123456789abcdef", tracer_provider=provider) as trace:
        for n in range(groups):
            trace.group_reserved(f"g{n}", n)
            trace.attempt_dispatched(f"g{n}", f"a{n}", n, 0)
            trace.attempt_sealed(f"a{n}", tokens=3)
        trace.train_step(1, 1, [f"g{n}" for n in range(groups)])


def names_of(exporter: InMemorySpanExporter) -> dict[str, int]:
    """How many spans of each name were exported."""
    return Counter(span.name for span in exporter.get_finished_spans())


class ByName(Sampler):
    """Samples the spans of one name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def should_sample(
        self, parent_context: Context | None, trace_id: int, name: str, *_: object, **__: object
    ) -> SamplingResult:
        """Go by the name alone."""
        del parent_context, trace_id
        return SamplingResult(Decision.RECORD_AND_SAMPLE if name == self._name else Decision.DROP)

    def get_description(self) -> str:
        """Say what it does."""
        return f"ByName{{{self._name}}}"


class Wrapper(api.TracerProvider):
    """A provider around the SDK's that passes on only what making spans needs."""

    def __init__(self, inner: TracerProvider) -> None:
        self._inner = inner
        self.id_generator = inner.id_generator

    def get_tracer(self, *arguments: Any, **named: Any) -> api.Tracer:
        """The inner provider's tracer, with this one's ids."""
        own, self._inner.id_generator = self._inner.id_generator, self.id_generator
        tracer = self._inner.get_tracer(*arguments, **named)
        self._inner.id_generator = own
        return tracer


def shape(span: ReadableSpan) -> tuple[object, ...]:
    """What a provider must not change."""
    assert span.context
    return (
        span.name,
        (span.context.trace_id, span.context.span_id, span.parent.span_id if span.parent else None),
        (span.start_time, span.end_time, span.status.status_code, span.status.description),
        [(event.name, event.timestamp, dict(event.attributes or {})) for event in span.events],
        [(link.context.trace_id, link.context.span_id, dict(link.attributes or {})) for link in span.links],
        {key: value for key, value in (span.attributes or {}).items() if key != "rtrace.service_instance"},
    )


def test_spans_are_ours_and_the_resource_is_theirs(file: Path) -> None:
    """Ids, parents, times, events, links, attributes and status are those of the file."""
    provider, exporter = provided(ALWAYS_ON)
    record(file, provider)
    spans = exporter.get_finished_spans()
    assert [shape(span) for span in readable(read_events(file))] == [shape(span) for span in spans]
    assert {"theirs"} == {span.resource.attributes["service.name"] for span in spans}


def test_file_is_complete_although_nothing_is_sampled(file: Path) -> None:
    """A sampler of theirs decides on their spans and never on the file."""
    provider, exporter = provided(ALWAYS_OFF)
    record(file, provider)
    assert (0, 9) == (len(exporter.get_finished_spans()), len(list(read_events(file))))


@pytest.mark.parametrize(
    ("sampler", "names"),
    [
        (ParentBased(ALWAYS_ON), {"rollout.attempt": 40, "rollout.group": 40, "train.step": 1}),
        (ParentBased(ALWAYS_OFF), {}),
        (ALWAYS_ON, {"rollout.attempt": 40, "rollout.group": 40, "train.step": 1}),
    ],
    ids=["parent on", "parent off", "on"],
)
def test_children_are_sampled_as_their_group(file: Path, sampler: Sampler, names: dict[str, int]) -> None:
    """A group ends after its attempts; a sampler that asks for the parent is told what it will say of the group."""
    provider, exporter = provided(sampler)
    record_groups(file, provider, 40)
    assert names == names_of(exporter)


def test_a_share_of_traces_is_whole_traces(file: Path) -> None:
    """A sampler by trace id keeps a group with its attempts or neither: those whose lower 64 bits are a low number."""
    provider, exporter = provided(ParentBased(TraceIdRatioBased(0.5)))
    record_groups(file, provider, 40)
    all_spans = [(span.name, span.context.trace_id) for span in readable(read_events(file)) if span.context]
    kept = [(name, trace_id) for name, trace_id in all_spans if trace_id % 2**64 < 2**63]
    assert kept == [(span.name, span.context.trace_id) for span in exporter.get_finished_spans() if span.context]
    # The run's id is fixed, and so are those of its 41 traces.
    assert {"rollout.attempt": 19, "rollout.group": 19} == names_of(exporter)


def test_children_beyond_the_limit_of_links_are_sampled_as_their_step(file: Path) -> None:
    """The spans that carry a step's further links are its children."""
    provider, exporter = provided(ParentBased(ByName("train.step")))
    with RolloutTrace(file, tracer_provider=provider) as trace:
        trace.train_step(1, 1, [f"g{n}" for n in range(300)])
    assert {"train.step": 1, "train.step.groups": 2} == names_of(exporter)


def test_provider_without_a_sampler_gets_everything(file: Path) -> None:
    """One that cannot be asked, such as a wrapper around the SDK's, is given children of a sampled parent."""
    inner, exporter = provided(ParentBased(ALWAYS_ON))
    record_groups(file, Wrapper(inner), 3)
    assert {"rollout.attempt": 3, "rollout.group": 3, "train.step": 1} == names_of(exporter)


def test_their_own_spans_keep_their_ids(file: Path) -> None:
    """The provider has its id generator back: spans that it makes meanwhile are all different."""
    provider, exporter = provided(ALWAYS_ON)
    own = provider.id_generator
    record(file, provider)
    for _ in range(3):
        provider.get_tracer("theirs").start_span("theirs").end()
    found = [span.context.span_id for span in exporter.get_finished_spans() if span.context]
    assert own is provider.id_generator
    assert len(found) == len(set(found))


def test_provider_that_cannot_take_ids_is_warned_of_once(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The API's own proxy gets nothing; one line of log says so and names it."""
    with caplog.at_level(logging.WARNING):
        record(file, api.ProxyTracerProvider())
    assert 1 == len(caplog.records)
    assert "ProxyTracerProvider" in caplog.text
    assert 9 == len(list(read_events(file)))


def test_global_provider_is_left_alone(file: Path) -> None:
    """Nothing reaches the global provider unless it is given."""
    before = api.get_tracer_provider()
    provider, _ = provided(ALWAYS_ON)
    record(file, provider)
    assert before is api.get_tracer_provider()


def test_next_run_sends_no_span_again(file: Path) -> None:
    """A run that ended cleanly left nothing open, so the next run gives the provider only its own spans."""
    provider, exporter = provided(ALWAYS_ON)
    record(file, provider)
    record(file, provider)
    assert 10 == len(exporter.get_finished_spans())


def test_two_recorders_share_a_provider(file: Path, tmp_path: Path) -> None:
    """A second recorder in the process, with a file of its own, gives the same provider its own ids too."""
    provider, exporter = provided(ALWAYS_ON)
    record(file, provider)
    record(tmp_path / "other.jsonl", provider)
    expected = [
        span.context.span_id
        for path in (file, tmp_path / "other.jsonl")
        for span in readable(read_events(path))
        if span.context
    ]
    assert expected == [span.context.span_id for span in exporter.get_finished_spans() if span.context]
