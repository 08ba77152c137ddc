"""Rows that are simulated one by one need memory that does not grow with their number."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from tests.pace import within

ALLOWED_KIB: Final = 4 * 1024
"""The allocator's noise; over 200,000 rows a leak of one small object each is more."""

PROGRAM: Final = """
import re, sys
from itertools import islice
from rtrace_otel.testing.settings import SimulationSettings
from rtrace_otel.testing.simulate import simulate

faults = dict(error_rate=0.1, masked_rate=0.3, staleness_limit=3, replacements=True, give_up_after=2)
settings = {
    "one run": SimulationSettings(epochs=10**6, steps=10**6, stops=0, **faults),
    "many stops": SimulationSettings(epochs=10**6, steps=int(sys.argv[2]) // 50, stops=20, keeps="prefix", **faults),
}[sys.argv[1]]
rows = sum(1 for _ in islice(simulate(settings).iter_rows(), int(sys.argv[2])))
assert rows == int(sys.argv[2]), rows
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def _peak_kib(kind: str, rows: int) -> int:
    command = [sys.executable, "-c", PROGRAM, kind, str(rows)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("kind", ["one run", "many stops"])
def test_memory_does_not_grow_with_the_rows(kind: str) -> None:
    """Ten times as many rows need the same memory, faults and stops included."""

    def grown() -> tuple[None, float]:
        few, many = (_peak_kib(kind, rows) for rows in (20_000, 200_000))
        return None, many - few

    within(ALLOWED_KIB, grown)
