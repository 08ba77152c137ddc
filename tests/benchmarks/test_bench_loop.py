"""How smooth the event loop stays after a burst, and what an idle recorder costs."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rtrace_otel.record.trace import RolloutTrace
from tests.benchmarks.measure import drained, interleaved
from tests.benchmarks.seed_like import SeedLikeTrace
from tests.pace import within

BURST = 10_000
WATCH_S = 0.15
TICK_S = 0.001
ROUNDS = 13


async def _lags_after_burst(emit: Callable[..., Any]) -> tuple[float, float]:
    """Worst lag of a 1 ms timer after the burst, and the sum of all lags beyond 1 ms, in seconds."""
    for i in range(BURST):
        emit("attempt_dispatched", group_id="g-1234", attempt_id="a-5678", prompt_id="17", generation_index=i)
    worst = late = 0.0
    end = time.perf_counter() + WATCH_S
    while (before := time.perf_counter()) < end:
        await asyncio.sleep(TICK_S)
        lag = time.perf_counter() - before - TICK_S
        worst = max(worst, lag)
        late += lag if lag > TICK_S else 0.0
    return worst, late


def test_loop_lag_after_burst(trace: RolloutTrace, seed_like: SeedLikeTrace, report: dict[str, float]) -> None:
    """Worst lag at most a quarter, late time at most a tenth, of the plain design."""
    late: dict[str, list[float]] = {"seed": [], "ours": []}

    def run(name: str, emit: Callable[..., Any], backlog: Callable[[], int]) -> float:
        worst, total = asyncio.run(_lags_after_burst(emit))
        late[name].append(total)
        drained(backlog)
        return worst

    samples = interleaved(
        {
            "seed": lambda: run("seed", seed_like.emit, lambda: seed_like.backlog),
            "ours": lambda: run("ours", trace.emit, lambda: trace.stats().queued),
        },
        ROUNDS,
    )
    worst = {name: statistics.median(values) for name, values in samples.items()}
    total = {name: statistics.median(values) for name, values in late.items()}
    for name in ("seed", "ours"):
        report[f"{name}: worst lag, ms"] = worst[name] * 1e3
        report[f"{name}: late time of 150 ms, ms"] = total[name] * 1e3
    assert worst["ours"] <= worst["seed"] / 4
    assert total["ours"] <= total["seed"] / 10


def test_idle_cost(tmp_path: Path, report: dict[str, float]) -> None:
    """A recorder without events uses less than 0.2 % of a core."""

    def share() -> tuple[None, float]:
        before, begun = time.process_time(), time.monotonic()
        time.sleep(5)
        used = (time.process_time() - before) / (time.monotonic() - begun)
        report["idle, % of a core (goal 0.2)"] = 100 * used
        return None, used

    with RolloutTrace(tmp_path / "idle.jsonl") as trace:
        trace.emit("something")
        time.sleep(0.5)
        within(0.002, share)
