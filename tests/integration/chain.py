"""The shipped collector in front of Jaeger, and what Jaeger tells of the spans that came through."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.server_process import free_ports, refusing_port
from tests.servers import COLLECTOR, Jaeger, Otelcol, get_json, jaeger, otelcol

JOB: Final = "rtrace-demo"
INFERENCE: Final = "rtrace-demo-server"
SHIPPED: Final = (COLLECTOR / "otelcol" / "base.yaml", COLLECTOR / "otelcol" / "backends.yaml")
MAX_TRACES: Final = 1500

SpanKey: TypeAlias = tuple[str, str]
"""Trace id and span id, as hexadecimal text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A parent or a link."""

    kind: str
    to: SpanKey


@dataclass(frozen=True, slots=True)
class Found:
    """A span as Jaeger gives it back."""

    key: SpanKey
    name: str
    start_us: int
    duration_us: int
    references: tuple[Reference, ...]
    tags: Mapping[str, Any]
    events: tuple[tuple[int, Mapping[str, Any]], ...]
    process: Mapping[str, Any]
    warnings: tuple[str, ...]

    @property
    def parent(self) -> SpanKey | None:
        """Its only parent; ``None`` for a root."""
        parents = [reference.to for reference in self.references if reference.kind == "CHILD_OF"]
        assert len(parents) <= 1
        return parents[0] if parents else None

    @property
    def links(self) -> list[SpanKey]:
        """The spans that it refers to, its parent aside."""
        return [reference.to for reference in self.references if reference.kind != "CHILD_OF"]

    @property
    def end_us(self) -> int:
        """When it ended."""
        return self.start_us + self.duration_us


@dataclass(frozen=True, slots=True)
class Chain:
    """A collector, and the Jaeger that it sends to."""

    jaeger: Jaeger
    otelcol: Otelcol

    def spans(self) -> list[Found]:
        """All that is in Jaeger; a span that it holds twice is twice in the list."""
        traces = {trace["traceID"]: trace for service in (JOB, INFERENCE) for trace in self._traces(service=service)}
        return [span for trace in traces.values() for span in spans_of(trace)]

    def search(self, **tags: str) -> list[Found]:
        """Spans with these tags, in the traces of the job that Jaeger's search by tag gives."""
        wanted = {key.replace("__", "."): value for key, value in tags.items()}
        traces = self._traces(service=JOB, tags=json.dumps(wanted))
        matches = [[span for span in spans_of(trace) if _has(span, wanted)] for trace in traces]
        assert all(matches), "a trace was found that has no such span"
        return [span for trace in matches for span in trace]

    def keys_in_file(self) -> list[SpanKey]:
        """The spans that the collector wrote to its file, as often as it did."""
        return keys_in(self.otelcol.spans_file)

    def _traces(self, **wanted: str) -> list[dict[str, Any]]:
        traces: list[dict[str, Any]] = get_json(f"{self.jaeger.url}/api/traces", limit=MAX_TRACES, **wanted)["data"]
        assert len(traces) < MAX_TRACES, "Jaeger may hold more than it told"
        return traces


@contextmanager
def chain() -> Iterator[Chain]:
    """A Jaeger and a collector that sends to it. Tempo is down."""
    with jaeger() as traces, collector_for(traces) as collector:
        yield Chain(traces, collector)


@contextmanager
def collector_for(traces: Jaeger, port: int | None = None) -> Iterator[Otelcol]:
    """The shipped collector in front of a Jaeger that runs already; ``port`` to be where another one was."""
    address = f"127.0.0.1:{port or free_ports(1)[0]}"
    with refusing_port() as nobody:
        backends = {"JAEGER_OTLP": traces.otlp_grpc, "TEMPO_OTLP": f"127.0.0.1:{nobody}", "OTLP_HTTP_LISTEN": address}
        with otelcol(SHIPPED, backends) as collector:
            yield replace(collector, otlp_http=f"http://{address}")


def keys_in(file: Path) -> list[SpanKey]:
    """The spans of an OTLP JSON Lines file, a last line without its end left out: it is still being written."""
    if not file.exists():
        return []
    text = file.read_text(encoding="utf-8")
    return [
        (span["traceId"], span["spanId"])
        for line in text[: text.rfind("\n") + 1].splitlines()
        for resource in json.loads(line)["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


def _has(span: Found, wanted: Mapping[str, str]) -> bool:
    return all(_as_text(span.tags.get(key)) == value for key, value in wanted.items())


def _as_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def spans_of(trace: Mapping[str, Any]) -> list[Found]:
    """The spans of a trace as Jaeger's query API gives it."""
    processes = {
        name: {"service.name": process["serviceName"], **_pairs(process["tags"])}
        for name, process in trace["processes"].items()
    }
    return [
        Found(
            key=(span["traceID"], span["spanID"]),
            name=span["operationName"],
            start_us=span["startTime"],
            duration_us=span["duration"],
            references=tuple(Reference(r["refType"], (r["traceID"], r["spanID"])) for r in span["references"]),
            tags=_pairs(span["tags"]),
            events=tuple((log["timestamp"], _pairs(log["fields"])) for log in span["logs"]),
            process=processes[span["processID"]],
            warnings=tuple(span["warnings"] or ()),
        )
        for span in trace["spans"]
    ]


def _pairs(tags: list[dict[str, Any]]) -> dict[str, Any]:
    pairs = {tag["key"]: tag["value"] for tag in tags}
    assert len(tags) == len(pairs), "a key is there twice"
    return pairs
