"""The Perfetto trace, read back with Perfetto's own message classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from rtrace_otel.analysis.backdrop import Backdrop
from rtrace_otel.analysis.spans_of import Selection, select_spans
from rtrace_otel.events import Row
from rtrace_otel.report import perfetto
from rtrace_otel.report.perfetto import perfetto_trace
from tests.cli.conftest import JOB
from tests.report.history import dispatched, event, reserved, sealed, started, trace, trained

Slice = tuple[str, str, int, int]


class Read:
    """What a viewer gets from a trace: tracks, slices, moments, counters and arguments."""

    def __init__(self, rows: Sequence[Row], flow_step: int | None = None) -> None:
        backdrop = Backdrop()
        spans = select_spans(backdrop.through(rows), Selection(open_too=True))
        data = b"".join(perfetto_trace(spans, backdrop, flow_step))
        self.trace = Trace.FromString(data)
        assert data == self.trace.SerializeToString() or not self.trace.FindInitializationErrors()
        self.tracks: dict[int, Any] = {}
        self.slices: list[Slice] = []
        self.moments: list[tuple[str, str, int]] = []
        self.counters: dict[str, list[tuple[int, float]]] = {}
        self.arguments: dict[str, dict[str, Any]] = {}
        self.flows: dict[str, set[int]] = {}
        self._names: dict[int, str] = {}
        for packet in self.trace.packet:
            self._packet(packet)

    def _packet(self, packet: Any) -> None:
        self._names |= {entry.iid: entry.name for entry in packet.interned_data.debug_annotation_names}
        if packet.HasField("track_descriptor"):
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            self._event(packet.track_event, packet.timestamp)

    def _event(self, given: Any, t: int) -> None:
        track = self.tracks[given.track_uuid].name
        if given.type == TrackEvent.TYPE_SLICE_BEGIN:
            self.slices.append((track, given.name, t, -1))
            self.flows[given.name] = set(given.flow_ids)
            self.arguments[given.name] = {
                annotation.name or self._names[annotation.name_iid]: getattr(annotation, annotation.WhichOneof("value"))
                for annotation in given.debug_annotations
            }
        elif given.type == TrackEvent.TYPE_SLICE_END:
            track, name, start, _ = self.slices[-1]
            self.slices[-1] = (track, name, start, t)
        elif given.type == TrackEvent.TYPE_INSTANT:
            self.moments.append((track, given.name, t))
        else:
            value = given.double_counter_value if given.HasField("double_counter_value") else given.counter_value
            self.counters.setdefault(track, []).append((t, value))


def s(seconds: float) -> int:
    """Nanoseconds."""
    return round(seconds * 1e9)


def test_the_slices_of_a_job() -> None:
    """Every span, the two runs and the stop: their tracks, names and times.

    Rows come a second apart from 1000 s; run a has its last row at 1011 s, run b begins at 1012 s. The attempt z of the
    killed run ends with its last row. What has no length is given a nanosecond, so that viewers draw it.
    """
    read = Read(JOB)
    assert [
        ("job: checkpoints", "checkpoint at step 5", s(1011), s(1011) + 1),
        ("job: refits", "refit to version 5", s(1008.98), s(1009)),
        ("job: restores", "restore of step 5", s(1013), s(1013) + 1),
        ("job: runs", "run aaaaaaaa: killed", s(1000), s(1011)),
        ("job: runs", "run bbbbbbbb: closed", s(1012), s(1019)),
        ("job: stops", "stopped for 1.0 s", s(1011), s(1012)),
        ("job: stops", "until the first dispatch", s(1012), s(1015)),
        ("job: stops", "until the first train step", s(1012), s(1018)),
        ("job: train steps", "step 5", s(1005), s(1005) + 1),
        ("job: train steps", "step 6", s(1018), s(1018) + 1),
        ("rollout attempts", "abandoned (server error) 17/0", s(1015), s(1016)),
        ("rollout attempts", "interrupted 17/0", s(1008), s(1011)),
        ("rollout attempts", "sealed 17/0", s(1002), s(1003)),
        ("rollout attempts", "sealed 17/0", s(1007), s(1010)),
    ] == [found for found in sorted(read.slices) if found[0] != "rollout groups"]
    assert ["interrupted 17", "trained 17", "trained 17"] == sorted(
        f[1] for f in read.slices if f[0] == "rollout groups"
    )


def test_the_counters_of_a_job() -> None:
    """Attempts that are open: x, then y and z, then z until its run is killed, then w. Groups that wait: f, then g."""
    counters = Read(JOB).counters
    assert [(s(1002), 1), (s(1003), 0), (s(1007), 1), (s(1008), 2), (s(1010), 1)] == counters["open attempts"][:5]
    assert [(s(1011), 0), (s(1015), 1), (s(1016), 0)] == counters["open attempts"][5:]
    assert [(s(1004), 1), (s(1005), 0), (s(1017), 1), (s(1018), 0)] == counters["published groups waiting"]
    assert [(s(1005), 0), (s(1018), 1.375)] == counters["batch age"]


def test_every_track_hangs_on_the_process() -> None:
    """Without it, viewers show nothing until a person unfolds a row; counters have their unit."""
    read = Read(JOB)
    (top,) = [track for track in read.tracks.values() if track.HasField("process")]
    units = {track.name: track.counter.unit_name for track in read.tracks.values() if track.HasField("counter")}
    assert "rtrace" == top.process.process_name
    assert {top.uuid} == {track.parent_uuid for track in read.tracks.values() if track is not top}
    assert {"open attempts": "rollouts", "published groups waiting": "groups", "batch age": "versions"} == units


def test_spans_that_overlap_have_tracks_of_their_own() -> None:
    """Two attempts are open at once: two tracks with one name."""
    assert 2 == Counter(track.name for track in Read(JOB).tracks.values())["rollout attempts"]


def test_the_arguments_of_an_attempt() -> None:
    """Its ids and numbers, each of its own type, under short names."""
    rows = trace(
        started("a", weight_version=3),
        reserved("a", "g"),
        dispatched("a", "x", "g"),
        {**sealed("a", "x"), "tokens": 12, "reward": 0.5, "masked": True},
    )
    arguments = Read(rows).arguments["sealed 17/0"]
    assert {"attempt_id": "x", "group_id": "g", "tokens": 12, "reward": 0.5, "masked": True} == {
        name: arguments[name] for name in ("attempt_id", "group_id", "tokens", "reward", "masked")
    }


def test_names_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument's name is referred to by number; beyond the limit it is written out, and reads the same."""
    many = Read(JOB).arguments
    monkeypatch.setattr(perfetto, "MAX_NAMES", 2)
    assert many == Read(JOB).arguments


