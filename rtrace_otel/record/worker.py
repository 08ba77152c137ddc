"""The batch worker: one daemon thread that drains the queue in small chunks and hands them to the exporters.

Two things keep the host's event loop smooth: a chunk is small, so the interpreter's lock is held for a fraction of a
millisecond, and after each chunk the worker naps, so that the loop gets the lock back. With a large backlog it stops
napping: then throughput counts.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Final, Protocol

from rtrace_otel.events import SCHEMA_VERSION, Row
from rtrace_otel.record.clock import RunClock, now
from rtrace_otel.record.jsonl import GaveUpError
from rtrace_otel.record.patience import Patience
from rtrace_otel.record.queue import FlushMark, Gap, RowQueue
from rtrace_otel.record.rows import RowBuilder
from rtrace_otel.record.stats import SpanStats
from rtrace_otel.record.warn import HostWarnings

CHUNK_ROWS: Final = 64
NAP_S: Final = 0.0002
NAP_BELOW_ROWS: Final = 16_384
"""With more rows than this waiting, the worker does not nap, and takes larger chunks."""

LARGE_CHUNK_ROWS: Final = 2048

IDLE_AFTER_POLLS: Final = 20
"""Empty polls after which the worker sleeps until the next event."""

CLOCK_CHECK_S: Final = 1.0
SPAN_DEADLINE_S: Final = 1.5
"""At close, how long collectors may take for the last spans."""


class RowExporter(Protocol):
    """Takes rows in order, on the worker's thread."""

    def export(self, rows: Sequence[Row]) -> None:
        """Take the next rows."""

    def close(self) -> None:
        """Finish; no rows follow."""


class SpanExport(RowExporter, Protocol):
    """Takes rows and exports spans; see ``pipeline.SpanPipeline``."""

    def finish(self, patience: Patience) -> None:
        """Export what is left, as long as the patience lasts."""

    def stats(self) -> SpanStats:
        """What became of the spans so far."""


