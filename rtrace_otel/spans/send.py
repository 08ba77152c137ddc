"""Sends spans to a collector in batches and counts what it accepted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

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
    sent = 0
    started = time.monotonic()
    for batch in _batches(spans):
        exporter.export(batch)
        sent += len(batch)
        progress(len(batch))
        if rate:
            time.sleep(max(0.0, started + sent / rate - time.monotonic()))
    exporter.shutdown()
    accepted = sent - exporter.failed - exporter.rejected
    return Sent(exporter.destination, sent, accepted, exporter.rejected, exporter.failed)


def _batches(spans: Iterable[ProjectedSpan]) -> Iterator[list[ProjectedSpan]]:
    remaining = iter(spans)
    while batch := list(islice(remaining, BATCH_SPANS)):
        yield batch
