"""What a question needs of a line of OTLP JSON: the numbers of all its rows, and the spans whose rows it asks for.

Each event of ours begins with its number, and each span of ours with its run. Both are read in their places while the
line is decoded; most attempts, which are most of the spans, are decoded no further. What is not written in this way is
left to the reading of the whole line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from rtrace_otel.spans.otlp_lines import EventShell, UnnamedShell, carried, is_utf8, shells_in
from rtrace_otel.spans.otlp_values import ODD, Entries, attributes_in, dict_of, int_in, plain
from rtrace_otel.spans.unproject import KEYS, STEP, STEP_LINKS, CarriedSpan

_RUN_BEGIN: Final = b'[{"key":"rtrace.run_id","value":{"stringValue":"'
_SEQ_BEGIN: Final = b'[{"key":"rtrace.seq","value":{"intValue":"'
_END: Final = b'"}}'
_MAX_DIGITS: Final = 18
_VERSIONS: Final = b"rtrace.tokens_by_version"


@dataclass(frozen=True, slots=True)
class Glance:
    """What was read of a line.

    Attributes:
        numbers: Numbers of all rows in it, by run, in no order; one that comes twice is of a row that nobody asks for.
        asked_for: The numbers of those rows that are asked for.
        spans: The spans with rows that are asked for; of their events, at least those that make these rows. Their
            resources are left out.
    """

    numbers: dict[str, list[int]] = field(default_factory=dict)
    asked_for: dict[str, list[int]] = field(default_factory=dict)
    spans: list[CarriedSpan] = field(default_factory=list)


class _Number(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    intValue: str  # noqa: N815 - the keys in the file, here and below


class _Seq(msgspec.Struct, gc=False):
    key: Literal["rtrace.seq"]
    value: _Number


class _Text(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    stringValue: str  # noqa: N815


class _RunId(msgspec.Struct, gc=False):
    key: Literal["rtrace.run_id"]
    value: _Text


class _EventAttributes(msgspec.Struct, array_like=True, gc=False):
    seq: _Seq


class _SpanAttributes(msgspec.Struct, array_like=True, gc=False):
    run: _RunId


class _Event(msgspec.Struct, gc=False):
    attributes: _EventAttributes
    name: str = ""


class _Attempt(msgspec.Struct, gc=False, tag_field="name", tag="rollout.attempt"):
    attributes: _SpanAttributes
    events: list[_Event] = []


class _GroupId(msgspec.Struct, gc=False):
    key: Literal["rtrace.group_id"]
    value: _Text


class _GroupAttributes(_SpanAttributes, array_like=True, gc=False):
    group: _GroupId


class _GroupEvent(msgspec.Struct, gc=False):
    attributes: Entries
    name: str = ""
    timeUnixNano: Raw = Raw(b"null")  # noqa: N815


class _Group(msgspec.Struct, gc=False, tag_field="name", tag="rollout.group"):
    attributes: _GroupAttributes
    events: list[_GroupEvent] = []


def _named(name: str) -> Any:
    return msgspec.defstruct(name, [], bases=(UnnamedShell,), tag_field="name", tag=name, gc=False)


_OTHERS: Final = {
    _named(name): name for name in (STEP, STEP_LINKS, "weights.sync", "checkpoint.publish", "checkpoint.restore")
}


def _decoder() -> msgspec.json.Decoder[Any]:
    spans: Any = _Attempt | _Group
    for shape in _OTHERS:
        spans |= shape
    scope: Any = msgspec.defstruct("scope", [("spans", list[spans])])
    of_resource: Any = msgspec.defstruct("of_resource", [("scopeSpans", list[scope])])
    document: Any = msgspec.defstruct("document", [("resourceSpans", list[of_resource])])
    return msgspec.json.Decoder(document)


_decode: Final = _decoder().decode


class _UnclearError(Exception):
    """A span is not written as expected."""


def glance(line: bytes, wanted: AbstractSet[str], *, counted: bool) -> Glance | None:
    """What a question needs of a line.

    Args:
        line: A line that begins as OTLP JSON.
        wanted: The events that are asked for.
        counted: Whether rows that a report may call damaged are needed too.

    Returns:
        ``None`` if the line must be read in full.
    """
    if not is_utf8(line) or (b"\\" in line and b"\\u" in line):  # a key may be written in another way
        return None
    looked = _Look(wanted, counted=counted)
    try:
        found = looked.at_ours(line) or looked.at_all(line)
    except _UnclearError:
        return None
    return None if found is None or _has_twice(found) else found


class _Look:
    def __init__(self, wanted: AbstractSet[str], *, counted: bool) -> None:
        self._wanted = wanted
        self._counted = counted

    def at_ours(self, line: bytes) -> Glance | None:
        """The same if the line has spans of ours only, and no attempt in it is needed."""
        try:
            document = _decode(line)
        except ODD:
            return None
        found, versions = Glance(), 0
        for of_resource in document.resourceSpans:
            for scope in of_resource.scopeSpans:
                attempts: list[_Attempt] = []
                for span in scope.spans:
                    if type(span) is _Attempt:
                        attempts.append(span)
                    elif type(span) is _Group:
                        versions += self._take_group(found, span)
                    else:
                        versions += self._take(found, _OTHERS[type(span)], span)
                if not self._pass_over(found, attempts):
                    return None
        return found if not self._counted or versions == line.count(_VERSIONS) else None

    def _pass_over(self, found: Glance, attempts: list[_Attempt]) -> bool:
        """Add the numbers of attempts; whether none of their events is asked for."""
        runs = {span.attributes.run.value.stringValue for span in attempts}
        for run in runs:
            of_run = attempts
            if len(runs) > 1:
                of_run = [span for span in attempts if span.attributes.run.value.stringValue == run]
            events = [event for span in of_run for event in span.events]
            if not self._wanted.isdisjoint([event.name for event in events]):
                return False
            try:
                numbers = [int(event.attributes.seq.value.intValue) for event in events]
            except ValueError:
                return False
            if min(numbers, default=0) < 0:
                return False
            found.numbers.setdefault(run, []).extend(numbers)
        return True

    def _take_group(self, found: Glance, span: _Group) -> int:
        """Add a group; how often its events name versions."""
        run = span.attributes.run.value.stringValue
        numbers = found.numbers.setdefault(run, [])
        kept: list[tuple[str, int, dict[str, Any]]] = []
        versions = 0
        for event in span.events:
            entries = event.attributes
            number = plain(entries[0].value) if entries and entries[0].key == "rtrace.seq" else None
            if type(number) is not int or number < 0:
                raise _UnclearError
            numbers.append(number)
            of_event = (
                sum(entry.key.startswith("rtrace.tokens_by_version") for entry in entries) if self._counted else 0
            )
            versions += of_event
            if event.name in self._wanted or of_event:
                fields = dict_of(entries)
                if len(fields) < len(entries):
                    raise _UnclearError
                kept.append((event.name, int_in(event.timeUnixNano), fields))
                found.asked_for.setdefault(run, []).append(number)
        if kept:
            own = {"rtrace.run_id": run, "rtrace.group_id": span.attributes.group.value.stringValue}
            found.spans.append(CarriedSpan("rollout.group", "", None, 0, own, tuple(kept), (), {}))
        return versions

    def at_all(self, line: bytes) -> Glance | None:
        """The same with other people's spans in the line."""
        shells = shells_in(line)
        if shells is None:
            return None
        found = Glance()
        for _, span in shells:
            self._take(found, span.name, span)
        return found

    def _take(self, found: Glance, name: str, span: UnnamedShell) -> int:
        """Add a span; how often its events name versions."""
        attributes = bytes(span.attributes)
        run = _run_of(attributes)
        if run is None:
            return 0
        kept: list[EventShell] = []
        versions = 0
        if name != STEP_LINKS:
            numbers = found.numbers.setdefault(run, [])
            for event in span.events:
                raw = bytes(event.attributes)
                numbers.append(_number_of(raw))
                of_event = raw.count(_VERSIONS) if self._counted else 0
                versions += of_event
                if event.name in self._wanted or of_event or name == STEP:
                    kept.append(event)
                    found.asked_for.setdefault(run, []).append(numbers[-1])
        if kept or name == STEP_LINKS:
            found.spans.append(carried(name, span, attributes_in(span.attributes, KEYS), {}, kept))
        return versions


def _has_twice(found: Glance) -> bool:
    """Whether a row that is asked for is there twice, or another row has its number."""
    for run, asked_for in found.asked_for.items():
        numbers = found.numbers[run]
        if len(set(numbers)) < len(numbers):
            times = Counter(numbers)
            if any(times[number] > 1 for number in asked_for):
                return True
    return False


def _run_of(raw: bytes) -> str | None:
    """The run of a span of ours; ``None`` if the span is not ours."""
    if not raw.startswith(_RUN_BEGIN):
        if b"rtrace.run_id" in raw:
            raise _UnclearError
        return None
    begin = len(_RUN_BEGIN)
    text = raw[begin : raw.index(b'"', begin)]
    if b"\\" in text or not raw.startswith(_END, begin + len(text)):
        raise _UnclearError
    return text.decode()


def _number_of(raw: bytes) -> int:
    if not raw.startswith(_SEQ_BEGIN):
        raise _UnclearError
    begin = len(_SEQ_BEGIN)
    digits = raw[begin : raw.index(b'"', begin)]
    if not digits.isdigit() or len(digits) > _MAX_DIGITS or not raw.startswith(_END, begin + len(digits)):
        raise _UnclearError
    return int(digits)
