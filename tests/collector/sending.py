"""What a job sends: the spans and the metrics of the stored demo."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.metrics import RowMetrics
from rtrace_otel.record.stats import RecorderStats
from rtrace_otel.spans.projector import project
from rtrace_otel.spans.readable import ProjectedSpan, to_readable

DEMO: Final = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"
SERVICE: Final = "rtrace-demo"
NEVER_MS: Final = 1e9


class JobMetrics:
    """The metrics of a job that does over and over what the demo did, and loses a row each time.

    Args:
        endpoint: Base URL of the collector.
    """

    def __init__(self, endpoint: str) -> None:
        exporter = OTLPMetricExporter(f"{endpoint}/v1/metrics")
        self._provider = MeterProvider(
            # Exports only when told to, so that a test decides what a scrape sees.
            [PeriodicExportingMetricReader(exporter, export_interval_millis=NEVER_MS)],
            # A job's meter provider has an instance id of its own, which is not the run.
            resource=Resource({"service.name": SERVICE, "service.instance.id": "metrics-of-the-job"}),
        )
        nothing_yet = RecorderStats(written=0, queued=0, lost=0, refused=0, last_error=None)
        self._metrics = RowMetrics(self._provider, lambda: nothing_yet)

    def send(self) -> None:
        """Move everything on and export it."""
        for row in (*read_events(DEMO), {"event": "trace_gap", "lost": 1, "reason": "queue full"}):
            self._metrics.add(row)
        assert self._provider.force_flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._provider.shutdown()


@cache
def demo_spans() -> list[ProjectedSpan]:
    """The spans of the stored demo as if it had just ended: servers search by time."""
    events = list(read_events(DEMO))
    shift = time.time() - max(event["t"] for event in events)
    moved = ({**event, "t": event["t"] + shift} for event in events)
    return [to_readable(span, resource, number) for number, (span, resource) in enumerate(project(moved))]


def send_spans(endpoint: str, spans: Sequence[ReadableSpan]) -> None:
    """Export spans to a collector, in one request."""
    exporter = OTLPSpanExporter(f"{endpoint}/v1/traces")
    try:
        assert SpanExportResult.SUCCESS is exporter.export(spans)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call] # the SDK has no annotation here