def test_arrows_lead_from_the_attempts_of_a_step_to_it() -> None:
    """Step 5 was trained on x; the attempts of step 6 lead elsewhere."""
    rows = [{**row, "prompt_id": row["attempt_id"]} if row["event"] == "attempt_dispatched" else row for row in JOB]
    rows = [{**row, "prompt_id": {"x": "1", "y": "2"}.get(row["prompt_id"], "3")} if "attempt_id" in row and
            "prompt_id" in row else row for row in rows]  # fmt: skip
    flows = Read(rows, flow_step=5).flows
    assert flows["step 5"] == flows["sealed 1/0"] != set()
    assert set() == flows["step 6"]


def test_arrows_reach_over_a_restore() -> None:
    """Y was sealed before the stop, and its group is trained after it."""
    read = Read(JOB, flow_step=6)
    assert 1 == len(read.flows["step 6"])
    assert read.flows["step 6"] == read.flows["sealed 17/0"]


def test_nobody_asked_for_arrows() -> None:
    """Then there are none."""
    assert {frozenset()} == set(map(frozenset, Read(JOB).flows.values()))


def test_odd_rows() -> None:
    """Nothing that a file can hold makes the trace unreadable."""
    odd: list[Any] = [None, "x", -1, 2**70, float("nan"), float("inf"), [1], {"a": 1}, "\ud800", "</script>", True]
    for value in odd:
        rows = trace(
            started("a", service=value, host=value, pid=value),
            {**reserved("a", "g"), "prompt_id": value},
            {**dispatched("a", "x", "g"), "generation_index": value, "weight_version": value, "mine": value},
            {**sealed("a", "x"), "tokens": value, "reward": value},
            {**trained("a", 1, 1, "g"), "step": value, "batch_age": value},
            event("a", "checkpoint_restored", checkpoint_id=value, step=value),
        )
        rows += [{**row, "t": value} for row in rows]
        assert 1 <= len(Read(rows).slices)
