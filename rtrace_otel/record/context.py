"""Trace context of an attempt, before its span exists: its ids are derived, so a server's spans can be its children."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from rtrace_otel.record.plain import to_id
from rtrace_otel.record.queue import RowQueue
from rtrace_otel.spans import ids
from rtrace_otel.text import without_surrogates

if TYPE_CHECKING:
    from opentelemetry.context import Context

_Headers = TypeVar("_Headers", bound=MutableMapping[str, str])

HEADER = "traceparent"


class TraceContext:
    """Propagation of trace context; part of ``RolloutTrace``."""

    _run: str
    _queue: RowQueue

    def traceparent(self, attempt_id: object, group_id: object, *, origin_run: str | None = None) -> str:
        """The W3C ``traceparent`` value that makes a span the child of an attempt.

        Args:
            attempt_id: The attempt.
            group_id: Its group.
            origin_run: For a group that was restored, the run that first reserved it, as in ``group_reserved``.
        """
        run = self._run
        return ids.attempt_traceparent(origin_run or run, run, _text(group_id), _text(attempt_id))

    def inject(
        self, headers: _Headers, attempt_id: object, group_id: object, *, origin_run: str | None = None
    ) -> _Headers:
        """Put ``traceparent`` into the headers of a request to an inference server.

        Args:
            headers: Changed in place; a ``traceparent`` that is there already, in any case, is kept.
            attempt_id: The attempt.
            group_id: Its group.
            origin_run: As for :meth:`traceparent`.

        Returns:
            The same headers. They are plain strings, so they survive pickling (Ray, multiprocessing).
        """
        if self._queue.limit < 0:
            return headers
        for name in headers:
            if len(name) == len(HEADER) and name.lower() == HEADER:
                return headers
        headers[HEADER] = self.traceparent(attempt_id, group_id, origin_run=origin_run)
        return headers

    def context(self, attempt_id: object, group_id: object, *, origin_run: str | None = None) -> Context:
        """An OpenTelemetry context with the attempt as the current span, for instrumentation in this process.

        Args:
            attempt_id: The attempt.
            group_id: Its group.
            origin_run: As for :meth:`traceparent`.
        """
        group = _text(group_id)
        return _context_maker()(
            ids.group_trace_id(origin_run or self._run, group), ids.attempt_span_id(self._run, group, _text(attempt_id))
        )


@cache
def _context_maker() -> Callable[[int, int], Context]:
    """Makes a context from a trace id and a span id; cached, as the imports cost a third of a call each time."""
    from opentelemetry.context import Context as NewContext  # noqa: PLC0415 - only who uses it pays the import
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context  # noqa: PLC0415

    sampled = TraceFlags(TraceFlags.SAMPLED)

    def make(trace_id: int, span_id: int) -> Context:
        return set_span_in_context(NonRecordingSpan(SpanContext(trace_id, span_id, True, sampled)), NewContext())

    return make


def _text(value: object) -> str:
    """An id as it will stand in the row."""
    return value if type(value) is str and value.isascii() else str(without_surrogates(to_id(value)))
