"""Traces of simulated jobs as files."""

from __future__ import annotations

from pathlib import Path

from rtrace_otel.fleet.numbers import Numbers, Volume
from rtrace_otel.fleet.results import FileResult
from rtrace_otel.testing import SimulationSettings, simulate
from tests.cli.program import write


def write_job(folder: Path, seed: int, steps: int = 4) -> Path:
    """The trace of a small job with one kill and one restore."""
    folder.mkdir(parents=True, exist_ok=True)
    return write(folder, simulate(SimulationSettings(seed=seed, prompts=40, steps=steps)).rows)


def job(path: str, numbers: Numbers | None = None) -> FileResult:
    """A result with one stop that cost three rollouts, unless other numbers are given."""
    numbers = numbers or Numbers(jobs=1, runs=2, rows=10, stops=1, dead_s=0.1, lost=Volume(3, 30))
    return FileResult(path, None, None, {}, 100.0, 200.0, "clean", numbers)
