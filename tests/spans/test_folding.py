"""A span with very many events: nothing that matters is cut."""

from __future__ import annotations

from collections import Counter

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.spans.projector import project
from rtrace_otel.spans.provider import ProviderSink
from tests.spans.rows import History, named, spans_of
from tests.spans.test_round_trip import through_sdk

NOTES = 300


def noted(run: History) -> None:
    """Many events of the user's in the attempt."""
    for number in range(NOTES):
        run.add("note", attempt_id="x", number=number)


def test_events_beyond_the_limit_become_counts() -> None:
    """The dispatch and the last event stay, and kept and counted ones add up."""
    run = History()
    run.reserve()
    run.dispatch()
    noted(run)
    run.seal()
    attempt = named(spans_of(run), "rollout.attempt")
    kept = [event.name for event in attempt.events]
    folded = attempt.attributes["rtrace.events_folded.note"]
    assert ("attempt_dispatched", "attempt_sealed") == (kept[0], kept[-1])
    assert (NOTES, 257) == (Counter(kept)["note"] + int(str(folded)), len(kept))


def test_dispatch_count_is_of_all_dispatches() -> None:
    """Folded dispatches count."""
    run = History()
    run.reserve()
    for _ in range(NOTES):
        run.dispatch()
        run.add("attempt_refused", attempt_id="x")
    run.seal()
    facts = named(spans_of(run), "rollout.attempt").attributes
    assert (NOTES, NOTES) == (facts["rtrace.dispatch_count"], facts["rtrace.refusals"])


def busy_group() -> History:
    """A group with so many events that its publication comes after the limit."""
    run = History()
    run.reserve()
    for number in range(NOTES):
        run.add("note", group_id="g", number=number)
    run.add("group_published", group_id="g", tokens_by_version={1: 10})
    run.train(3, "g", tokens=10)
    return run


def test_publication_after_the_limit_counts() -> None:
    """A step knows the ages of a group with very many events."""
    step = named(spans_of(busy_group()), "train.step")
    found = [step.attributes.get(f"rtrace.{name}") for name in ("groups_with_tokens", "age_p95", "age_max")]
    assert [1, 2, 2] == found


def test_ages_survive_the_limit() -> None:
    """Analysing the spans of a group with very many events gives the same batch age as its rows."""
    rows = busy_group().rows
    expected = [(age.step, age.best) for age in step_ages(rows).steps]
    assert expected == [(age.step, age.best) for age in step_ages(through_sdk(rows)).steps]


def test_killed_span_waits_for_what_its_last_event_says() -> None:
    """The last event of a killed attempt counts, though it came after the limit."""
    run = History()
    run.reserve()
    run.dispatch()
    noted(run)
    run.add("attempt_refused", attempt_id="x")
    attempt = named(spans_of(run, end_last=True), "rollout.attempt")
    assert "a new dispatch" == attempt.attributes["rtrace.waiting_for"]
    assert "attempt_refused" == attempt.events[-1].name


@pytest.mark.parametrize("notes", [10, 200, NOTES])
def test_dispatch_survives_a_provider(notes: int) -> None:
    """A provider with the SDK's own limits still gets the dispatch event and the last one."""
    run = History()
    run.reserve()
    run.dispatch()
    for number in range(notes):
        run.add("note", attempt_id="x", number=number)
    run.seal()
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    sink = ProviderSink(provider)
    for span, resource in project(run.rows):
        sink(span, resource)
    (attempt,) = (span for span in exporter.get_finished_spans() if span.name == "rollout.attempt")
    ends = (attempt.events[0].name, attempt.events[-1].name)
    assert ("attempt_dispatched", "attempt_sealed", 0) == (*ends, attempt.dropped_events)
    # Each note is an event or counted, by the projector beyond 256 events, by the provider's limit, or by both.
    folded = dict(attempt.attributes or {}).get("rtrace.events_folded.note", 0)
    kept = sum(event.name == "note" for event in attempt.events)
    assert notes - kept == folded


def test_span_of_one_event_lasts_a_moment() -> None:
    """A run that was killed right after a dispatch: viewers repair a span without duration and then show it twice."""
    run = History()
    run.reserve()
    run.dispatch()
    attempt = named(spans_of(run, end_last=True), "rollout.attempt")
    assert 1 == attempt.end_ns - attempt.start_ns
