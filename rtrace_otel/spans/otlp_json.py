"""OTLP JSON Lines: what the collector's file exporter writes and Jaeger's upload reads.

Format: the OTLP/JSON encoding of ``TracesData`` (opentelemetry-proto), one object a line: ids in hexadecimal, 64-bit
integers as decimal strings, enums as numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import ValidationError, convert

from rtrace_otel.events import SCHEMA_VERSION
from rtrace_otel.spans.model import SCOPE_NAME, Attributes, AttributeValue, FinishedSpan, RunResource
from rtrace_otel.spans.unproject import CarriedSpan, trained_by

_INTERNAL: Final = 1
_ERROR: Final = 2
_FLAGS_SAMPLED: Final = 1


def traces_data(spans: Iterable[tuple[FinishedSpan, RunResource]]) -> dict[str, Any]:
    """One ``TracesData`` object for spans with their resources."""
    by_run: dict[str, tuple[RunResource, list[dict[str, Any]]]] = {}
    for span, resource in spans:
        by_run.setdefault(resource.run, (resource, []))[1].append(span_json(span))
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource.attributes())},
                "scopeSpans": [
                    {"scope": {"name": SCOPE_NAME, "version": f"schema-{SCHEMA_VERSION}"}, "spans": encoded}
                ],
            }
            for resource, encoded in by_run.values()
        ]
    }


def span_json(span: FinishedSpan) -> dict[str, Any]:
    """One span in OTLP/JSON."""
    encoded: dict[str, Any] = {
        "traceId": f"{span.trace_id:032x}",
        "spanId": f"{span.span_id:016x}",
        "flags": _FLAGS_SAMPLED,
        "name": span.name,
        "kind": _INTERNAL,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.attributes),
        "events": [
            {"timeUnixNano": str(event.time_ns), "name": event.name, "attributes": _attributes(event.attributes)}
            for event in span.events
        ],
        "links": [
            {
                "traceId": f"{link.trace_id:032x}",
                "spanId": f"{link.span_id:016x}",
                "attributes": _attributes(link.attributes),
            }
            for link in span.links
        ],
        "status": {} if span.error is None else {"code": _ERROR, "message": span.error},
    }
    if span.parent_id is not None:
        encoded["parentSpanId"] = f"{span.parent_id:016x}"
    return encoded


def carried_spans(document: Mapping[str, Any]) -> Iterator[CarriedSpan]:
    """The spans of a ``TracesData`` object, ours and foreign ones; what is malformed is passed over."""
    for of_resource in _list(document.get("resourceSpans")):
        resource = decoded(_dict(of_resource.get("resource")).get("attributes"))
        for of_scope in _list(of_resource.get("scopeSpans")):
            for span in _list(of_scope.get("spans")):
                yield _carried(span, resource)


def _carried(span: Mapping[str, Any], resource: Mapping[str, Any]) -> CarriedSpan:
    return CarriedSpan(
        name=str(span.get("name", "")),
        span_id=str(span.get("spanId", "")).lower(),
        parent_id=str(span["parentSpanId"]).lower() if span.get("parentSpanId") else None,
        start_ns=as_int(span.get("startTimeUnixNano")),
        attributes=decoded(span.get("attributes")),
        events=tuple(
            (str(event.get("name", "")), as_int(event.get("timeUnixNano")), decoded(event.get("attributes")))
            for event in _list(span.get("events"))
        ),
        trained=trained_by(decoded(link.get("attributes")) for link in _list(span.get("links"))),
        resource=resource,
    )


def _attributes(attributes: Attributes) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: AttributeValue) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    return {"arrayValue": {"values": [_value(item) for item in value]}}


def decoded(attributes: Any) -> dict[str, Any]:
    """Attributes of a span, event, link or resource; what is malformed is passed over.

    OTLP allows no key twice. Should one come twice, the first counts: so a reader that found it need look no further.

    Args:
        attributes: A list of objects with ``key`` and ``value``, as from a JSON decoder.
    """
    entries = _list(attributes)
    found = {str(entry.get("key")): _plain(_dict(entry.get("value"))) for entry in entries}
    if len(found) < len(entries):
        for entry in reversed(entries):
            found[str(entry.get("key"))] = _plain(_dict(entry.get("value")))
    return found


def _plain(value: Mapping[str, Any]) -> Any:
    for kind, plain in value.items():
        if kind == "intValue":
            return as_int(plain)
        if kind == "doubleValue":
            return _float(plain)
        if kind == "arrayValue":
            return [_plain(_dict(item)) for item in _list(_dict(plain).get("values"))]
        if kind in {"stringValue", "boolValue"}:
            return plain
    return None


def as_int(value: Any) -> int:
    """A whole number, which may be a text that holds one; 0 if it is none.

    It is written as JSON writes numbers: no sign ``+``, no zeros before it, no space, no ``_``; ``1e2`` is 100. Source:
    the JSON mapping of 64-bit integers in the documentation of Protocol Buffers.
    """
    try:
        return convert(value, int, strict=False)
    except (ValidationError, UnicodeEncodeError):
        return 0


def _float(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _list(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else ()


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
