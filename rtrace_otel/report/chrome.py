"""Spans as Chrome trace JSON, which Perfetto and chrome://tracing open: a process per run, a track per kind of span.

Format: the Trace Event Format of Chromium, async events (``b``, ``n``, ``e``) with ``id2.local``, so spans may overlap.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from rtrace_otel.spans.model import FinishedSpan, RunResource


def chrome_trace(spans: Iterable[tuple[FinishedSpan, RunResource]]) -> str:
    """The spans as one JSON document."""
    processes: dict[str, int] = {}
    events: list[dict[str, Any]] = []
    for span, resource in spans:
        if span.run not in processes:
            processes[span.run] = len(processes) + 1
            events.append(_process_name(processes[span.run], resource))
        events += _events(span, processes[span.run])
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, separators=(",", ":")) + "\n"


def _process_name(process: int, resource: RunResource) -> dict[str, Any]:
    name = f"{resource.service} run {resource.run[:8]}"
    return {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": name}}


def _events(span: FinishedSpan, process: int) -> Iterable[dict[str, Any]]:
    common = {"cat": span.name, "name": _title(span), "pid": process, "tid": 0, "id2": {"local": f"{span.span_id:x}"}}
    arguments = {key: value for key, value in span.attributes.items() if key != "rtrace.run_id"}
    if span.error is not None:
        arguments["error"] = span.error
    yield {**common, "ph": "b", "ts": span.start_ns / 1000, "args": arguments}
    for event in span.events[1:-1]:
        yield {**common, "ph": "n", "name": event.name, "ts": event.time_ns / 1000, "args": dict(event.attributes)}
    yield {**common, "ph": "e", "ts": span.end_ns / 1000}


def _title(span: FinishedSpan) -> str:
    outcome = span.attributes.get("rtrace.outcome")
    step = span.attributes.get("rtrace.step")
    if span.name == "train.step":
        return f"{span.name} {step}"
    return f"{outcome} {span.name}" if outcome else span.name
