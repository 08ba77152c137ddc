"""Lines of OTLP JSON read by need: a line is decoded as far as its spans, their attributes and events as bytes.

A line of another shape than expected is left to the reading that decodes everything (``carried_spans``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Raw

from rtrace_otel.spans.otlp_values import ODD, any_in, attributes_in, int_in, trained_in
from rtrace_otel.spans.unproject import KEYS, STEP, STEP_LINKS, CarriedSpan

BEGIN: Final = b'{"resourceSpans":'
"""How a line begins that is read this way."""

_NONE: Final = Raw(b"null")


class EventShell(msgspec.Struct, gc=False):
    """An event of a span."""

    name: str = ""
    timeUnixNano: Raw = _NONE  # noqa: N815 - the keys in the file, here and below
    attributes: Raw = _NONE


class UnnamedShell(msgspec.Struct, gc=False):
    """A span whose name its type tells."""

    spanId: Raw = _NONE  # noqa: N815
    parentSpanId: Raw = _NONE  # noqa: N815
    startTimeUnixNano: Raw = _NONE  # noqa: N815
    attributes: Raw = _NONE
    events: list[EventShell] = []
    links: Raw = _NONE


class SpanShell(UnnamedShell, gc=False):
    """A span."""

    name: str = ""


class _Resource(msgspec.Struct):
    attributes: Raw = _NONE


class _Scope(msgspec.Struct):
    spans: list[SpanShell] = []


class _OfResource(msgspec.Struct):
    resource: _Resource = msgspec.field(default_factory=_Resource)
    scopeSpans: list[_Scope] = []  # noqa: N815


class _Document(msgspec.Struct):
    resourceSpans: list[_OfResource]  # noqa: N815


_decode = msgspec.json.Decoder(_Document).decode


def shells_in(line: bytes) -> list[tuple[Raw, SpanShell]] | None:
    """Each span of a line with the attributes of its resource; ``None`` if the line is not of the usual shape."""
    try:
        document = _decode(line)
    except ODD:
        return None
    return [
        (of_resource.resource.attributes, span)
        for of_resource in document.resourceSpans
        for scope in of_resource.scopeSpans
        for span in scope.spans
    ]


def spans_in(line: bytes) -> Iterator[CarriedSpan] | None:
    """The spans of a line that may be ours, in its order; ``None`` if the line is not of the usual shape."""
    shells = shells_in(line) if is_utf8(line) else None
    return None if shells is None else _carried_all(shells)


def runs_in(line: bytes) -> set[str]:
    """The runs whose spans a line holds."""
    runs = {span.attributes.get("rtrace.run_id") for span in spans_in(line) or ()}
    return {run for run in runs if isinstance(run, str)}


def _carried_all(shells: list[tuple[Raw, SpanShell]]) -> Iterator[CarriedSpan]:
    decoded_raw: Raw | None = None
    resource: dict[str, Any] = {}
    for raw, span in shells:
        attributes = attributes_in(span.attributes, KEYS)
        if "rtrace.run_id" in attributes:
            if raw is not decoded_raw:
                decoded_raw, resource = raw, attributes_in(raw)
            yield carried(span.name, span, attributes, resource, span.events)


def carried(
    name: str, span: UnnamedShell, attributes: dict[str, Any], resource: dict[str, Any], events: list[EventShell]
) -> CarriedSpan:
    """What of a span matters for its rows.

    Args:
        name: Name of the span.
        span: The rest of it.
        attributes: Its attributes.
        resource: Attributes of its resource.
        events: Those of its events that matter.
    """
    linked = name in (STEP, STEP_LINKS)
    return CarriedSpan(
        name=name,
        span_id=_id(span.spanId) or "" if linked else "",
        parent_id=_id(span.parentSpanId) if linked else None,
        start_ns=int_in(span.startTimeUnixNano),
        attributes=attributes,
        events=tuple((event.name, int_in(event.timeUnixNano), attributes_in(event.attributes)) for event in events),
        trained=trained_in(span.links) if linked else (),
        resource=resource,
    )


def is_utf8(line: bytes) -> bool:
    """Whether a line is text; a decoder looks only at the texts that it gives."""
    if line.isascii():
        return True
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _id(raw: Raw) -> str | None:
    found = any_in(raw)
    return str(found).lower() if found else None
