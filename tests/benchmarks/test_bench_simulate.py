"""How fast a job is simulated, and in how much memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_CHILD = """
import json, time
from itertools import islice
from rtrace_otel.testing.settings import SimulationSettings
from rtrace_otel.testing.simulate import simulate
from tests.benchmarks.measure import rss_kib
rows = simulate(SimulationSettings(epochs=10**6, steps=10**6, stops=0)).iter_rows()
warm = sum(1 for _ in islice(rows, 50_000))
before, start = rss_kib(), time.process_time()
made = sum(1 for _ in islice(rows, 1_000_000))
print(json.dumps({"rate": made / (time.process_time() - start), "extra_mib": (rss_kib() - before) / 1024}))
"""


@pytest.mark.timeout(600)
def test_a_million_rows(report: dict[str, float]) -> None:
    """At least 50,000 rows a second of processor time, in memory that does not grow."""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", _CHILD], capture_output=True, text=True, check=True, cwd=root)
    report.update(json.loads(done.stdout))

    assert report["rate"] >= 50_000
    assert report["extra_mib"] <= 4
