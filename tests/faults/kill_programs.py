"""What is killed."""

from __future__ import annotations

import mmap
import time
from pathlib import Path

from rtrace_otel.record.trace import RolloutTrace

MOST_ROWS = 100_000
BATCH = 10
PERIOD_S = 0.001


def emit_until_killed(path: str, acknowledged: str) -> None:
    """Emit about 10,000 rows a second; after each, write down when ``emit`` had returned."""
    with Path(acknowledged).open("r+b") as file:
        times = memoryview(mmap.mmap(file.fileno(), 0)).cast("d")
    trace = RolloutTrace(path)
    begun = time.monotonic()
    for n in range(MOST_ROWS):
        trace.attempt_dispatched(f"g{n // 8}", f"a{n}", n, n % 8, extra={"n": n})
        times[n] = time.monotonic()
        if n % BATCH == BATCH - 1:
            time.sleep(max(0.0, begun + (n + 1) / BATCH * PERIOD_S - time.monotonic()))
