"""What a fleet of five hundred jobs costs, beside reading the same bytes once for their batch age.

Two programs do the latter, each in one process: one computes nothing but the batch age of each step, the other all that
``rtrace age`` says of each file.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest

from rtrace_otel.testing import SimulationSettings, simulate
from tests.benchmarks.goals import Goals
from tests.benchmarks.measure import interleaved, ratio
from tests.cli.program import RTRACE

JOBS: Final = 500
ROUNDS: Final = 2
GOAL: Final = 2.0
BOUND: Final = 8.0
"""What one process must not exceed, against the batch age alone: every row goes through the analysis of stops and
through all rules of the check; see docs/performance.md."""

_AGE: Final = """
import sys
from pathlib import Path
from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.reading.reader import read_events
for path in sorted(Path(sys.argv[2]).rglob("rollout_trace.jsonl")):
    if sys.argv[1] == "alone":
        step_ages(read_events(path))
    else:
        reader = read_events(path, one_pass=True)
        staleness(reader)
        reader.report
"""


def _write(folder: Path) -> int:
    encode = msgspec.json.Encoder().encode
    rows = 0
    for seed in range(JOBS):
        settings = SimulationSettings(seed=seed, prompts=30, generations=4, groups_per_step=3, steps=6, open_groups=8)
        path = folder / f"job{seed:03}" / "rollout_trace.jsonl"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            for row in simulate(settings).iter_rows():
                file.write(encode(row) + b"\n")
                rows += 1
    return rows


def _clock() -> float:
    return time.perf_counter()


def _cpu() -> float:
    """Seconds of CPU that processes took which have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(command: Sequence[str], clock: Callable[[], float]) -> Callable[[], float]:
    def timed() -> float:
        started = clock()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return clock() - started

    return timed


@pytest.mark.timeout(1800)
def test_five_hundred_jobs(tmp_path: Path, report: dict[str, float], goals: Goals) -> None:
    """Whole programs, with their start: cold with one process and with all cores, and from the cache."""
    jobs = tmp_path / "jobs"
    report["rows"] = _write(jobs)
    report["MB"] = sum(path.stat().st_size for path in jobs.rglob("*.jsonl")) / 1e6
    report["cores"] = len(os.sched_getaffinity(0))
    alone, whole = ([sys.executable, "-c", _AGE, what, str(jobs)] for what in ("alone", "whole"))
    fleet = [RTRACE, "fleet", str(jobs), "--format", "json", "-q"]
    samples = interleaved(
        {
            "age": _run(alone, _clock),
            "age, CPU": _run(alone, _cpu),
            "rtrace age": _run(whole, _clock),
            "fleet": _run([*fleet, "--no-cache"], _clock),
            "one process, CPU": _run([*fleet, "--no-cache", "--jobs", "1"], _cpu),
            "cached": _run([*fleet, "--cache-dir", str(tmp_path / "cache")], _clock),
        },
        ROUNDS,
    )
    report["age of all files, s of CPU"] = min(samples["age, CPU"])
    report["fleet in one process / age, CPU"] = ratio(samples, "one process, CPU", "age, CPU")
    report["fleet from the cache / age"] = ratio(samples, "cached", "age")
    goals.most("fleet of 500 jobs / rtrace age of each, on the clock", ratio(samples, "fleet", "rtrace age"), GOAL)
    goals.most("fleet of 500 jobs / the batch age of each, on the clock", ratio(samples, "fleet", "age"), GOAL)
    assert ratio(samples, "one process, CPU", "age, CPU") <= BOUND
    assert ratio(samples, "cached", "age") <= 1.5
