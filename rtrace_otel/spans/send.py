"""Sends spans to a collector in batches and counts what it accepted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rtrace_otel.spans.config import OtlpDestination
from rtrace_otel.spans.delivery import TrackedExporter
from rtrace_otel.spans.otlp import make_exporters
from rtrace_otel.spans.readable import ProjectedSpan

BATCH_SPANS: Final = 64
BATCH_BYTES: Final = 1_000_000
"""Servers take 4 MiB at a time by default (gRPC in Go)."""

MAX_FAILURES: Final = 2
"""Batches in a row that may fail, each after its own retries; then the collector is taken to be down."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of the spans.

    Attributes:
        destination: The collector.
        spans: Spans sent.
        accepted: Spans that it accepted.
        rejected: Spans that it took in but refused (OTLP partial success).
        failed: Spans of batches that did not get through, or were not tried any more.
    """

    destination: str
    spans: int
    accepted: int
    rejected: int
    failed: int


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
    exporters = make_exporters(destination, os.environ)
    if not exporters:
        raise ValueError("no exporter could be made for this endpoint; see the warning above")
    exporter: TrackedExporter = exporters[0]
    sent = skipped = failures = 0
    started = time.monotonic()
    for batch in _batches(spans):
        sent += len(batch)
        progress(len(batch))
        if failures >= MAX_FAILURES:
            skipped += len(batch)
            continue
        failed_before = exporter.failed
        exporter.export(batch)
        failures = failures + 1 if exporter.failed > failed_before else 0
        if rate:
            time.sleep(max(0.0, started + sent / rate - time.monotonic()))
    exporter.shutdown()
    failed = exporter.failed + skipped
    return Sent(exporter.destination, sent, sent - failed - exporter.rejected, exporter.rejected, failed)


def _batches(spans: Iterable[ProjectedSpan]) -> Iterator[list[ProjectedSpan]]:
    """Batches of at most ``BATCH_SPANS`` spans and about ``BATCH_BYTES``."""
    batch: list[ProjectedSpan] = []
    size = 0
    for span in spans:
        more = _size(span)
        if batch and (len(batch) >= BATCH_SPANS or size + more > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += more
    if batch:
        yield batch


def _size(span: ProjectedSpan) -> int:
    """About how many bytes a span takes on the wire."""
    parts = [span.attributes, *(event.attributes for event in span.events), *(link.attributes for link in span.links)]
    return 100 + sum(60 + sum(len(key) + len(str(value)) + 8 for key, value in (part or {}).items()) for part in parts)
