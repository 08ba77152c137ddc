"""The recorder that the controller holds."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from gc import is_tracked
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from rtrace_otel.record import process
from rtrace_otel.record.arguments import clamp, copied, file_of, given, new_run_id
from rtrace_otel.record.clock import RunClock, now
from rtrace_otel.record.context import TraceContext
from rtrace_otel.record.jsonl import FSYNC_POLICIES, FsyncPolicy, JsonlExporter
from rtrace_otel.record.patience import Patience
from rtrace_otel.record.queue import FlushMark, RowQueue
from rtrace_otel.record.stats import RecorderStats
from rtrace_otel.record.typed import TypedEvents
from rtrace_otel.record.warn import HOST_WARNINGS
from rtrace_otel.record.worker import BatchWorker
from rtrace_otel.spans.config import Otlp, SpanOptions, has_sdk_meter_provider, resource_from

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import TracerProvider

CLOSE_STALL_S: Final = 2.0
"""``close`` gives up after this long without progress; time in which the process stands still does not count."""

_WAIT_S: Final = 0.05


class RolloutTrace(TypedEvents, TraceContext):
    """Append rollout events to a JSONL file off the caller's thread.

    No call blocks, except ``flush`` and ``close``, and none raises into the caller once the recorder is made. What is
    lost (a full queue, a file deleted under the recorder) is counted and written down as a ``trace_gap`` row.

    Args:
        path: The JSONL file to append to; a folder (one that exists, or a path that ends in a slash) means
            ``rollout_trace.jsonl`` in it; ``None`` makes every call a no-op.
        run: Id of the run; by default a new random one.
        service: Name of the job, for ``run_started``.
        framework: Training framework and version, for ``run_started``.
        weight_version: Weight version that the run starts with, for ``run_started``.
        config: Settings worth keeping with the trace, for ``run_started``.
        fsync: ``never``, ``checkpoint`` (after a checkpoint row and at close) or ``always`` (after every chunk).
        interval_s: Seconds between looks at the queue while events come.
        queue_rows: Most rows to hold; more are dropped and counted.
        otlp: Where spans go: ``auto`` (the ``OTEL_*`` variables decide; nothing without an endpoint), a collector's
            URL, an ``OtlpDestination``, several of them, or ``None`` for nowhere.
        span_exporters: Further exporters that get every span through a batch span processor of their own.
        tracer_provider: A provider of yours that gets every span, with its own processors and resource.
        meter_provider: Where the metrics go; by default to the process's own provider, if it has set one up.
        ghosts: Whether to export the spans that the run before, which was killed, could not end or deliver.
        clock: Makes the clock of a run; for tests.

    Raises:
        ValueError: An argument other than ``path`` is out of its range.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        run: str | None = None,
        service: str | None = None,
        framework: str | None = None,
        weight_version: int | None = None,
        config: dict[str, Any] | None = None,
        fsync: FsyncPolicy = "checkpoint",
        interval_s: float = 0.005,
        queue_rows: int = 1_000_000,
        otlp: Otlp = "auto",
        span_exporters: Sequence[SpanExporter] = (),
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        ghosts: bool = True,
        clock: Callable[[], RunClock] = RunClock,
    ) -> None:
        """Start to record; the file is opened by the background thread."""
        if fsync not in FSYNC_POLICIES:
            raise ValueError(f"fsync must be one of {', '.join(FSYNC_POLICIES)}: {fsync!r}")
        if not 0 < interval_s < math.inf:
            raise ValueError(f"interval_s must be > 0 and finite: {interval_s!r}")
        if queue_rows < 1:
            raise ValueError(f"queue_rows must be >= 1: {queue_rows!r}")
        self._path = None if path is None else file_of(path)
        self._fsync: FsyncPolicy = fsync
        self._interval_s = interval_s
        self._queue_rows = queue_rows
        self._clock = clock
        self._spans = SpanOptions(otlp, tuple(span_exporters), tracer_provider, meter_provider, ghosts)
        self._warnings = HOST_WARNINGS
        self._run = run or new_run_id()
        self._run_fields = given(
            service=service or os.environ.get("OTEL_SERVICE_NAME") or None,
            framework=framework,
            weight_version=weight_version,
            config=config,
            resource=resource_from(os.environ) or None,
        )
        self._worker: BatchWorker | None = None
        self._file: JsonlExporter | None = None
        self._closing_since = (0.0, 0)
        self._queue = RowQueue(queue_rows if self._path else -1, self._start if self._path else None)
        if self._path:
            process.register(self)
            self._queue.wake()

    @property
    def enabled(self) -> bool:
        """Whether events are recorded: a path was given and ``close`` was not called."""
        return self._queue.limit >= 0

    @property
    def path(self) -> Path | None:
        """The file, or ``None``; a folder's file is known once the folder has been looked at, in the background."""
        return self._path if self._file is None else self._file.path

    @property
    def run(self) -> str:
        """Id of this process's run; new in the child of a fork."""
        return self._run

    def emit(self, event: str = "", /, **fields: Any) -> None:
        """Queue one event, stamped with the current time. Never blocks, never raises.

        Args:
            event: Name of the event; those of the vocabulary and any other.
            **fields: The event's fields, of any type. Lists and dicts are copied (shallow). A field called ``t``,
                ``run`` or ``seq`` is kept with a trailing underscore.
        """
        if is_tracked(fields):  # else it holds no list and no dict, whose garbage the collector would have to see
            fields = {name: copied(value) for name, value in fields.items()}
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append((fields, stamp, event))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every event queued before this call has been written.

        Args:
            timeout: Most seconds to wait; ``None`` waits as long as it takes.

        Returns:
            Whether they have been written.
        """
        queue, worker = self._queue, self._worker
        if self._path is None:
            return True
        if queue and queue.dormant:
            queue.wake()
            worker = self._worker
        if worker is None or not worker.running:
            return self._has_written_all(worker)
        if worker.is_current_thread:
            return False
        mark = FlushMark()
        self._queue.append((mark, now()))
        self._queue.wake()
        deadline = None if timeout is None else time.monotonic() + timeout
        while not mark.reached.wait(_WAIT_S if deadline is None else clamp(deadline - time.monotonic(), _WAIT_S)):
            if not worker.running:
                return mark.reached.is_set() or self._has_written_all(worker)
            if deadline is not None and time.monotonic() >= deadline:
                return False
        return True

    def close(self, reason: str = "closed") -> bool:
        """Write every queued event and ``run_ended``, and stop. Further events are refused; closing twice is harmless.

        Args:
            reason: Written in ``run_ended``.

        Returns:
            Whether everything was written; ``False`` after two seconds without progress (the disk is full or hangs) in
            which the process ran.
        """
        queue, worker = self._queue, self._worker
        process.unregister(self)
        self.begin_close(reason)
        worker = self._worker
        if worker is None:
            return not queue
        if worker.is_current_thread:
            return True
        if self._wait_for(worker):
            return worker.unwritten == 0
        worker.give_up.set()
        worker.join(_WAIT_S)
        self._warnings.warn(
            f"rollout trace: {len(queue)} rows or more could not be written to {self._path} at close: "
            f"{worker.last_error or 'no answer from the file system'}"
        )
        return False

    def begin_close(self, reason: str) -> None:
        """Have the writer finish, without waiting for it; ``close`` waits."""
        queue = self._queue
        if queue.limit >= 0:
            queue.limit = -1
            queue.closing = reason
            self._closing_since = (time.monotonic(), self._worker.written if self._worker else 0)
            if queue or not queue.dormant:  # a child of a fork that emitted nothing writes nothing
                queue.wake()

    def stats(self) -> RecorderStats:
        """What was written, waits, or was lost until now."""
        worker, queue = self._worker, self._queue
        queued = min(len(queue), self._queue_rows)
        if worker is None:
            return RecorderStats(0, queued, queue.lost, queue.refused, None)
        lost = queue.lost + worker.unwritten
        spans = worker.pipeline.stats() if worker.pipeline is not None else None
        return RecorderStats(worker.written, queued, lost, queue.refused, worker.last_error, spans)

    def after_fork(self) -> None:
        """In the child of a fork: forget the parent's rows, and start a run of our own if an event comes."""
        if self._worker is not None:  # else the file does not know the run that this process was forked from
            self._run_fields = {**self._run_fields, "parent_run": self._run}
        self._run = new_run_id()
        self._worker = None
        self._warnings = HOST_WARNINGS
        self._queue.revive(self._start_in_child)

    def __enter__(self) -> Self:
        """The recorder itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close; ``run_ended`` names the exception that ended the block, if one did."""
        self.close("closed" if kind is None else f"unhandled {kind.__name__}")

    def _start(self) -> None:
        assert self._path is not None
        worker = BatchWorker(self._queue, self._run, self._run_fields, self._clock(), self._interval_s, self._warnings)
        self._file = JsonlExporter(self._path, self._fsync, worker.give_up, worker.trouble, worker.report_loss)
        worker.exporters.append(self._file)
        if self._spans.wanted or has_sdk_meter_provider():
            self._add_pipeline(worker)
        worker.start()
        self._worker = worker

    def _add_pipeline(self, worker: BatchWorker) -> None:
        from rtrace_otel.record.pipeline import make_pipeline  # noqa: PLC0415 - the SDK only where spans are wanted

        assert self._path is not None
        try:
            pipeline = make_pipeline(
                self._run, self._path, self._spans, worker.report_delivery, self.stats, self._warnings
            )
        except Exception as error:  # spans are an extra: without them the file is still complete
            self._warnings.warn(f"rollout trace: no spans are exported: {error!r}")
            return
        if pipeline is not None:
            worker.exporters.append(pipeline)
            worker.pipeline = pipeline

    def _start_in_child(self) -> None:
        self._start()
        process.close_at_end_of_child(self)

    def _has_written_all(self, worker: BatchWorker | None) -> bool:
        """Whether no row is left by a worker that has ended; marks of flushes that came too late for it are none."""
        rows = any(not isinstance(item[0], FlushMark) for item in list(self._queue))
        return not rows and (worker is None or worker.unwritten == 0)

    def _wait_for(self, worker: BatchWorker) -> bool:
        """Wait for the worker's end as long as it makes progress."""
        since, progress = self._closing_since
        patience = Patience(CLOSE_STALL_S - 2 * _WAIT_S)
        patience.spend(time.monotonic() - since)

        def ended(seconds: float) -> bool:
            nonlocal progress
            if worker.join(seconds):
                return True
            if worker.written != progress:
                progress = worker.written
                patience.begin_again()
            return False

        return patience.until(ended)
