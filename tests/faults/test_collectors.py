"""Collectors that misbehave: the job and its file do not notice, and a replay sends exactly what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.spans.projector import project
from tests.cli.program import rtrace
from tests.faults import child
from tests.faults.collector_programs import GROUPS, emit_costs, job
from tests.faults.collector_receiver import (
    Closing,
    Half,
    Handler,
    Hanging,
    Kind,
    Partial,
    Received,
    Slow,
    TooLarge,
    Unavailable,
    grpc_collector,
    http_collector,
    silent_port,
)
from tests.pace import SOON_S, within
from tests.server_process import refusing_port

CLOSE_S = 2.5
SPANS = 2 * GROUPS


@contextmanager
def refusing() -> Iterator[Received]:
    """A port that nobody listens on."""
    with refusing_port() as port:
        yield Received(url=f"http://127.0.0.1:{port}")


def port_of(collector: Received) -> int:
    """Where a collector listened; it comes back there in good health."""
    return int(collector.url.rpartition(":")[2])


BAD = [
    pytest.param(None, id="refusing"),
    pytest.param(Hanging, id="hanging"),
    pytest.param(Closing, id="closing"),
    pytest.param(Unavailable, id="503"),
    pytest.param(TooLarge, id="413"),
    pytest.param(Half, id="half"),
    pytest.param(Slow, id="slow"),
]


LATE: tuple[Kind | None, ...] = (Half, Slow)
"""Collectors whose answer can come when the job does not wait for it any more."""


def exit_s(done: child.Finished) -> float:
    """How long a process lived on after it had closed."""
    return done.ended - float(done.out.split()[-1])


def outcome(done: child.Finished) -> tuple[bool, float, int, int, list[str]]:
    """What the job printed: whether it closed, in what time, its spans, the missing ones, the lines of its log."""
    assert (0, "") == (done.code, done.err)
    lines = done.out.splitlines()
    (closed,) = (line.split()[1:] for line in lines if line.startswith("closed "))
    return (
        closed[0] == "True", float(closed[1]), int(closed[2]), int(closed[3]),
        [line for line in lines if line.startswith("LOG ")],
    )  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_collector_costs_nothing_and_replay_completes(kind: Kind | None, tmp_path: Path) -> None:
    """The job closes in time with a whole file and at most one line of log; what is missing is known and replayed."""
    path = tmp_path / "trace.jsonl"
    with refusing() if kind is None else http_collector(kind) as bad:
        closed, seconds, made, missing, log = outcome(child.run(job, path, bad.url))
        had = list(bad.ids)
    rows = list(read_events(path))
    wanted = sorted((f"{span.trace_id:032x}", f"{span.span_id:016x}") for span, _ in project(rows))
    emitted = sum(row["event"] not in {"run_started", "run_ended", "spans_delivered"} for row in rows)
    assert (True, SPANS, SPANS, 4 * GROUPS) == (closed, made, len(wanted), emitted)
    assert seconds < CLOSE_S
    assert len(log) <= 1
    with http_collector(port=port_of(bad)) as good:
        replayed = rtrace("replay", path, "--endpoint", bad.url, "--only-undelivered", "-q")
    assert 0 == replayed.code, replayed
    # An answer that came too late is not known to the job, so a span may come again; one that was confirmed may not.
    assert set(wanted) == set(had) | set(good.ids)
    if kind in LATE:
        assert (True, True) == (missing <= len(good.spans), not missing or len(log) == 1)
    else:
        assert (missing, missing > 0) == (len(good.spans), len(log) == 1)


def test_process_ends_although_the_collector_hangs(tmp_path: Path) -> None:
    """The whole process is gone soon after ``close``."""

    def measured() -> tuple[None, float]:
        return None, exit_s(child.run(job, tmp_path / "trace.jsonl", bad.url))

    with http_collector(Hanging) as bad:
        within(child.END_S, measured)


def test_dead_collector_does_not_harm_another(tmp_path: Path) -> None:
    """Each destination is isolated: the good one gets every span though the other one hangs."""
    with http_collector(Hanging) as bad, http_collector() as good:
        _, _, made, missing, _ = outcome(child.run(job, tmp_path / "trace.jsonl", bad.url, good.url))
        found = len(set(good.ids))
    assert (SPANS, SPANS, SPANS) == (made, missing, found)


def test_partial_success_is_not_delivery(tmp_path: Path) -> None:
    """Spans that a collector says it rejected are counted as not delivered."""
    with http_collector(Partial) as partial:
        _, _, made, missing, _ = outcome(child.run(job, tmp_path / "trace.jsonl", partial.url))
        requests = partial.attempts
    assert (SPANS, True) == (made, missing >= requests > 0)


def test_partial_success_over_grpc_is_not_delivery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same over gRPC, also for a replay, which counts what was refused; sent to a good one, all arrive."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    path = tmp_path / "trace.jsonl"
    with grpc_collector(rejects=1) as partial:
        _, _, made, missing, _ = outcome(child.run(job, path, partial.url))
        refused = rtrace("replay", path, "--endpoint", partial.url, "--only-undelivered")
    with grpc_collector(port=port_of(partial)) as good:
        replayed = rtrace("replay", path, "--endpoint", good.url, "--only-undelivered", "-q")
    assert (SPANS, SPANS) == (made, missing)
    assert ["rejected", "4"] in [line.split() for line in refused.out.splitlines()]  # one of each batch of 64 spans
    assert (0, SPANS) == (replayed.code, len(set(good.ids)))


def test_good_collector_gets_everything_once(tmp_path: Path) -> None:
    """With a collector that works nothing is missing, and nothing is logged."""
    with http_collector(Handler) as good:
        closed, _, made, missing, log = outcome(child.run(job, tmp_path / "trace.jsonl", good.url))
    assert (True, SPANS, 0, []) == (closed, made, missing, log)
    assert SPANS == len(good.ids) == len(set(good.ids))


def test_emit_costs_the_same(tmp_path: Path) -> None:
    """The median of ``emit`` is no higher than three times that without export, though the collector hangs."""

    def more_ns() -> tuple[None, float]:
        plain = int(child.run(emit_costs, tmp_path / "plain.jsonl", "").out)
        return None, int(child.run(emit_costs, tmp_path / "trace.jsonl", bad.url).out) - 3 * plain

    with http_collector(Hanging) as bad:
        within(2_000, more_ns)


@pytest.mark.parametrize("kind", ["unavailable", "refused", "silent"])
def test_bad_grpc_collector(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same over gRPC: in time, whole, one line of log, all spans known to be missing, and replayed."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    path = tmp_path / "trace.jsonl"
    codes = {"unavailable": grpc.StatusCode.UNAVAILABLE, "refused": grpc.StatusCode.PERMISSION_DENIED}
    with grpc_collector(codes[kind]) if kind in codes else silent_port() as bad:
        done = child.run(job, path, bad.url)
    closed, seconds, made, missing, log = outcome(done)
    assert (True, SPANS, SPANS, 1) == (closed, made, missing, len(log))
    assert seconds < CLOSE_S
    assert exit_s(done) < SOON_S
    with grpc_collector(port=port_of(bad)) as good:
        replayed = rtrace("replay", path, "--endpoint", bad.url, "--only-undelivered", "-q")
    assert (0, SPANS) == (replayed.code, len(set(good.ids)))
