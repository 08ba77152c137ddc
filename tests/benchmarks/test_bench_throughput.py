"""Sustained rate and memory while the producer is held at a fixed backlog."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BACKLOG = 20_000
_CHILD = """
import json, sys, time
from pathlib import Path
from tests.benchmarks.measure import rss_kib
kind, path, events = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
if kind == "ours":
    from rtrace_otel.record.trace import RolloutTrace
    trace = RolloutTrace(path)
    backlog = lambda: trace.stats().queued
else:
    from tests.benchmarks.seed_like import SeedLikeTrace
    trace = SeedLikeTrace(path)
    backlog = lambda: trace.backlog
trace.emit("warm-up")
time.sleep(0.3)
before = top = rss_kib()
start = time.perf_counter()
for i in range(events):
    trace.emit("attempt_dispatched", group_id="g-1234", attempt_id="a-5678", prompt_id="17", generation_index=i)
    if not i % 256:
        while backlog() > 20_000:
            time.sleep(0.001)
        top = max(top, rss_kib())
trace.close()
seconds = time.perf_counter() - start
print(json.dumps({"rate": events / seconds, "extra_mib": (max(top, rss_kib()) - before) / 1024}))
"""


def _run(kind: str, path: Path, events: int) -> dict[str, float]:
    command = [sys.executable, "-c", _CHILD, kind, str(path), str(events)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    result: dict[str, float] = json.loads(done.stdout)
    return result


@pytest.mark.timeout(600)
def test_sustained_rate(tmp_path: Path, report: dict[str, float]) -> None:
    """At least twice the plain design's rate; nothing lost."""
    events = 300_000
    pairs = []
    for turn in range(7):
        seed = _run("seed", tmp_path / f"seed{turn}.jsonl", events)
        ours = _run("ours", tmp_path / f"ours{turn}.jsonl", events)
        pairs.append((ours["rate"] / seed["rate"], ours["rate"]))
        with (tmp_path / f"ours{turn}.jsonl").open("rb") as file:
            assert sum(b'"attempt_dispatched"' in line for line in file) == events
    times, rate = sorted(pairs)[3]
    report["rate, rows/s"] = rate
    report["rate / seed-like (goal 2)"] = times
    assert times >= 2


@pytest.mark.timeout(900)
def test_memory_does_not_grow(tmp_path: Path, report: dict[str, float]) -> None:
    """At most 16 MiB more than before the first event, whatever the number of events."""
    extra = {}
    for events in (100_000, 1_000_000, 5_000_000):
        extra[events] = _run("ours", tmp_path / "ours.jsonl", events)["extra_mib"]
        report[f"extra memory after {events:.0e} events, MiB (goal 16)"] = extra[events]
        (tmp_path / "ours.jsonl").unlink()
    assert max(extra.values()) <= 16
    assert max(extra.values()) - min(extra.values()) <= 4
