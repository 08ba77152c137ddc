"""Finished rollout spans of any tracer provider as event rows: the same file, the same analysis."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME, Row
from rtrace_otel.spans.unproject import CarriedSpan, Unprojector, trained_by

FILE_VARIABLE = "RTRACE_FILE"
"""Environment variable with the file to append to, for ``OTEL_TRACES_EXPORTER=rtrace_jsonl``."""


class JsonlSpanExporter(SpanExporter):
    """Appends the rows that finished spans carry to a JSONL file.

    It is a plain span exporter: put a ``BatchSpanProcessor`` in front of it, or set
    ``OTEL_TRACES_EXPORTER=rtrace_jsonl``. Spans that did not come from events are passed over.

    It is not crash-safe, and cannot be: OpenTelemetry hands a span to exporters when it ends, so a killed process loses
    every open one, and what waits in the batch processor. ``RolloutTrace`` writes each event when it happens.

    Args:
        path: The file; by default the one named by ``RTRACE_FILE``, else ``rollout_trace.jsonl`` in the working folder.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        """Open nothing yet."""
        self._path = Path(path or os.environ.get(FILE_VARIABLE) or ROLLOUT_TRACE_FILENAME)
        self._lock = threading.Lock()
        self._unprojector = Unprojector()
        self._shut_down = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append the rows of finished spans with one write; ``FAILURE`` if that did not work, or after shutdown."""
        if self._shut_down:
            return SpanExportResult.FAILURE
        with self._lock:
            rows = [row for span in spans for row in self._unprojector.rows_of(carried(span))]
            try:
                self._append(rows)
            except OSError:
                return SpanExportResult.FAILURE
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Take no more spans."""
        self._shut_down = True

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - nothing is buffered
        """Nothing is buffered here."""
        return True

    def _append(self, rows: Sequence[Row]) -> None:
        if not rows:
            return
        data = msgspec.json.Encoder().encode_lines(rows)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                data = data if file.read(1) == b"\n" else b"\n" + data
            file.write(data)


def carried(span: ReadableSpan) -> CarriedSpan:
    """What of an SDK span matters for its rows."""
    return CarriedSpan(
        name=span.name,
        span_id=span.context.span_id if span.context else None,
        parent_id=span.parent.span_id if span.parent else None,
        start_ns=span.start_time or 0,
        attributes=dict(span.attributes or {}),
        events=tuple((event.name, event.timestamp, dict(event.attributes or {})) for event in span.events),
        trained=trained_by(link.attributes or {} for link in span.links),
        resource=dict(span.resource.attributes),
    )
