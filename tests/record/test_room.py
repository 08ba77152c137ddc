"""Spans of the run before go out as fast as a collector takes them, and wait for one that takes none only so long."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record import room
from rtrace_otel.record.room import Room
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.delivery import TrackedExporter
from tests.pace import SOON_S, until
from tests.spans.rows import History, readable
from tests.spans.test_ghosts import GONE, lines
from tests.spans.test_live import Exporter, Held

ATTEMPTS = 150
QUEUE = 64


def killed(attempts: int = ATTEMPTS) -> History:
    """A run of this host that delivered nothing, and was killed with its group open."""
    history = History()
    history.rows[0].update({"host": os.uname().nodename, "pid": GONE})
    history.reserve()
    for number in range(attempts):
        history.dispatch(f"x{number}", generation=number)
        history.seal(f"x{number}")
    return history


@pytest.fixture
def small_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch span processor that holds less than the run before left."""
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", str(QUEUE))
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "16")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")


def _full(exporter: TrackedExporter, closing: Event) -> Room:
    """Room for half of a queue of eight, all of it taken."""
    found = Room(exporter, 8, closing)
    assert [True] * 4 == [found.take() for _ in range(4)]
    return found


def test_nothing_waits_once_the_recorder_closes() -> None:
    """What has no room then is left to a replay."""
    closing = Event()
    found = _full(TrackedExporter(Exporter(), "e"), closing)
    closing.set()
    assert [False, False] == [found.take(), found.take()]


@pytest.mark.parametrize("broken", [False, True])
def test_a_batch_that_has_ended_makes_room(broken: bool) -> None:
    """Whatever came of it."""
    exporter = TrackedExporter(Exporter(broken=broken), "e")
    found = _full(exporter, Event())
    exporter.export(readable(killed(3).rows))
    assert [True] * 3 == [found.take() for _ in range(3)]


def test_a_collector_that_accepts_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """For good: other collectors would wait each time."""
    monkeypatch.setattr(room, "PATIENCE_S", 0.0)
    exporter = TrackedExporter(Exporter(), "e")
    found = _full(exporter, Event())
    assert not found.take()
    exporter.export(readable(killed(4).rows))
    assert not found.take()


@pytest.mark.usefixtures("small_queue")
def test_more_than_the_queue_holds_arrives(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every span of a run that delivered nothing, the group that was open, and those of the present run."""
    monkeypatch.setattr(room, "PATIENCE_S", SOON_S)
    file.write_bytes(lines(killed().rows))
    exporter = Exporter()
    with RolloutTrace(file, span_exporters=[exporter]) as trace:
        trace.group_reserved("new", 1)
        trace.attempt_dispatched("new", "y", 1, 0)
        trace.attempt_sealed("y", tokens=1)
        trace.group_discarded("new", "done")
        until(lambda: _delivered(trace) == ATTEMPTS + 3)
    rows = list(read_events(file))
    assert sorted(span.context.span_id for span in readable(rows) if span.context) == exporter.ids


def _delivered(trace: RolloutTrace) -> int:
    stats = trace.stats().spans
    assert stats is not None
    return sum(stats.delivered.values())


@pytest.mark.usefixtures("small_queue")
def test_a_collector_that_hangs_delays_another_only_so_long(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The present run's spans reach the one that works; what the other has not got is known."""
    monkeypatch.setattr(room, "PATIENCE_S", 0.1)
    file.write_bytes(lines(killed().rows))
    held, works = Held(), Exporter()
    with RolloutTrace(file, run="b" * 16, span_exporters=[held, works]) as trace:
        trace.attempt_dispatched("new", "y", 1, 0)
        trace.attempt_sealed("y", tokens=1)
        until(lambda: any((span.attributes or {}).get("rtrace.attempt_id") == "y" for span in works.spans))
        stats = trace.stats().spans
        held.may.set()
    assert stats is not None
    assert stats.not_delivered >= ATTEMPTS
