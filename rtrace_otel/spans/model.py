"""Finished spans as plain data, so that projecting them needs no SDK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rtrace_otel.events import Row

SCOPE_NAME: Final = "rtrace_otel"
"""Instrumentation scope of every span that comes from events."""

AttributeValue: TypeAlias = str | bool | int | float | Sequence[str] | Sequence[bool] | Sequence[int] | Sequence[float]
Attributes: TypeAlias = Mapping[str, AttributeValue]

MAX_LINKS: Final = 128
"""Links that a span carries; a training step with more groups gets child spans that carry the rest."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened within a span.

    Attributes:
        name: The row's event.
        time_ns: When, in Unix nanoseconds.
        attributes: The row's fields.
    """

    name: str
    time_ns: int
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class SpanLink:
    """A reference to a span of another trace, or of another run.

    Attributes:
        trace_id: 128 bits.
        span_id: 64 bits.
        attributes: What the link means.
    """

    trace_id: int
    span_id: int
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class FinishedSpan:
    """A span that has ended.

    Attributes:
        run: The run whose resource it belongs to.
        name: One of the span names of the vocabulary.
        trace_id: 128 bits.
        span_id: 64 bits.
        parent_id: 64 bits, or ``None`` for the root of a trace.
        start_ns: Unix nanoseconds.
        end_ns: Unix nanoseconds, not before the start.
        attributes: What is true of the whole span.
        events: In the order in which they happened.
        links: To other spans.
        error: Why the span ended in an error, or ``None``.
    """

    run: str
    name: str
    trace_id: int
    span_id: int
    parent_id: int | None
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    links: tuple[SpanLink, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class RunResource:
    """What is known of the process that a run's spans come from.

    Attributes:
        run: Its id.
        service: Service name.
        host: Host name, if known.
        pid: Process id, if known.
        extra: Resource attributes that the user set.
    """

    run: str
    service: str
    host: str | None
    pid: int | None
    extra: Mapping[str, str]

    def attributes(self) -> dict[str, AttributeValue]:
        """Resource attributes under their OpenTelemetry names."""
        found: dict[str, AttributeValue] = {**self.extra, "service.name": self.service, "service.instance.id": self.run}
        if self.host is not None:
            found["host.name"] = self.host
        if self.pid is not None:
            found["process.pid"] = self.pid
        return found


def resource_of(run: str, row: Row) -> RunResource:
    """What a ``run_started`` row says of its process.

    Args:
        run: The run.
        row: The row.
    """
    extra, pid = row.get("resource"), row.get("pid")
    return RunResource(
        run=run,
        service=str(row.get("service") or "rtrace"),
        host=None if row.get("host") is None else str(row["host"]),
        pid=pid if type(pid) is int else None,
        extra={str(k): str(v) for k, v in extra.items()} if isinstance(extra, dict) else {},
    )