class BatchWorker:
    """Moves rows from the queue to the exporters until the queue closes.

    Args:
        queue: Where the rows come from.
        run: Id of the run.
        run_fields: Fields of ``run_started`` beside schema, host and pid.
        clock: Turns stamps into Unix seconds.
        interval_s: Pause after the queue was found empty.
        warnings: Where to tell the host of trouble.

    Attributes:
        exporters: Filled by the recorder before :meth:`start`; the file first.
        pipeline: The one of them that exports spans, if there is one.
        give_up: Set to stop waiting for a file that cannot be written.
        written: Rows handed to every exporter.
        unwritten: Rows given up at close.
        last_error: The last trouble that an exporter had.
    """

    def __init__(
        self,
        queue: RowQueue,
        run: str,
        run_fields: dict[str, object],
        clock: RunClock,
        interval_s: float,
        warnings: HostWarnings,
    ) -> None:
        """Prepare; :meth:`start` begins."""
        self._queue = queue
        self._clock = clock
        self._builder = RowBuilder(run, clock)
        self._interval_s = interval_s
        self._warnings = warnings
        self._run_fields = run_fields
        self._own_rows: deque[tuple[str, list[tuple[str, object]]]] = deque()
        self._lost_reported = 0
        self._started = now()
        self._next_clock_check = self._started + CLOCK_CHECK_S
        self._thread = threading.Thread(target=self._run, name="rtrace-writer", daemon=True)
        self.exporters: list[RowExporter] = []
        self.pipeline: SpanExport | None = None
        self.give_up = threading.Event()
        self.written = 0
        self.unwritten = 0
        self.last_error: str | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether the thread lives."""
        return self._thread.is_alive()

    @property
    def is_current_thread(self) -> bool:
        """Whether the caller is the worker itself, which must not wait for itself."""
        return threading.current_thread() is self._thread

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread; True once it has ended."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def trouble(self, error: str) -> None:
        """An exporter cannot work at the moment."""
        if not self.give_up.is_set():
            self._warnings.warn(f"rollout trace: cannot write, will retry: {error}")
        self.last_error = error

    def report_loss(self, lost: int, reason: str) -> None:
        """Have a ``trace_gap`` row written next."""
        if lost:
            self._own_rows.append(("trace_gap", [("lost", lost), ("reason", reason)]))

    def report_delivery(self, destination: str, of_run: str, spans: str) -> None:
        """Have a ``spans_delivered`` row written next; called by the thread that exports spans."""
        fields: list[tuple[str, object]] = [("destination", destination), ("of_run", of_run), ("spans", spans)]
        self._own_rows.append(("spans_delivered", fields))
        self._queue.wake()

    def _run(self) -> None:
        stamp = self._stamp_of_next_row(self._started)
        fields = {"schema": SCHEMA_VERSION, "host": os.uname().nodename, "pid": os.getpid(), **self._run_fields}
        try:
            self._export([self._builder.own("run_started", stamp, fields.items())])
            self._drain()
            self._finish()
        except GaveUpError:
            self.unwritten += sum(not isinstance(item[0], (Gap, FlushMark)) for item in self._queue)

    def _drain(self) -> None:
        queue = self._queue
        polls = 0
        while True:
            if queue or self._own_rows:
                polls = 0
                self._chunk()
                if len(queue) < NAP_BELOW_ROWS and queue.closing is None:
                    time.sleep(NAP_S)
            elif queue.closing is not None:
                return
            elif polls < IDLE_AFTER_POLLS:
                polls += 1
                queue.pause(self._interval_s)
            else:
                polls = 0
                queue.sleep_until_event()

    def _chunk(self) -> None:
        queue = self._queue
        rows: list[Row] = []
        marks: list[FlushMark] = []
        stamp = self._stamp_of_next_row(now())
        self._check_clock(stamp, rows)
        self._take_own_rows(stamp, rows)
        size = CHUNK_ROWS if len(queue) < NAP_BELOW_ROWS else LARGE_CHUNK_ROWS
        items = [queue.popleft() for _ in range(min(len(queue), size))]

        def on_marker(marker: Gap | FlushMark, so_far: list[Row]) -> None:
            if isinstance(marker, Gap):
                self._close_gap(marker, so_far)
            else:
                marks.append(marker)

        try:
            rows += self._builder.build(items, on_marker)
            self._export(rows)
        except GaveUpError:
            raise
        except Exception as error:  # a fault of ours costs a chunk, never the recording
            self._lose(sum(not isinstance(item[0], (Gap, FlushMark)) for item in items), error)
        finally:
            for mark in marks:
                mark.reached.set()

    def _export(self, rows: list[Row]) -> None:
        """Hand rows to every exporter; a fault in one of them is not the others' loss."""
        if not rows:
            return
        for exporter in self.exporters:
            try:
                exporter.export(rows)
            except GaveUpError as error:
                self.written += len(rows) - error.unwritten
                self.unwritten += error.unwritten
                raise
            except Exception as error:  # the file's exporter is the first: what it cannot take is lost
                if exporter is self.exporters[0]:
                    self._lose(len(rows), error)
                    return
                self.trouble(f"internal error: {error!r}")
        self.written += len(rows)

    def _lose(self, rows: int, error: Exception) -> None:
        self.trouble(f"internal error: {error!r}")
        self.report_loss(rows, f"internal error: {error!r}")

    def _finish(self) -> None:
        rows: list[Row] = []
        self._close_gap(None, rows)
        rows.append(self._builder.own("run_ended", now(), [("reason", self._queue.closing)]))
        self._export(rows)
        if self.pipeline is not None:
            self.pipeline.finish(Patience(SPAN_DEADLINE_S))
        rows = []
        self._take_own_rows(now(), rows)
        self._export(rows)
        for exporter in self.exporters:
            exporter.close()

    def _take_own_rows(self, stamp: float, rows: list[Row]) -> None:
        while self._own_rows:
            event, fields = self._own_rows.popleft()
            rows.append(self._builder.own(event, stamp, fields))

    def _stamp_of_next_row(self, otherwise: float) -> float:
        """A row of our own must not be later than the queued rows that follow it."""
        return min(self._queue[0][1], otherwise) if self._queue else otherwise

    def _check_clock(self, stamp: float, rows: list[Row]) -> None:
        if now() < self._next_clock_check:
            return
        self._next_clock_check = now() + CLOCK_CHECK_S
        offset = self._clock.stepped()
        if offset is not None:
            rows.append(self._builder.own("clock_adjusted", stamp, [("offset_s", offset)]))

    def _close_gap(self, gap: Gap | None, rows: list[Row]) -> None:
        self._queue.close_gap()
        total = self._queue.lost
        lost, self._lost_reported = total - self._lost_reported, total
        if not lost:
            return
        reason = "queue full" if self.last_error is None else f"queue full; last error: {self.last_error}"
        self._warnings.warn(f"rollout trace: {lost} rows lost: {reason}")
        row = self._builder.own("trace_gap", gap.since if gap else now(), [("lost", lost), ("reason", reason)])
        if gap:
            row["since"] = row["t"]
        rows.append(row)
