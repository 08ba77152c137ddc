"""Benchmarks run by name only: ``pytest tests/benchmarks``; each prints its ratios and holds them to their goal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.benchmarks.goals import Goals
from tests.benchmarks.seed_like import SeedLikeTrace


@pytest.fixture
def seed_like(tmp_path: Path) -> Iterator[SeedLikeTrace]:
    """The baseline, open."""
    trace = SeedLikeTrace(tmp_path / "seed.jsonl")
    yield trace
    trace.close()


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[RolloutTrace]:
    """Ours, open."""
    with RolloutTrace(tmp_path / "ours.jsonl") as trace:
        yield trace


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[dict[str, float]]:
    """Numbers to print, captured output or not."""
    numbers: dict[str, float] = {}
    yield numbers
    with capsys.disabled():
        print()
        for name, value in numbers.items():
            print(f"  {request.node.name}: {name} = {value:.3g}")


@pytest.fixture
def goals(request: pytest.FixtureRequest) -> Goals:
    """What is wanted of the numbers; the table is printed at the end."""
    return request.config.stash.setdefault(Goals.KEY, Goals())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the goals of the benchmarks that ran."""
    if Goals.KEY in config.stash:
        terminalreporter.section("goals")
        for line in config.stash[Goals.KEY].lines():
            terminalreporter.write_line(line)
