"""Spans as Chrome trace JSON, which Perfetto and chrome://tracing open: one process, a track per kind of span.

Format: the Trace Event Format of Chromium. Groups and attempts overlap, so they are async events (``b``, ``n``, ``e``)
with ``id2.local``; viewers make a track of those that have one name, which therefore tells but the outcome. The
rest are complete events (``X``) of threads, one thread for each lane.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rtrace_otel.analysis.backdrop import Backdrop, Sample
from rtrace_otel.analysis.spans_of import NumberedSpan
from rtrace_otel.report.lanes import Lanes
from rtrace_otel.report.slices import (
    LEFT_OUT,
    MANY_AT_ONCE,
    TRACKS,
    Stretch,
    arguments_of,
    counter_title,
    moments_of,
    outcome_of,
    process_name,
    stretches_of,
    title_of,
    track_of,
)
from rtrace_otel.spans.model import FinishedSpan

_PROCESS: Final = 1


def chrome_trace(spans: Iterable[NumberedSpan], backdrop: Backdrop | None) -> Iterator[str]:
    """The parts of one JSON document.

    Args:
        spans: In the order in which they ended.
        backdrop: What saw the rows that the spans come from, and tells the counters and stops; ``None`` for none.
    """
    yield '{"displayTimeUnit":"ms","traceEvents":['
    for place, event in enumerate(_all_events(spans, backdrop)):
        yield (",\n" if place else "\n") + json.dumps(_finite(event), separators=(",", ":"))
    yield "\n]}\n"


def _all_events(spans: Iterable[NumberedSpan], backdrop: Backdrop | None) -> Iterator[dict[str, Any]]:
    threads: _Threads | None = None
    for found in spans:
        if threads is None:
            threads = _Threads()
            yield _named("process_name", 0, process_name(found.resource))
        for sample in backdrop.taken() if backdrop is not None else ():
            yield _sample(sample)
        if found.span.name in MANY_AT_ONCE:
            yield from _overlapping(found.span)
        elif found.span.name not in LEFT_OUT:
            yield from threads.span(found.span)
    if backdrop is not None and threads is not None:
        for sample in backdrop.taken():
            yield _sample(sample)
        for stretch in stretches_of(backdrop):
            yield from threads.stretch(stretch)


class _Threads:
    """Lays what seldom overlaps into threads."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lanes] = {}
        self._numbers: dict[tuple[str, int], int] = {}

    def span(self, span: FinishedSpan) -> Iterator[dict[str, Any]]:
        """A span that is no group and no attempt."""
        yield from self._complete(
            track_of(span), title_of(span), span.start_ns, span.end_ns, arguments_of(span), nested=False
        )

    def stretch(self, stretch: Stretch) -> Iterator[dict[str, Any]]:
        """A stretch; those around a stop lie within each other."""
        nested = stretch.track == TRACKS["stop"]
        yield from self._complete(
            stretch.track, stretch.title, stretch.start_ns, stretch.end_ns, stretch.arguments, nested=nested
        )

    def _complete(
        self, track: str, title: str, start_ns: int, end_ns: int, arguments: Mapping[str, Any], *, nested: bool
    ) -> Iterator[dict[str, Any]]:
        lane = 0 if nested else self._lanes.setdefault(track, Lanes()).lane(start_ns, end_ns)
        thread = self._numbers.get((track, lane))
        if thread is None:
            thread = self._numbers[track, lane] = len(self._numbers) + 1
            yield _named("thread_name", thread, track)
        times = {"ts": _us(start_ns), "dur": _us(end_ns) - _us(start_ns)}
        yield {"ph": "X", "name": title, "pid": _PROCESS, "tid": thread, **times, "args": arguments}


def _finite(value: Any) -> Any:
    """The value as JSON can hold it: what is no finite number as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def _named(kind: str, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": kind, "pid": _PROCESS, "tid": thread, "args": {"name": name}}


def _overlapping(span: FinishedSpan) -> Iterator[dict[str, Any]]:
    track, number = track_of(span), {"local": f"{span.span_id:x}"}
    name = f"{outcome_of(span)} {span.name.removeprefix('rollout.')}"
    common = {"cat": track, "name": name, "pid": _PROCESS, "tid": 0, "id2": number}
    yield {**common, "ph": "b", "ts": _us(span.start_ns), "args": arguments_of(span)}
    for event, arguments in moments_of(span):
        yield {**common, "ph": "n", "name": event.name, "ts": _us(event.time_ns), "args": arguments}
    yield {**common, "ph": "e", "ts": _us(span.end_ns)}


def _us(t_ns: int) -> int:
    """Whole microseconds since 1970: with decimals a float could not tell apart what follows each other."""
    return t_ns // 1000


def _sample(sample: Sample) -> dict[str, Any]:
    values, t_us = {"value": sample.value}, _us(round(sample.t * 1e9))
    return {"ph": "C", "name": counter_title(sample.counter), "pid": _PROCESS, "tid": 0, "ts": t_us, "args": values}
