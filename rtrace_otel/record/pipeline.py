"""Rows to spans to collectors, on a thread of their own: whatever a collector does, file and job do not notice."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opentelemetry.sdk.trace.export import BatchSpanProcessor

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME, Row
from rtrace_otel.record.ghosts import find_run_before
from rtrace_otel.record.metrics import RowMetrics, present_meter_provider
from rtrace_otel.record.patience import Patience
from rtrace_otel.record.stats import RecorderStats, SpanStats
from rtrace_otel.record.warn import HostWarnings
from rtrace_otel.spans.config import SpanOptions
from rtrace_otel.spans.delivery import UNNUMBERED, TrackedExporter
from rtrace_otel.spans.model import FinishedSpan, RunResource
from rtrace_otel.spans.otlp import make_exporters, make_processor
from rtrace_otel.spans.projector import Projector
from rtrace_otel.spans.provider import ProviderSink
from rtrace_otel.spans.ranges import Ranges
from rtrace_otel.spans.readable import ProjectedSpan, to_readable

MAX_ROWS: Final = 500_000
"""Rows waiting to be projected; more are passed over, and their spans can be replayed from the file."""

CHUNK_ROWS: Final = 4
LARGE_CHUNK_ROWS: Final = 64
LARGE_BACKLOG_ROWS: Final = 1000
"""From this many waiting rows on, throughput counts for more than smoothness."""

NAP_S: Final = 0.0005
BREATH_S: Final = 0.00005
"""Pause before each span is encoded, for the host's threads; left out once the recorder closes."""

POLL_S: Final = 0.02
NEWS_S: Final = 1.0

SpanSink = Callable[[FinishedSpan, RunResource], None]


