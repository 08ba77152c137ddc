"""Sends spans to a collector in batches and counts what it accepted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace.export import SpanExportResult

from rtrace_otel.spans.config import OtlpDestination
from rtrace_otel.spans.delivery import TrackedExporter
from rtrace_otel.spans.otlp import make_exporters
from rtrace_otel.spans.readable import ProjectedSpan

BATCH_SPANS: Final = 64


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of the spans.

    Attributes:
        destination: The collector.
        spans: Spans sent.
        accepted: Spans that it accepted.
        rejected: Spans that it took in but refused (OTLP partial success; HTTP only, gRPC exporters do not tell).
        failed: Spans of batches that did not get through.
    """

    destination: str
    spans: int
    accepted: int
    rejected: int
    failed: int


class _Rejections:
    """Counts the spans that responses say were refused."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, response: requests.Response, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002 - requests' hook
        if response.ok and response.content:
            answer = ExportTraceServiceResponse()
            answer.ParseFromString(response.content)
            self.count += answer.partial_success.rejected_spans


def send(
    spans: Iterable[ProjectedSpan],
    destination: OtlpDestination,
    *,
    rate: float | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Sent:
    """Send spans, batch by batch.

    Args:
        spans: From :func:`rtrace_otel.spans.readable.to_readable`.
        destination: The collector; what it leaves open comes from the environment.
        rate: Spans a second, at most.
        progress: Told of the spans of each batch that was sent.

    Returns:
        What became of them. The exporter tries a batch again until its timeout.
    """
    rejections = _Rejections()
    session = requests.Session()
    session.hooks["response"].append(rejections)
    exporters = make_exporters(destination, os.environ, session=session)
    if not exporters:
        raise ValueError("no exporter could be made for this endpoint; see the warning above")
    exporter: TrackedExporter = exporters[0]
    sent = accepted = 0
    started = time.monotonic()
    for batch in _batches(spans):
        succeeded = exporter.export(batch) is SpanExportResult.SUCCESS
        sent += len(batch)
        accepted += len(batch) if succeeded else 0
        progress(len(batch))
        if rate:
            time.sleep(max(0.0, started + sent / rate - time.monotonic()))
    exporter.shutdown()
    rejected = rejections.count
    return Sent(exporter.destination, sent, accepted - rejected, rejected, sent - accepted)


def _batches(spans: Iterable[ProjectedSpan]) -> Iterator[list[ProjectedSpan]]:
    remaining = iter(spans)
    while batch := list(islice(remaining, BATCH_SPANS)):
        yield batch
