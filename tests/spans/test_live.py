"""Spans that a recorder exports live are those of its file."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.spans_of import Selection, delivered_to, select_spans
from rtrace_otel.record import pipeline
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.exporter import JsonlSpanExporter
from tests.pace import SOON_S, until
from tests.spans.rows import readable


class Exporter(SpanExporter):
    """Keeps what it takes; one that is broken raises instead."""

    def __init__(self, *, broken: bool = False) -> None:
        """Begin with nothing."""
        self.broken = broken
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep, or raise."""
        if self.broken:
            raise RuntimeError("broken")
        self.spans += spans
        return SpanExportResult.SUCCESS

    @property
    def ids(self) -> list[int]:
        """Span ids, sorted."""
        return sorted(span.context.span_id for span in self.spans if span.context)


class Held(Exporter):
    """Takes nothing until it may."""

    def __init__(self) -> None:
        """Begin held."""
        super().__init__()
        self.may = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Wait, then keep."""
        self.may.wait(SOON_S)
        return super().export(spans)


class OtherExporter(Exporter):
    """Another destination."""


def groups(trace: RolloutTrace, number: int) -> None:
    """A few groups with an attempt each."""
    for group in range(number):
        trace.group_reserved(f"g{group}", group)
        trace.attempt_dispatched(f"g{group}", f"x{group}", group, 0)
        trace.attempt_sealed(f"x{group}", tokens=group)
        trace.group_discarded(f"g{group}", "done")


def test_live_spans_are_those_of_the_file(file: Path) -> None:
    """Byte for byte, with odd values of every kind."""
    exporter = InMemorySpanExporter()
    with RolloutTrace(file, span_exporters=[exporter], service="jöb") as trace:
        trace.group_reserved("g", 17, generations=2)
        odd = {"pair": (1, 2), "text": "ü\ud800", "much": 2**70, "odd": float("nan")}
        trace.attempt_dispatched("g", 5, 17, 0, extra=odd)
        trace.emit("note", attempt_id=5, nested={"a": [1, None]}, empty=[], mixed=[1, 2.0, "x"])
        trace.weight_sync(1, 2, calls=[("c", 5)])
        trace.attempt_sealed(5, tokens=3)
        trace.group_published("g", {1: 3})
        trace.train_step(1, 1, ["g"])
        trace.emit("moment", a=1)
        trace.attempt_dispatched("g2", "open", 17, 0)
    live = encode_spans(exporter.get_finished_spans()).SerializeToString(deterministic=True)
    replayed = encode_spans(readable(read_events(file))).SerializeToString(deterministic=True)
    assert live == replayed


def test_deliveries_are_in_the_file(file: Path) -> None:
    """After a run with a destination that works, nothing is left to replay."""
    with RolloutTrace(file, span_exporters=[Exporter()]) as trace:
        groups(trace, 50)
    delivered = delivered_to(read_events(file), None)
    assert [] == list(select_spans(read_events(file), Selection(delivered=delivered)))


@pytest.mark.parametrize("other", [Exporter, OtherExporter])
def test_destinations_are_told_apart(file: Path, other: type[Exporter]) -> None:
    """Spans that one exporter took and another one did not are not delivered, also if both are of one class."""
    trace = RolloutTrace(file, span_exporters=[other(broken=True), Exporter()])
    groups(trace, 10)
    trace.close()
    spans = trace.stats().spans
    assert spans is not None
    assert (20, 20) == (spans.made, spans.not_delivered)


def test_rows_passed_over_are_replayed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the projection does not keep up, the spans that were not made live are exactly those that a replay sends."""
    monkeypatch.setattr(pipeline, "MAX_ROWS", 40)
    monkeypatch.setattr(pipeline, "NAP_S", 0.005)
    exporter = Exporter()
    trace = RolloutTrace(file, span_exporters=[exporter], ghosts=False)
    groups(trace, 500)
    trace.flush()
    for _ in range(20):  # by now the projection keeps up again
        trace.emit("moment")
        trace.flush()
        time.sleep(0.01)
    trace.close()
    spans = trace.stats().spans
    assert spans is not None
    assert spans.rows_passed_over > 0
    delivered = delivered_to(read_events(file), None)
    again = [found.span.span_id for found in select_spans(read_events(file), Selection(delivered=delivered))]
    everything = [found.span.span_id for found in select_spans(read_events(file), Selection())]
    assert sorted(everything) == sorted({*exporter.ids, *again})


def test_odd_rows_do_not_shift_the_numbers(file: Path) -> None:
    """A row that cannot be projected costs no other span, live or in the replay."""
    exporter = Exporter()
    with RolloutTrace(file, span_exporters=[exporter]) as trace:
        groups(trace, 3)
        trace.emit("attempt_dispatched", attempt_id="x", group_id="h", generation_index=[])
        trace.emit("group_published", group_id="h", tokens_by_version={"--5": 1, "1": "many"})
        trace.emit("train_step", step=1, trained_version=1, group_ids=["h"])
        trace.attempt_dispatched("i", "y", 1, 0)
        trace.attempt_sealed("y")
    everything = [found.span.span_id for found in select_spans(read_events(file), Selection())]
    assert sorted(everything) == exporter.ids


def test_pure_opentelemetry_file_reads_the_same(file: Path, tmp_path: Path) -> None:
    """The span exporter behind a recorder writes the rows of its spans once."""
    with RolloutTrace(file, span_exporters=[JsonlSpanExporter(tmp_path / "spans.jsonl")]) as trace:
        groups(trace, 20)
    own = {"run_started", "run_ended", "spans_delivered"}
    rows, copied = (
        sorted((row for row in read_events(path) if row["event"] not in own), key=lambda row: row["seq"])
        for path in (file, tmp_path / "spans.jsonl")
    )
    assert rows == copied


def test_burst_of_twenty_thousand_spans_is_held(file: Path) -> None:
    """While a collector stalls, 20,000 spans wait in the queue and none is dropped."""
    exporter = Held()
    trace = RolloutTrace(file, span_exporters=[exporter])
    for number in range(20_000):
        trace.emit("moment", number=number)

    def made() -> int:
        spans = trace.stats().spans
        return 0 if spans is None else spans.made

    until(lambda: made() == 20_000)
    exporter.may.set()
    until(lambda: len(exporter.spans) == 20_000)
    trace.close()
