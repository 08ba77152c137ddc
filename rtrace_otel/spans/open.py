"""Spans that have not ended: small records, because ten thousand of them may be open at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rtrace_otel.events import EVENTS_BY_NAME, Row
from rtrace_otel.spans.attributes import flatten
from rtrace_otel.spans.model import FinishedSpan, SpanEvent, SpanLink

MAX_EVENTS: Final = 256
"""Events of a span kept one by one; more of them are counted by name, and the last one is always there."""

_COMMON: Final = frozenset({"event", "t", "run"})
_IDENTITY: Final = {"rollout.attempt": _COMMON | {"attempt_id"}, "rollout.group": _COMMON | {"group_id"}}
"""Keys of a row that its span event does not repeat: its name and time, and what is an attribute of the span."""


_FOLDABLE: Final = frozenset({"attempt_dispatched", "attempt_refused"})
"""Events of the vocabulary that may come any number of times."""

WAITING_FOR: Final = {
    "group_reserved": "admission",
    "group_admitted": "its rollouts",
    "group_sealed": "publication",
    "group_published": "training",
    "attempt_dispatched": "a result",
    "attempt_resumed": "a result",
    "attempt_refused": "a new dispatch",
}
"""What a span waits for after an event."""

_MAX_TIME_S: Final = 9e9
"""Later times do not fit into the nanoseconds of a span."""


def time_ns(row: Row) -> int:
    """A row's time in Unix nanoseconds (rows have microseconds); 0 for what is no time."""
    t = row.get("t")
    return round(t * 1e6) * 1000 if isinstance(t, (int, float)) and 0 <= t < _MAX_TIME_S else 0


class OpenSpan:
    """A span in the making.

    Args:
        run: The run that works on it.
        name: Its name.
        trace_id: 128 bits.
        span_id: 64 bits.
        parent_id: 64 bits, or ``None``.
        row: The row that opens it; its first event.

    Attributes:
        attempt_id: The attempt, of a ``rollout.attempt``.
        group_id: The group, of a ``rollout.group`` or ``rollout.attempt``.
        version: Weight version in force when it was opened.
        refits_before: Refits of the run before it was opened.
        waiting_for: What it waits for since its last event of the vocabulary.
    """

    __slots__ = (
        "_events",
        "_facts",
        "_folded",
        "_tail",
        "attempt_id",
        "group_id",
        "links",
        "name",
        "parent_id",
        "refits_before",
        "run",
        "span_id",
        "start_ns",
        "trace_id",
        "version",
        "waiting_for",
    )

    def __init__(self, run: str, name: str, trace_id: int, span_id: int, parent_id: int | None, row: Row) -> None:
        """Open the span with its first event."""
        self.run = run
        self.name = name
        self.trace_id = trace_id
        self.span_id = span_id
        self.parent_id = parent_id
        self.start_ns = time_ns(row)
        self.attempt_id: str | None = None
        self.group_id: str | None = None
        self.version: Any = None
        self.waiting_for = "its end"
        self._facts: dict[str, Any] | None = None
        self.links: tuple[SpanLink, ...] = ()
        self.refits_before = 0
        self._events: tuple[tuple[Any, ...], ...] = ()
        self._folded: dict[str, int] | None = None
        self._tail: tuple[Any, ...] | None = None
        self.add(row)

    def add(self, row: Row, *, last: bool = False) -> None:
        """Take an event.

        Args:
            row: The event.
            last: Whether it ends the span; it is kept however many there were.
        """
        event = row["event"]
        self.waiting_for = WAITING_FOR.get(event, self.waiting_for)
        flat: list[Any] = [event, time_ns(row)]
        identity = _IDENTITY.get(self.name, _COMMON)
        for name, value in row.items():
            if name not in identity:
                flat.append(name)
                flat.append(value)
        may_fold = event not in EVENTS_BY_NAME or event in _FOLDABLE
        if last:
            self._fold(None)
        if len(self._events) < MAX_EVENTS or not may_fold or last:
            self._events += (tuple(flat),)
        else:
            self._fold(tuple(flat))

    def _fold(self, flat: tuple[Any, ...] | None) -> None:
        """Count the last event but one; the last one is kept, because nobody knows yet whether another follows."""
        before, self._tail = self._tail, flat
        if before is not None:
            self._folded = self._folded or {}
            self._folded[before[0]] = self._folded.get(before[0], 0) + 1

    @property
    def facts(self) -> dict[str, Any]:
        """Attributes of the whole span, without the prefix; most are known at its end only."""
        if self._facts is None:
            self._facts = {}
        return self._facts

    def count(self, event: str) -> int:
        """How often an event happened within the span."""
        kept = sum(1 for flat in self._kept() if flat[0] == event)
        return kept + (self._folded or {}).get(event, 0)

    def _kept(self) -> tuple[tuple[Any, ...], ...]:
        return self._events if self._tail is None else (*self._events, self._tail)

    def opening(self, name: str) -> Any:
        """A field of the row that opened the span, or ``None``."""
        first = self._events[0]
        return next((value for field, value in zip(first[2::2], first[3::2], strict=True) if field == name), None)

    @property
    def last_event(self) -> str:
        """Name of the last event kept."""
        return str(self._kept()[-1][0])

    def fields_of(self, event: str) -> Iterator[tuple[str, Any]]:
        """Names and values of the fields of an event, of all its occurrences in turn."""
        for flat in self._events:
            if flat[0] == event:
                yield from zip(flat[2::2], flat[3::2], strict=True)

    def link(self, to: SpanLink) -> None:
        """Refer to another span."""
        self.links += (to,)

    def finish(self, end_ns: int, error: str | None) -> FinishedSpan:
        """The span as it ended."""
        own = {"run_id": self.run, "attempt_id": self.attempt_id, "group_id": self.group_id}
        facts = {name: value for name, value in {**own, **self.facts}.items() if value is not None}
        attributes = flatten(facts)
        if "tokens" in facts and self.name == "rollout.attempt":
            attributes["gen_ai.usage.output_tokens"] = attributes.get("rtrace.tokens", 0)
        for event, count in (self._folded or {}).items():
            attributes[f"rtrace.events_folded.{event}"] = count
        return FinishedSpan(
            run=self.run,
            name=self.name,
            trace_id=self.trace_id,
            span_id=self.span_id,
            parent_id=self.parent_id,
            start_ns=self.start_ns,
            end_ns=max(end_ns, self.start_ns + 1),  # Jaeger keeps two copies of a span without duration
            attributes=attributes,
            events=tuple(_event(event) for event in sorted(self._kept(), key=lambda flat: flat[1])),
            links=self.links,
            error=error,
        )


def _event(flat: tuple[Any, ...]) -> SpanEvent:
    return SpanEvent(flat[0], flat[1], flatten(dict(zip(flat[2::2], flat[3::2], strict=True))))
