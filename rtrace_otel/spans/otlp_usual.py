"""Lines of OTLP JSON in the usual form: spans of ours only, with their attributes in the order in which we write them.

Such a line is decoded in one go into what a question needs of it. Of an attempt that is its run and the numbers of its
rows; of a group, or a step, the rows that are asked for as well. The decoder proves the form: nothing is looked for in
the text that it has not told apart. A line of another form is left to :mod:`rtrace_otel.spans.otlp_glance`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Raw

from rtrace_otel.events import Row
from rtrace_otel.spans.otlp_found import MAX_DIGITS, VERSIONS, Glance, UnclearError, number_in, take
from rtrace_otel.spans.otlp_lines import UnnamedShell
from rtrace_otel.spans.otlp_values import ODD, attributes_in
from rtrace_otel.spans.unproject import STEP, STEP_LINKS, CarriedSpan, seconds

MAX_NUMBER: Final = 10**MAX_DIGITS - 1
"""The largest number of a row."""

PUBLISHED: Final = "group_published"
"""The event whose attributes have a form of their own, because it is what most questions ask for."""

MAX_RUNS: Final = 16
"""Runs that a decoder knows by name; with more it takes any text for a run."""

_OTHERS: Final = (STEP, STEP_LINKS, "weights.sync", "checkpoint.publish", "checkpoint.restore")


class _Text(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    stringValue: str  # noqa: N815 - the keys in the file, here and below


class _GroupId(msgspec.Struct, gc=False):
    key: Literal["rtrace.group_id"]
    value: _Text


class _Int(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    intValue: int  # noqa: N815 - a number, or a text that holds one


class _Number(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    intValue: Annotated[int, msgspec.Meta(ge=0, le=MAX_NUMBER)]  # noqa: N815


class _Seq(msgspec.Struct, gc=False):
    key: Literal["rtrace.seq"]
    value: _Number


class _Numbered(msgspec.Struct, array_like=True, gc=False):
    """The attributes of an event of which only the first matters, its number."""

    seq: _Seq


class _Part(msgspec.Struct, gc=False):
    """An event that nobody asked for; its type tells its name."""

    attributes: _Numbered


class _Kept(msgspec.Struct, gc=False):
    """An event that somebody asked for; its type tells its name."""

    attributes: Raw
    timeUnixNano: int = 0  # noqa: N815


class _Items(msgspec.Struct, gc=False):
    values: list[_Int] = []


class _Array(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    arrayValue: _Items  # noqa: N815


class _Versions(msgspec.Struct, gc=False):
    key: Literal["rtrace.tokens_by_version.versions"]
    value: _Array


class _Tokens(msgspec.Struct, gc=False):
    key: Literal["rtrace.tokens_by_version.tokens"]
    value: _Array


class _Calls(msgspec.Struct, gc=False):
    key: Literal[
        "rtrace.call_versions.count",
        "rtrace.call_versions.tokens_sum",
        "rtrace.call_versions.tokens_min",
        "rtrace.call_versions.tokens_max",
    ]


class _Published(msgspec.Struct, array_like=True, gc=False, forbid_unknown_fields=True):
    """The attributes of a publication: its number, tokens by version, and how many calls they come from."""

    seq: _Seq
    versions: _Versions
    tokens: _Tokens
    count: _Calls | None = None
    total: _Calls | None = None
    least: _Calls | None = None
    most: _Calls | None = None


class _Plain(msgspec.Struct, gc=False):
    """A publication in this form."""

    attributes: _Published
    timeUnixNano: int = 0  # noqa: N815


_decode_published: Final = msgspec.json.Decoder(_Published, strict=False).decode


class Usual:
    """Looks at lines for some events, in spans of some runs.

    Args:
        kept: The events that are asked for.
        names: All events that may be in a line.
        runs: The runs that may be in a line, at least one.
        plain: Whether all publications in a line name their versions and, at most, how many calls they come from.
    """

    def __init__(self, kept: AbstractSet[str], names: AbstractSet[str], runs: AbstractSet[str], *, plain: bool) -> None:
        """Build the decoder."""
        self._kept = kept
        self._only_run = next(iter(runs)) if len(runs) == 1 else None
        attributes = _run_first(runs)
        part: Any = msgspec.defstruct(
            "part", [("attributes", _Numbered), ("name", Literal[tuple(names - kept)])], gc=False
        )
        events: Any = msgspec.field(default_factory=list)
        self._attempt = _span("rollout.attempt", [("attributes", attributes), ("events", list[part], events)])
        bases = {PUBLISHED: _Plain} if plain else {}
        self._names = {_subtype(bases.get(name, _Kept), name): name for name in kept}
        event: Any = None
        for kind in (*self._names, *(_subtype(_Part, name) for name in names - kept)):
            event = kind if event is None else event | kind
        of_group = msgspec.defstruct("of_group", [("group", _GroupId)], bases=(attributes,), array_like=True, gc=False)
        self._group = _span("rollout.group", [("attributes", of_group), ("events", list[event], events)])
        self._others = {_subtype(UnnamedShell, name): name for name in _OTHERS}
        span: Any = self._attempt | self._group
        for kind in self._others:
            span |= kind
        scope: Any = msgspec.defstruct("scope", [("spans", list[span])])
        of_resource: Any = msgspec.defstruct("of_resource", [("scopeSpans", list[scope])])
        document: Any = msgspec.defstruct("document", [("resourceSpans", list[of_resource])])
        self._decode = msgspec.json.Decoder(document, strict=False).decode

    def glance(self, line: bytes, *, counted: bool) -> Glance | None:
        """What a question needs of a line; ``None`` if it is not of the usual form.

        Args:
            line: A line in UTF-8.
            counted: Whether rows that a report may call damaged are needed too.
        """
        try:
            document = self._decode(line)
        except ODD:
            return None
        found = Glance()
        versions = 0
        try:
            for of_resource in document.resourceSpans:
                for scope in of_resource.scopeSpans:
                    versions += self._take(found, scope.spans, counted=counted)
        except UnclearError:
            return None
        return found if not counted or versions == line.count(VERSIONS) else None

    def _take(self, found: Glance, spans: list[Any], *, counted: bool) -> int:
        """Add spans; how often their events name versions."""
        attempt, group, only_run = self._attempt, self._group, self._only_run
        attempts = [span for span in spans if type(span) is attempt]
        if only_run is not None:
            of_run = found.numbers.setdefault(only_run, [])
            of_run += [event.attributes.seq.value.intValue for span in attempts for event in span.events]
        else:
            for span in attempts:
                of_run = found.numbers.setdefault(span.attributes.run.value.stringValue, [])
                of_run += [event.attributes.seq.value.intValue for event in span.events]
        if len(attempts) == len(spans):
            return 0
        versions = 0
        for span in spans:
            if type(span) is group:
                versions += self._take_group(found, span, counted=counted)
            elif type(span) is not attempt:
                versions += take(found, self._others[type(span)], span, self._kept, counted=counted)
        return versions

    def _take_group(self, found: Glance, span: Any, *, counted: bool) -> int:
        """The same for the span of a group."""
        attributes, names = span.attributes, self._names
        run, group_id = attributes.run.value.stringValue, attributes.group.value.stringValue
        numbers = found.numbers.setdefault(run, [])
        asked_for = found.asked_for.setdefault(run, [])
        versions = 0
        for event in span.events:
            name = names.get(type(event))
            if name is None:
                numbers.append(event.attributes.seq.value.intValue)
                continue
            published = _published_in(event.attributes) if name == PUBLISHED else None
            if published is not None:
                number = published.seq.value.intValue
                found.items.append(_row_of(published, event.timeUnixNano, run, group_id))
                versions += 2
            else:
                raw = bytes(event.attributes)
                number = number_in(raw)
                versions += raw.count(VERSIONS) if counted else 0
                own = {"rtrace.run_id": run, "rtrace.group_id": group_id}
                of_event = (name, event.timeUnixNano, attributes_in(event.attributes))
                found.items.append(CarriedSpan("rollout.group", "", None, 0, own, (of_event,), (), {}))
            numbers.append(number)
            asked_for.append(number)
        return versions


def _run_first(runs: AbstractSet[str]) -> Any:
    """Attributes that begin with one of these runs, or with any, if they are many."""
    run: Any = Literal[tuple(runs)] if len(runs) <= MAX_RUNS else str
    text = msgspec.defstruct("text", [("stringValue", run)], gc=False, forbid_unknown_fields=True)
    entry = msgspec.defstruct("entry", [("key", Literal["rtrace.run_id"]), ("value", text)], gc=False)
    return msgspec.defstruct("attributes", [("run", entry)], array_like=True, gc=False)


def _span(name: str, fields: list[Any]) -> Any:
    return msgspec.defstruct("span", fields, tag_field="name", tag=name, gc=False)


def _subtype(base: type[msgspec.Struct], name: str) -> Any:
    """A struct for what has this name."""
    return msgspec.defstruct("named", [], bases=(base,), tag_field="name", tag=name, gc=False)


def _published_in(attributes: _Published | Raw) -> _Published | None:
    """The attributes of a publication; ``None`` if they are not in the plain form."""
    if isinstance(attributes, _Published):
        return attributes
    try:
        return _decode_published(attributes)
    except ODD:
        return None


def _row_of(published: _Published, time_ns: int, run: str, group_id: str) -> Row:
    counts = {}
    tokens = published.tokens.value.arrayValue.values
    for version, count in zip(published.versions.value.arrayValue.values, tokens, strict=False):
        counts[version.intValue] = count.intValue
    return {
        "event": PUBLISHED,
        "t": seconds(time_ns),
        "run": run,
        "seq": published.seq.value.intValue,
        "group_id": group_id,
        "tokens_by_version": counts,
    }
