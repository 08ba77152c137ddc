"""Ten thousand open attempts: what they weigh, and how long the garbage collector stops for them."""

from __future__ import annotations

import subprocess
import sys

from tests.pace import within

_HEAD = """
import gc, json, time, tracemalloc
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.spans.projector import Projector

def line(event, seq, **fields):
    return json.dumps({"event": event, "t": 1.79e9 + seq, "run": "a" * 16, "seq": seq, **fields}).encode()

lines = [line("run_started", 0, schema=1, host="h", pid=1)]
for n in range(10_000):
    if n % 16 == 0:
        lines.append(line("group_reserved", len(lines), group_id=f"{n:012x}", prompt_id=str(n), generations=16))
    lines.append(line("attempt_dispatched", len(lines), group_id=f"{n // 16 * 16:012x}", attempt_id=f"{n:013x}",
        prompt_id=str(n), generation_index=n % 16, attempt_index=0, weight_version=3, instance="server-0"))
projector = Projector()
"""
_MEMORY = """
rows = list(read_events(lines))
for row in rows:
    if row["event"] != "attempt_dispatched":
        list(projector.add(row))
del rows
tracemalloc.start()
before = tracemalloc.get_traced_memory()[0]
for row in read_events(lines):
    if row["event"] == "attempt_dispatched":
        list(projector.add(row))
del row
gc.collect()
print((tracemalloc.get_traced_memory()[0] - before) / projector.open_attempts)
"""
_PAUSE = """
def pause():
    times = []
    for _ in range(7):
        begun = time.process_time()
        gc.collect()
        times.append(time.process_time() - begun)
    return min(times)

gc.collect()
before = pause()
for row in read_events(lines):
    list(projector.add(row))
opened = pause()
others = [[] for _ in range(250_000)]
print((opened - before) / (pause() - opened))
"""


def measured(program: str) -> float:
    """The number that a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", _HEAD + program], check=True, capture_output=True, text=True, timeout=600
    )
    return float(done.stdout)


def test_open_attempt_weighs_at_most_a_kibibyte() -> None:
    """10,000 open attempts, whose groups are open, take 1 KiB each."""
    assert measured(_MEMORY) <= 1024


def test_garbage_collection_is_not_held_up() -> None:
    """10,000 open attempts hold up a full collection no longer than 250,000 empty lists: some 10 ms of CPU."""

    def share() -> tuple[None, float]:
        return None, measured(_PAUSE)

    within(1.0, share)
