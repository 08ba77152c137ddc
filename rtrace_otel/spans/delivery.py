"""Which spans a destination accepted: known, written down, and replayed from.

A batch span processor tells nobody what became of a batch. The exporter is wrapped, and the numbers of the accepted
spans are kept as ranges; whatever is not in them was not delivered.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import requests
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rtrace_otel.spans.ranges import Ranges
from rtrace_otel.spans.readable import ProjectedSpan

UNNUMBERED: Final = -1
"""Number of a span whose place in the projection of its run is not known; it is never taken to be delivered."""

_exporting = threading.local()
_EXPORTER_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.common.http",
    "opentelemetry.exporter.otlp.proto.grpc.exporter",
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk._shared_internal",
)


class Rejections:
    """Reads in the responses of a collector how many spans it refused of those it took in (OTLP partial success).

    It is a response hook of ``requests``, and ``add`` takes what a collector answered over gRPC.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._count = 0

    def __call__(self, response: requests.Response, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002 - requests' hook
        """Read a response; one that is no OTLP response refuses nothing."""
        if response.ok and response.content:
            answer = ExportTraceServiceResponse()
            with suppress(DecodeError):
                answer.ParseFromString(response.content)
                self.add(answer)

    def add(self, answer: ExportTraceServiceResponse) -> None:
        """Count what a response refuses; a number below 0 refuses nothing."""
        self._count += max(0, answer.partial_success.rejected_spans)

    def take(self) -> int:
        """Spans refused since the last call."""
        count, self._count = self._count, 0
        return count


class _Paced(list[ReadableSpan]):
    """A batch that lets other threads run between its spans: an exporter encodes a batch in one go otherwise."""

    def __init__(self, spans: Iterable[ReadableSpan], between_spans: Callable[[], None]) -> None:
        super().__init__(spans)
        self._between_spans = between_spans

    def __iter__(self) -> Iterator[ReadableSpan]:
        for span in super().__iter__():
            self._between_spans()
            yield span


class TrackedExporter(SpanExporter):
    """Passes spans on and remembers which were accepted.

    Args:
        exporter: Where they go.
        destination: What to call it.
        rejections: Knows what the collector refuses of a batch. Which spans it refused it does not say, so none of such
            a batch counts as delivered.

    Attributes:
        between_spans: Called by the exporting thread before it encodes each span, to give up the interpreter's lock.
        delivered: Numbers of accepted spans, by run.
        failed: Spans of batches that did not get through.
        settled: Spans of all batches whose end is known.
        rejected: Spans that the collector refused of batches that did.
    """

    def __init__(self, exporter: SpanExporter, destination: str, rejections: Rejections | None = None) -> None:
        """Begin with nothing delivered."""
        self._exporter = exporter
        self._rejections = rejections or Rejections()
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self._unnumbered = 0
        self.between_spans: Callable[[], None] | None = None
        self.destination = destination
        self.delivered: dict[str, Ranges] = {}
        self.failed = 0
        self.settled = 0
        self.rejected = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch; the exporter's own log lines are held back, because the recorder warns once instead."""
        _exporting.ours = True
        try:
            batch = spans if self.between_spans is None else _Paced(spans, self.between_spans)
            result = self._exporter.export(batch)
        except Exception:  # an exporter of the user may raise anything
            result = SpanExportResult.FAILURE
        finally:
            _exporting.ours = False
        rejected = self._rejections.take()
        with self._lock:
            self.rejected += rejected
            self.settled += len(spans)
            if result is SpanExportResult.SUCCESS and not rejected:
                self._accept(span for span in spans if isinstance(span, ProjectedSpan))
            elif result is not SpanExportResult.SUCCESS:
                self.failed += len(spans)
        return result

    def take_news(self) -> dict[str, str]:
        """Ranges by run, as text, of the runs with deliveries since the last call."""
        with self._lock:
            news = {run: str(self.delivered[run]) for run in sorted(self._changed)}
            self._changed.clear()
        return news

    @property
    def count(self) -> int:
        """Spans accepted so far."""
        with self._lock:
            return self._unnumbered + sum(len(ranges) for ranges in self.delivered.values())

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush the exporter."""
        return self._exporter.force_flush(timeout_millis)

    def _accept(self, spans: Iterable[ProjectedSpan]) -> None:
        for span in spans:
            if span.number == UNNUMBERED:
                self._unnumbered += 1
                continue
            self.delivered.setdefault(span.run, Ranges()).add(span.number)
            self._changed.add(span.run)


class _NotOurs(logging.Filter):
    """Holds back what an exporter logs while it works for us, and nothing else."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - logging's signature
        return not getattr(_exporting, "ours", False)


def hand_quietly(processor: SpanProcessor, span: ReadableSpan) -> None:
    """Give a span to a processor of ours, and hold back what the SDK logs of it: the recorder warns itself.

    Args:
        processor: It puts the span into its queue.
        span: The span.
    """
    _exporting.ours = True
    try:
        processor.on_end(span)
    finally:
        _exporting.ours = False


def quieten_exporters() -> None:
    """Install the filter on the loggers of the SDK and its OTLP exporters; harmless to call again."""
    for name in _EXPORTER_LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(installed, _NotOurs) for installed in logger.filters):
            # Before the SDK's own filter, which lets through only one of two lines that are the same.
            logger.filters.insert(0, _NotOurs())
