"""What a report over five million rows costs, beside the batch age of the same file: time, and memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from rtrace_otel.testing import SimulationSettings, simulate
from tests.benchmarks.measure import spent_by

ROWS = 5_000_000
FEWER_ROWS = 1_000_000
ROWS_PER_STEP = 340
STEPS_PER_STOP = 200
MIB_MORE = {"restore": 10, "waste": 24, "check": 32}
"""Memory of the command for five times the rows, at most. The answer of waste has a record of each step."""

_CHILD = """
import sys, time
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.age.ages import step_ages
from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.waste import waste_report
age = lambda reader: step_ages(row for row in reader)  # all rows, as the others
analyse = {"age": age, "restore": restore_report, "check": check_trace, "waste": waste_report}[sys.argv[1]]
start = time.process_time()
analyse(read_events(sys.argv[2]))
seconds = time.process_time() - start
print(seconds)
"""


def _write(path: Path, rows: int) -> None:
    steps = rows // ROWS_PER_STEP
    settings = SimulationSettings(
        prompts=20_000, epochs=10_000, generations=8, groups_per_step=16, steps=steps, open_groups=64,
        stops=max(steps // STEPS_PER_STOP, 1),
    )  # fmt: skip
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as file:
        for row in simulate(settings).iter_rows():
            file.write(encode(row) + b"\n")


def _seconds(analysis: str, path: Path) -> float:
    """CPU time of an analysis by itself."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, analysis, str(path)], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _mib(command: str, path: Path) -> float:
    """The most memory that a command took."""
    return spent_by(command, path).ru_maxrss / 1024


@pytest.mark.timeout(1800)
def test_restore_and_check(tmp_path: Path, report: dict[str, float]) -> None:
    """At most three times the time of the batch age; memory is bounded: little more for five times as many rows."""
    large, small = tmp_path / "large.jsonl", tmp_path / "small.jsonl"
    _write(large, ROWS)
    _write(small, FEWER_ROWS)
    age = _seconds("age", large)
    report["age, s of CPU"] = age
    for name, goal in MIB_MORE.items():
        ratio = _seconds(name, large) / age
        report[f"{name} / age (goal 3)"] = ratio
        more = _mib(name, large) - _mib(name, small)
        report[f"rtrace {name}: MiB more for five times the rows (goal {goal})"] = more
        assert ratio <= 3
        assert more <= goal
