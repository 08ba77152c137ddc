"""Spans back to rows: what a span carries of the events that made it.

Every row that belongs to a span is an event of it, with its fields as attributes. So rows come back as they were,
except for what does not fit on a span: the lists of calls are counts there. They come in the order in which the spans
ended, which keeps each group's publication before the step that trained it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from rtrace_otel.events import SCHEMA_VERSION, Row
from rtrace_otel.spans.attributes import PREFIX, unflatten

STEP, STEP_LINKS = "train.step", "train.step.groups"
"""The spans whose links matter."""

KEYS: Final = frozenset(f"{PREFIX}{name}" for name in ("run_id", "attempt_id", "group_id", "first_group"))
"""The attributes of a span that matter; those of its events all do."""

_GROUP, _ATTEMPT = "rollout.group", "rollout.attempt"
_FIRST: Final = ("event", "t", "run", "seq")


class CarriedSpan(msgspec.Struct, frozen=True, gc=False):
    """What of a span matters for its rows, wherever it comes from.

    Attributes:
        name: Span name.
        span_id: Its id, in any form.
        parent_id: Its parent's id in the same form, or ``None``.
        start_ns: Unix nanoseconds.
        attributes: Its attributes, at least those in ``KEYS``.
        events: Name, time in Unix nanoseconds and attributes of each event.
        trained: Groups of its links to what it trained, at least for the spans whose links matter.
        resource: Attributes of its resource.
    """

    name: str
    span_id: Any
    parent_id: Any
    start_ns: int
    attributes: Mapping[str, Any]
    events: tuple[tuple[str, int, Mapping[str, Any]], ...]
    trained: Sequence[str]
    resource: Mapping[str, Any]


class Unprojector:
    """Turns spans into rows; remembers which runs it has introduced and links that wait for their step.

    Attributes:
        runs: The runs that it has introduced.
    """

    def __init__(self) -> None:
        """Begin with no span seen."""
        self.runs: set[str] = set()
        self._waiting_links: dict[Any, list[tuple[int, list[str]]]] = {}

    def rows_of(self, span: CarriedSpan) -> list[Row]:
        """The rows that a span carries; none if it is not one of ours."""
        run = span.attributes.get(f"{PREFIX}run_id")
        if not isinstance(run, str):
            return []
        groups = [*span.trained]
        if span.name == STEP_LINKS:
            place = span.attributes.get(f"{PREFIX}first_group")
            self._waiting_links.setdefault(span.parent_id, []).append((place if type(place) is int else 0, groups))
            return []
        rows = [] if run in self.runs else [_introduction(run, span)]
        self.runs.add(run)
        for name, time_ns, attributes in span.events:
            rows.append(_row(name, time_ns, run, span, attributes))
        if span.name == STEP and rows and rows[-1]["event"] == "train_step":
            for _, more in sorted(self._waiting_links.pop(span.span_id, [])):
                groups += more
            rows[-1]["group_ids"] = groups
        return rows


def rows_of_spans(spans: Iterable[CarriedSpan]) -> list[Row]:
    """The rows of several spans, in their order."""
    unprojector = Unprojector()
    return [row for span in spans for row in unprojector.rows_of(span)]


def trained_by(links: Iterable[Mapping[str, Any]]) -> list[str]:
    """The groups of those links of a span that say so, from the attributes of each link."""
    group_id = f"{PREFIX}group_id"
    return [str(link[group_id]) for link in links if link.get(f"{PREFIX}link") == "trained" and group_id in link]


def seconds(time_ns: int) -> float:
    """Unix seconds of Unix nanoseconds; 0 for a damaged time that no number of seconds can be."""
    try:
        return time_ns // 1000 / 1e6
    except OverflowError:
        return 0.0


def _introduction(run: str, span: CarriedSpan) -> Row:
    """A ``run_started`` row from the resource; ``from_spans`` tells readers not to expect every number."""
    resource = span.resource
    return {
        "event": "run_started",
        "t": seconds(span.start_ns),
        "run": run,
        "schema": SCHEMA_VERSION,
        "host": str(resource.get("host.name", "unknown")),
        "pid": resource.get("process.pid", 0),
        "service": str(resource.get("service.name", "unknown")),
        "from_spans": True,
    }


def _row(name: str, time_ns: int, run: str, span: CarriedSpan, attributes: Mapping[str, Any]) -> Row:
    fields = unflatten(attributes)
    seq = attributes.get(f"{PREFIX}seq", fields.get("seq"))
    row: Row = {"event": name, "t": seconds(time_ns), "run": run, "seq": seq}
    if span.name == _ATTEMPT:
        row["attempt_id"] = span.attributes.get(f"{PREFIX}attempt_id")
    elif span.name == _GROUP:
        row["group_id"] = span.attributes.get(f"{PREFIX}group_id")
    return row | {key: value for key, value in fields.items() if key not in _FIRST}
