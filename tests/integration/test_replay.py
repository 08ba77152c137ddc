"""Replaying a file whose spans the collector has already, and reading what the collector wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.summary import summarise
from tests.cli.program import Result, rtrace
from tests.integration.chain import Found, SpanKey, keys_in
from tests.integration.conftest import Job, projected_keys
from tests.servers import BUILD_TIMEOUT_S, eventually

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

UNSPANNED = {"run_started", "run_ended", "spans_delivered"}
"""Rows that no span carries: what they say is in the resource, or of the delivery itself."""


def _ordered(spans: Sequence[Found]) -> list[Found]:
    return sorted(spans, key=lambda span: span.key)


@dataclass(frozen=True)
class Replayed:
    """What replaying the file by both protocols did."""

    results: dict[str, Result]
    sent: Counter[SpanKey]
    spans: list[Found]
    spans_file: Path


@pytest.fixture(scope="module")
def replayed(job: Job) -> Replayed:
    """The file, sent once more by each protocol to the collector that has all of it."""
    before = Counter(job.chain.keys_in_file())
    endpoints = {"http/protobuf": job.chain.otelcol.otlp_http, "grpc": f"http://{job.chain.otelcol.otlp_grpc}"}
    results = {
        protocol: rtrace("replay", job.result.trace, "--endpoint", endpoint, "--protocol", protocol)
        for protocol, endpoint in endpoints.items()
    }
    expected = 2 * len(projected_keys(job.events))
    # Spans that are in the collector's file are on their way to Jaeger by then, in the same batches.
    sent = eventually(lambda: Counter(job.chain.keys_in_file()) - before, lambda keys: keys.total() >= expected)
    return Replayed(results, sent, job.chain.spans(), job.chain.otelcol.spans_file)


def test_every_span_is_sent_again(job: Job, replayed: Replayed) -> None:
    """By either protocol every span of the file is sent once, and accepted."""
    assert {"http/protobuf": (0, ""), "grpc": (0, "")} == {
        protocol: (result.code, result.err) for protocol, result in replayed.results.items()
    }
    assert Counter(dict.fromkeys(projected_keys(job.events), 2)) == replayed.sent


def test_a_second_time_adds_nothing(job: Job, replayed: Replayed) -> None:
    """Jaeger shows exactly what it showed before: the same ids, and the same spans under them."""
    assert sorted(span.key for span in job.spans) == sorted(span.key for span in replayed.spans)
    assert _ordered(job.spans) == _ordered(replayed.spans)


def test_the_collectors_file_has_what_jaeger_has(job: Job) -> None:
    """Only spans whose confirmation the kill cut off come a second time, from the run that took over."""
    keys = Counter(keys_in(job.spans_file))
    assert {span.key for span in job.spans} == keys.keys()
    assert {2} >= {times for times in keys.values() if times > 1}
    runs = {span.key: span.tags.get("rtrace.run_id") for span in job.spans}
    assert {job.runs[0]} >= {runs[key] for key, times in keys.items() if times > 1}


def test_the_collectors_file_has_the_same_batch_ages(job: Job) -> None:
    """Foreign spans between ours, two runs mixed and steps trained twice: each step has the age of the trace."""
    ages = batch_age_by_step(job.events)
    assert list(range(1, 15)) == list(ages)
    assert ages == batch_age_by_step(read_events(job.spans_file))


def test_the_collectors_file_of_spans_sent_twice_has_the_same_batch_ages(job: Job, replayed: Replayed) -> None:
    """A span that was replayed is the same span: it changes no number."""
    assert batch_age_by_step(job.events) == batch_age_by_step(read_events(replayed.spans_file))


def test_the_collectors_file_gives_the_rows_back(job: Job) -> None:
    """Each row that a span carries comes back with its run, number, event and time; nothing else comes back."""
    expected = {(r["run"], r["seq"], r["event"], r["t"]) for r in job.events if r["event"] not in UNSPANNED}
    rows = [row for row in read_events(job.spans_file) if row["event"] not in UNSPANNED]
    assert expected == {(row["run"], row["seq"], row["event"], row["t"]) for row in rows}


def test_a_span_that_came_twice_is_counted_once(job: Job) -> None:
    """The collector's file, with some spans of the killed run in it twice, has the attempts and groups of the trace."""
    of_trace, of_spans = summarise(job.events), summarise(read_events(job.spans_file))
    assert (of_trace.attempts, of_trace.groups) == (of_spans.attempts, of_spans.groups)
    assert (of_trace.steps_trained, of_trace.refits) == (of_spans.steps_trained, of_spans.refits)


def test_a_file_that_was_replayed_is_counted_once(job: Job, replayed: Replayed) -> None:
    """The same after every span was sent again."""
    of_trace, of_spans = summarise(job.events), summarise(read_events(replayed.spans_file))
    assert (of_trace.attempts, of_trace.groups) == (of_spans.attempts, of_spans.groups)
