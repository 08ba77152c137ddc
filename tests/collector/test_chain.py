"""A job's spans and metrics go through the shipped collector, and nothing is lost or renamed on the way."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest

from rtrace_otel.analysis.age.by_step import EVENTS
from rtrace_otel.events import EVENTS_BY_NAME
from rtrace_otel.spans.otlp_usual import Usual
from tests.collector.conftest import Stack
from tests.collector.files import read_yaml
from tests.collector.sending import SERVICE, demo_spans
from tests.server_process import get_text
from tests.servers import BUILD_TIMEOUT_S, eventually, get_json

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0"}


def _ids() -> list[tuple[str, str]]:
    spans = demo_spans()
    return sorted((f"{s.context.trace_id:032x}", f"{s.context.span_id:016x}") for s in spans if s.context)


def test_the_names_of_the_metrics(stack: Stack) -> None:
    """Dashboards and alerts of users count on these names and types."""
    offered = get_text(f"http://{stack.otelcol.metrics}/metrics")
    types = dict(re.findall(r"^# TYPE (rtrace_\w+) (\w+)$", offered, re.MULTILINE))
    assert {
        "rtrace_attempts_total": "counter",
        "rtrace_tokens_total": "counter",
        "rtrace_batch_age_trained_tokens_total": "counter",
        "rtrace_batch_age_token_ages_total": "counter",
        "rtrace_steps_total": "counter",
        "rtrace_refit_calls_total": "counter",
        "rtrace_rows_lost_total": "counter",
        "rtrace_attempts_open": "gauge",
        "rtrace_groups_open": "gauge",
        "rtrace_queue_rows": "gauge",
        "rtrace_batch_age": "gauge",
        "rtrace_spans_not_delivered": "gauge",
        "rtrace_refit_duration_seconds": "histogram",
        "rtrace_checkpoint_duration_seconds": "histogram",
    } == types


def test_every_span_reaches_jaeger_while_tempo_is_down(stack: Stack) -> None:
    """One backend does not hold up the other, and no span arrives twice."""

    def found() -> list[tuple[str, str]]:
        traces = get_json(f"{stack.jaeger.url}/api/traces", service=SERVICE, limit=1500)["data"]
        return sorted((span["traceID"], span["spanID"]) for trace in traces for span in trace["spans"])

    assert _ids() == eventually(found, lambda ids: ids == _ids())


def test_every_span_is_in_the_file(stack: Stack) -> None:
    """The file is OTLP JSON Lines: each line one object of traces data."""

    def lines() -> list[Any]:
        text = stack.otelcol.spans_file.read_text(encoding="utf-8")
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def found() -> list[tuple[str, str]]:
        return sorted(
            (span["traceId"], span["spanId"])
            for line in lines()
            for resource in line["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        )

    assert _ids() == eventually(found, lambda ids: ids == _ids())
    assert [["resourceSpans"]] * len(lines()) == [list(line) for line in lines()]


def test_every_line_of_the_file_has_the_usual_form(stack: Stack) -> None:
    """Reading the file for one question passes over most of it: the form is the one that the reader expects."""
    spans = demo_spans()

    def whole_lines() -> list[bytes]:
        return [line for line in stack.otelcol.spans_file.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]

    def are_all(lines: list[bytes]) -> bool:
        return sum(line.count(b'"endTimeUnixNano":') for line in lines) == len(spans)

    lines = eventually(whole_lines, are_all)
    usual = Usual(EVENTS, EVENTS | EVENTS_BY_NAME.keys(), {str(span.run) for span in spans}, plain=True)

    assert all(usual.glance(line, counted=counted) is not None for line in lines for counted in (False, True))


def test_attempts_are_counted_by_what_became_of_them(stack: Stack) -> None:
    """Run, outcome, reason and the number of refits are labels of the span metrics, with the right counts."""
    names = ("rtrace.outcome", "rtrace.reason", "rtrace.refits_bucket")
    labels = ("instance", "rtrace_outcome", "rtrace_reason", "rtrace_refits_bucket")
    expected = Counter(
        (str(span.resource.attributes["service.instance.id"]), *(str(span.attributes.get(n, "")) for n in names))
        for span in demo_spans()
        if span.name == "rollout.attempt" and span.attributes is not None
    )
    query = f'sum by ({", ".join(labels)}) (traces_span_metrics_calls_total{{span_name="rollout.attempt"}})'
    counted = {
        tuple(series["metric"].get(label, "") for label in labels): int(series["value"][1])
        for series in stack.query(query)
    }
    assert dict(expected) == counted


def test_job_and_instance_are_service_and_run(stack: Stack) -> None:
    """Prometheus keeps the labels of the sender: the span metrics of a run can be told from those of the next."""
    series = stack.query('count by (job, instance) (traces_span_metrics_calls_total{span_name="train.step"})')
    runs = {str(span.run) for span in demo_spans() if span.name == "train.step"}
    assert {(SERVICE, run) for run in runs} == {(s["metric"]["job"], s["metric"]["instance"]) for s in series}


def test_the_buckets_are_those_of_the_configuration(stack: Stack) -> None:
    """In seconds, up to two hours."""
    shipped = read_yaml("otelcol/base.yaml")["connectors"]["span_metrics"]["histogram"]["explicit"]["buckets"]
    seconds = [float(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]] for text in shipped]
    series = stack.query("count by (le) (traces_span_metrics_duration_seconds_bucket)")
    assert [*seconds, float("inf")] == sorted(float(found["metric"]["le"]) for found in series)


def test_exemplars_lead_to_traces(stack: Stack) -> None:
    """Prometheus holds trace ids beside the histogram, under the name that Grafana's data source is told."""
    (destination,) = [
        destination["name"]
        for source in read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
        for destination in source.get("jsonData", {}).get("exemplarTraceIdDestinations", [])
    ]
    found = get_json(
        f"{stack.prometheus.url}/api/v1/query_exemplars",
        query='traces_span_metrics_duration_seconds_bucket{span_name="rollout.attempt"}',
        start=int(stack.at) - 300,
        end=int(stack.at) + 60,
    )["data"]
    traces = {exemplar["labels"][destination] for series in found for exemplar in series["exemplars"]}
    assert traces
    assert set() == traces - {trace for trace, _ in _ids()}


def test_exemplars_are_offered(stack: Stack) -> None:
    """The collector speaks OpenMetrics, the only format that carries them."""
    assert get_text(f"http://{stack.otelcol.metrics}/metrics", OPENMETRICS).endswith("# EOF\n")