class SpanPipeline:
    """Takes rows from the batch worker and hands finished spans to one batch span processor per destination.

    Args:
        run: The present run.
        path: The trace file, to look for the spans of a killed run before this one; ``None`` to look for none.
        exporters: The destinations.
        sinks: Further takers of finished spans.
        observers: Takers of every row.
        report: Called with destination, run and ranges when a destination accepted spans.
        warnings: Where to tell the host of trouble.
        environ: For the ``OTEL_BSP_*`` variables.
    """

    def __init__(
        self,
        run: str,
        path: Path | None,
        exporters: Sequence[TrackedExporter],
        sinks: Sequence[SpanSink],
        observers: Sequence[Callable[[Row], None]],
        report: Callable[[str, str, str], None],
        warnings: HostWarnings,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """Start the thread."""
        self._run = run
        self._path = path
        self._exporters = list(exporters)
        self._processors = [make_processor(exporter, environ) for exporter in exporters]
        self._sinks = list(sinks)
        self._observers = list(observers)
        self._takers = bool(self._processors or self._sinks)
        self._report = report
        self._warnings = warnings
        self._rows: deque[Row] = deque()
        self._passed_over = 0
        self._numbers: dict[str, int] = {}
        self._made = 0
        self._handed = {exporter.destination: 0 for exporter in exporters}
        self._projector = Projector()
        self._next_news = time.monotonic() + NEWS_S
        self._closing = threading.Event()
        for exporter in exporters:
            exporter.between_spans = self._breathe
        self._thread = threading.Thread(target=self._work, name="rtrace-spans", daemon=True)
        self._thread.start()

    def export(self, rows: Sequence[Row]) -> None:
        """Take rows from the batch worker; never waits."""
        if len(self._rows) < MAX_ROWS:
            self._rows.extend(rows)
        else:
            self._passed_over += len(rows)

    def stats(self) -> SpanStats:
        """What became of the spans so far."""
        delivered = {exporter.destination: exporter.count for exporter in self._exporters}
        return SpanStats(self._made, dict(self._handed), delivered, self._passed_over)

    def finish(self, patience: Patience) -> None:
        """Project what waits and let the processors export, as long as the patience lasts."""
        self._closing.set()
        _wait_for(self._thread, patience)
        waiters = [self._shut_down_in_background(processor) for processor in self._processors]
        for waiter in waiters:
            _wait_for(waiter, patience)
        self._tell_news()
        missing = self.stats().not_delivered
        if missing:
            self._warnings.warn(
                f"rollout trace: {missing} spans were not delivered; 'rtrace replay --only-undelivered' sends them"
            )

    def close(self) -> None:
        """Nothing is left to do after :meth:`finish`."""

    def _work(self) -> None:
        try:
            self._project_ghosts()
        except Exception as error:  # the file of another run may be anything
            self._warnings.warn(f"rollout trace: the run before could not be read back: {error!r}")
        while True:
            if self._rows:
                self._guarded_chunk()
                if not self._closing.is_set():
                    time.sleep(NAP_S)
            elif self._closing.is_set():
                return
            else:
                self._closing.wait(POLL_S)
            if time.monotonic() >= self._next_news:
                self._next_news = time.monotonic() + NEWS_S
                self._tell_news()

    def _breathe(self) -> None:
        if not self._closing.is_set():
            time.sleep(BREATH_S)

    def _guarded_chunk(self) -> None:
        size = CHUNK_ROWS if len(self._rows) < LARGE_BACKLOG_ROWS else LARGE_CHUNK_ROWS
        for _ in range(min(len(self._rows), size)):
            row = self._rows.popleft()
            try:
                for observe in self._observers:
                    observe(row)
                if self._takers:
                    for span in self._projector.add(row):
                        self._hand_over(span)
            except Exception as error:  # one odd row must not end the export of all others
                self._warnings.warn(f"rollout trace: no span for a row: {error!r}")

    def _project_ghosts(self) -> None:
        """What the run before could not end or could not deliver; attempts of this run can link to the lost ones."""
        if not self._takers or self._path is None:
            return
        path = self._path / ROLLOUT_TRACE_FILENAME if self._path.is_dir() else self._path
        before = find_run_before(path, self._run) if path.exists() else None
        if before is None:
            return
        delivered = before.deliveries()
        for row in before.rows():
            for span in self._projector.add(row):
                if span.run == before.run:
                    self._hand_over(span, delivered, to_sinks=False)  # a provider had it from that run itself
        for span in self._projector.end_killed(last_too=True):
            if span.run == before.run:
                self._hand_over(span, delivered)

    def _hand_over(
        self, span: FinishedSpan, delivered: Mapping[str, Ranges] = MappingProxyType({}), *, to_sinks: bool = True
    ) -> None:
        """Give a span to every destination that has not confirmed it."""
        resource = self._projector.resource(span.run)
        number = self._numbers.get(span.run, 0)
        self._numbers[span.run] = number + 1
        if self._passed_over:
            number = UNNUMBERED  # without the rows that were passed over a replay would count differently
        wanting = [
            (exporter.destination, processor)
            for exporter, processor in zip(self._exporters, self._processors, strict=True)
            if exporter.destination not in delivered or number not in delivered[exporter.destination]
        ]
        if wanting or not self._processors:
            self._made += 1
        if wanting:
            readable: ProjectedSpan = to_readable(span, resource, number)
            for destination, processor in wanting:
                self._handed[destination] += 1
                processor.on_end(readable)
        if to_sinks:
            for sink in self._sinks:
                sink(span, resource)

    def _tell_news(self) -> None:
        for exporter in self._exporters:
            for run, ranges in exporter.take_news().items():
                self._report(exporter.destination, run, ranges)

    @staticmethod
    def _shut_down_in_background(processor: BatchSpanProcessor) -> threading.Thread:
        """The SDK waits for up to 30 seconds in ``shutdown``; the job does not."""
        thread = threading.Thread(target=processor.shutdown, name="rtrace-span-shutdown", daemon=True)
        thread.start()
        return thread


def _wait_for(thread: threading.Thread, patience: Patience) -> None:
    def ended(seconds: float) -> bool:
        thread.join(seconds)
        return not thread.is_alive()

    patience.until(ended)


def make_pipeline(
    run: str,
    path: Path,
    options: SpanOptions,
    report: Callable[[str, str, str], None],
    stats: Callable[[], RecorderStats],
    warnings: HostWarnings,
) -> SpanPipeline | None:
    """A pipeline for what a recorder was told about spans and metrics.

    Args:
        run: The present run.
        path: The trace file.
        options: What the recorder was told.
        report: Called when a destination accepted spans.
        stats: Gives the recorder's own numbers, for its metrics.
        warnings: Where to tell the host of trouble.

    Returns:
        ``None`` if there is nobody to hand anything to.
    """
    exporters = make_exporters(options.otlp, os.environ)
    for exporter in options.exporters:
        taken = {other.destination for other in exporters}
        name, count = type(exporter).__name__, 1
        while (destination := name if count == 1 else f"{name} {count}") in taken:
            count += 1
        exporters.append(TrackedExporter(exporter, destination))
    sinks: list[SpanSink] = []
    if options.tracer_provider is not None:
        sinks.append(ProviderSink(options.tracer_provider))
    meters = options.meter_provider if options.meter_provider is not None else present_meter_provider()
    observers = [RowMetrics(meters, stats).add] if meters is not None else []
    if not (exporters or sinks or observers):
        return None
    return SpanPipeline(run, path if options.ghosts else None, exporters, sinks, observers, report, warnings)
