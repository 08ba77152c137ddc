"""The spans of a file that somebody asks for: by run, step, group, time, or because no collector accepted them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtrace_otel.errors import RTraceError
from rtrace_otel.events import Row
from rtrace_otel.spans.model import FinishedSpan, RunResource, SpanEvent
from rtrace_otel.spans.projector import Projector
from rtrace_otel.spans.ranges import Ranges


class NothingSelectedError(RTraceError):
    """No span of the file is what somebody asked for; the text says what there is."""


class DeliveryUnknownError(RTraceError):
    """Which spans a destination accepted cannot be told from the file; the text says what to do."""


_OF_STEPS = frozenset({"train.step", "train.step.groups", "rollout.group"})


@dataclass(frozen=True, slots=True)
class NumberedSpan:
    """A span of a file.

    Attributes:
        span: The span.
        resource: What is known of its run's process.
        number: Its number among the spans of its run.
    """

    span: FinishedSpan
    resource: RunResource
    number: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which spans are wanted; what is ``None`` does not restrict.

    Attributes:
        run: Head of the run's id.
        step: Training step: its span, and those of the groups it trained.
        group: Head of the group's id.
        since_s: Spans that end at or after this time, in Unix seconds.
        delivered: Numbers of spans that are not wanted, by run.
        open_too: Also what is open in the last run, ended where the file ends.
    """

    run: str | None = None
    step: int | None = None
    group: str | None = None
    since_s: float | None = None
    delivered: Mapping[str, Ranges] | None = None
    open_too: bool = False


def numbered_spans(events: Iterable[Row], *, open_too: bool = False) -> Iterator[NumberedSpan]:
    """Every span of a file, numbered as the live export numbered them.

    Args:
        events: Rows in file order.
        open_too: Also what is open in the last run, if that did not end.
    """
    projector = Projector()
    numbers: dict[str, int] = {}

    def numbered(spans: Iterable[FinishedSpan]) -> Iterator[NumberedSpan]:
        for span in spans:
            number = numbers.get(span.run, 0)
            numbers[span.run] = number + 1
            yield NumberedSpan(span, projector.resource(span.run), number)

    for row in events:
        yield from numbered(projector.add(row))
    yield from numbered(projector.end_killed(last_too=open_too))


def select_spans(events: Iterable[Row], wanted: Selection) -> Iterator[NumberedSpan]:
    """The spans that are wanted, in the order in which they ended."""
    spans: Iterable[NumberedSpan] = numbered_spans(events, open_too=wanted.open_too)
    groups: set[object] = set()
    if wanted.step is not None:  # attempts end before their group is known to belong to the step
        spans = list(spans)
        groups.update(s.span.attributes.get("rtrace.group_id") for s in spans if _is_of_step(s, wanted.step))
        groups.discard(None)
    for found in spans:
        if _is_wanted(found, wanted, groups):
            yield found


def require_some(spans: Sequence[NumberedSpan], file: str, runs: Iterable[str]) -> None:
    """Tell a wrong filter from an empty answer.

    Raises:
        NothingSelectedError: There is no span.
    """
    if not spans:
        raise NothingSelectedError(f"{file}: no span is what was asked for. Runs in the file: {', '.join(runs)}")


def delivered_to(events: Iterable[Row], destination: str | None) -> dict[str, Ranges]:
    """Which spans a destination accepted, by run.

    Args:
        events: Rows of the file.
        destination: The destination, as it stands in ``spans_delivered`` rows; ``None`` if the file has only one.

    Raises:
        DeliveryUnknownError: No destination is named, and the file has several.
    """
    found: dict[str, dict[str, Ranges]] = {}
    for row in events:
        if row.get("event") == "spans_delivered":
            by_run = found.setdefault(str(row.get("destination")), {})
            by_run.setdefault(str(row.get("of_run")), Ranges()).merge(Ranges.parse(str(row.get("spans"))))
    if destination is not None:
        return found.get(destination, {})
    if len(found) > 1:
        raise DeliveryUnknownError(
            f"the file has deliveries to several collectors ({', '.join(sorted(found))}). Name one with --endpoint"
        )
    return next(iter(found.values()), {})


def shifted(found: NumberedSpan, by_ns: int) -> NumberedSpan:
    """The span at another time; its ids stay."""
    span = found.span
    events = tuple(SpanEvent(event.name, event.time_ns + by_ns, event.attributes) for event in span.events)
    moved = dataclasses.replace(span, start_ns=span.start_ns + by_ns, end_ns=span.end_ns + by_ns, events=events)
    return dataclasses.replace(found, span=moved)


def _is_of_step(found: NumberedSpan, step: int) -> bool:
    return found.span.attributes.get("rtrace.step") == step and found.span.name in _OF_STEPS


def _is_wanted(found: NumberedSpan, wanted: Selection, groups: set[object]) -> bool:
    span = found.span
    if wanted.delivered is not None and span.run in wanted.delivered and found.number in wanted.delivered[span.run]:
        return False
    if wanted.run is not None and not span.run.startswith(wanted.run):
        return False
    group_id = span.attributes.get("rtrace.group_id")
    if wanted.step is not None and not _is_of_step(found, wanted.step) and group_id not in groups:
        return False
    if wanted.group is not None and not (isinstance(group_id, str) and group_id.startswith(wanted.group)):
        return False
    return wanted.since_s is None or span.end_ns >= wanted.since_s * 1e9
