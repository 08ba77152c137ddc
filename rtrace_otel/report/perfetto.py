"""Spans as a Perfetto trace: one process, a track for each kind of span, counters, and flows to a training step.

Format: the messages ``TracePacket``, ``TrackDescriptor`` and ``TrackEvent`` of Perfetto's ``perfetto_trace.proto``.
Packets may stand in any order: Perfetto sorts them by time. So spans are written as they end, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rtrace_otel.analysis.backdrop import UNITS, Backdrop, Counter, Sample
from rtrace_otel.analysis.spans_of import NumberedSpan
from rtrace_otel.report import protobuf as pb
from rtrace_otel.report.document import printable
from rtrace_otel.report.flows import Flows
from rtrace_otel.report.lanes import Lanes
from rtrace_otel.report.slices import (
    LEFT_OUT,
    TRACKS,
    Stretch,
    arguments_of,
    moments_of,
    process_name,
    stretches_of,
    title_of,
    track_of,
)
from rtrace_otel.spans.model import AttributeValue, FinishedSpan

_SEQUENCE: Final = 1
_TOP_TRACK: Final = 1
_STATE_CLEARED, _NEEDS_STATE = 1, 2
_BEGIN, _END, _INSTANT, _COUNTER = 1, 2, 3, 4
_BY_RANK: Final = 3
MAX_NAMES: Final = 4096
"""Names of arguments that are written once and then referred to; users may add fields of their own."""

_RANKS: Final = {str(name): rank for rank, name in enumerate((*Counter, *dict.fromkeys(TRACKS.values())))}


def perfetto_trace(
    spans: Iterable[NumberedSpan], backdrop: Backdrop | None, flow_step: int | None = None
) -> Iterator[bytes]:
    """The parts of a trace file.

    Args:
        spans: In the order in which they ended.
        backdrop: What saw the rows that the spans come from, and tells the counters and stops; ``None`` for none.
        flow_step: Training step to which its attempts point.
    """
    writer: _Writer | None = None
    for found in spans:
        writer = writer or _Writer(process_name(found.resource), flow_step)
        for sample in backdrop.taken() if backdrop is not None else ():
            yield writer.sample(sample)
        if found.span.name not in LEFT_OUT:
            yield writer.span(found.span)
    if backdrop is not None and writer is not None:
        for sample in backdrop.taken():
            yield writer.sample(sample)
        for stretch in stretches_of(backdrop):
            yield writer.stretch(stretch)


class _Writer:
    """Writes packets, and before them the descriptors that they need.

    Args:
        process: Name of the process.
        flow_step: Training step to which its attempts point.
    """

    def __init__(self, process: str, flow_step: int | None) -> None:
        self._process = process
        self._flows = Flows(flow_step)
        self._tracks: dict[tuple[str, int], int] = {}
        self._lanes: dict[str, Lanes] = {}
        self._names: dict[str, int] = {}
        self._begun = False

    def span(self, span: FinishedSpan) -> bytes:
        """The packets of a span."""
        data, track = self._track_for(track_of(span), span.start_ns, span.end_ns)
        flows = b"".join(pb.fixed64(47, flow) for flow in self._flows.of(span))
        data += self._event(_BEGIN, track, span.start_ns, title_of(span), arguments_of(span), flows)
        for event, arguments in moments_of(span):
            t = min(max(event.time_ns, span.start_ns), span.end_ns)
            data += self._event(_INSTANT, track, t, printable(event.name), arguments)
        return data + self._event(_END, track, span.end_ns)

    def stretch(self, stretch: Stretch) -> bytes:
        """The packets of a stretch; those around a stop lie within each other."""
        if stretch.track == TRACKS["stop"]:
            data, track = self._track(stretch.track)
        else:
            data, track = self._track_for(stretch.track, stretch.start_ns, stretch.end_ns)
        data += self._event(_BEGIN, track, stretch.start_ns, stretch.title, stretch.arguments)
        return data + self._event(_END, track, stretch.end_ns)

    def sample(self, sample: Sample) -> bytes:
        """The packets of a value of a counter."""
        data, track = self._track(sample.counter, kind=pb.message(8, pb.text(6, UNITS[sample.counter])))
        event = pb.integer(9, _COUNTER) + pb.integer(11, track)
        event += pb.double(44, sample.value) if sample.value % 1 else pb.integer(30, int(sample.value))
        return data + self._packet(round(sample.t * 1e9), pb.message(11, event))

    def _track_for(self, name: str, start_ns: int, end_ns: int) -> tuple[bytes, int]:
        """A track with that name on which nothing else is at that time."""
        return self._track(name, self._lanes.setdefault(name, Lanes()).lane(start_ns, end_ns))

    def _track(self, name: str, lane: int = 0, kind: bytes = b"") -> tuple[bytes, int]:
        """A track, with the packets that describe it unless they were written before.

        The lanes of one kind share their name, by which viewers draw them as one.
        """
        if (name, lane) in self._tracks:
            return b"", self._tracks[name, lane]
        data = b"" if self._tracks else self._top_track()
        number = self._tracks[name, lane] = len(self._tracks) + _TOP_TRACK + 1
        descriptor = pb.integer(1, number) + pb.integer(5, _TOP_TRACK) + pb.text(2, name) + kind
        descriptor += pb.integer(12, _RANKS.get(name, len(_RANKS)))
        return data + self._packet(None, pb.message(60, descriptor)), number

    def _top_track(self) -> bytes:
        """The track above all others; viewers show one that is no process folded and empty."""
        process = pb.message(3, pb.integer(1, 1) + pb.text(6, self._process))
        return self._packet(None, pb.message(60, pb.integer(1, _TOP_TRACK) + process + pb.integer(11, _BY_RANK)))

    def _event(
        self,
        kind: int,
        track: int,
        t_ns: int,
        title: str = "",
        arguments: Mapping[str, AttributeValue] | None = None,
        more: bytes = b"",
    ) -> bytes:
        names = b"".join(self._new_name(name) for name in arguments or ())
        event = pb.integer(9, kind) + pb.integer(11, track) + (pb.text(23, title) if title else b"") + more
        for name, value in (arguments or {}).items():
            event += pb.message(4, self._argument(name, value))
        return self._packet(t_ns, (pb.message(12, names) if names else b"") + pb.message(11, event))

    def _new_name(self, name: str) -> bytes:
        """The entry that gives a name its number, the first time."""
        if name in self._names or len(self._names) >= MAX_NAMES:
            return b""
        self._names[name] = len(self._names) + 1
        return pb.message(3, pb.integer(1, self._names[name]) + pb.text(2, printable(name)))

    def _argument(self, name: str, value: AttributeValue) -> bytes:
        number = self._names.get(name)
        return (pb.text(10, printable(name)) if number is None else pb.integer(1, number)) + _value(value)

    def _packet(self, t_ns: int | None, content: bytes) -> bytes:
        """A packet of the file; the first one tells that nothing came before it."""
        data = b""
        if not self._begun:
            self._begun = True
            flags = pb.integer(87, 1) + pb.integer(13, _STATE_CLEARED)
            data = pb.message(1, flags + pb.integer(10, _SEQUENCE))
        time = b"" if t_ns is None else pb.integer(8, t_ns) + pb.integer(13, _NEEDS_STATE)
        return data + pb.message(1, time + pb.integer(10, _SEQUENCE) + content)


def _value(value: AttributeValue) -> bytes:
    if isinstance(value, bool):
        return pb.integer(2, value)
    if isinstance(value, int):
        return pb.integer(4, value)
    if isinstance(value, float):
        return pb.double(5, value)
    return pb.text(6, printable(value if isinstance(value, str) else ", ".join(map(str, value))))
