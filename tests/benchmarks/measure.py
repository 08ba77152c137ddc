"""Ratios measured side by side: the variants take turns, so that a slow spell of the machine hits them all."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from resource import struct_rusage

from tests.cli.program import RTRACE

Timed = Callable[[], float]


def interleaved(variants: Mapping[str, Timed], rounds: int) -> dict[str, list[float]]:
    """Run every variant once a round, in turn, after one round that does not count."""
    samples: dict[str, list[float]] = {name: [] for name in variants}
    for count in range(rounds + 1):
        for name, timed in variants.items():
            value = timed()
            if count:
                samples[name].append(value)
    return samples


def ratio(samples: Mapping[str, list[float]], of: str, to: str) -> float:
    """Median over the rounds of one variant's value by another's in the same round."""
    return statistics.median(a / b for a, b in zip(samples[of], samples[to], strict=True))


def drained(backlog: Callable[[], int]) -> None:
    """Wait until a recorder has written what it holds."""
    while backlog():
        time.sleep(0.002)
    time.sleep(0.01)


def rss_kib() -> int:
    """Resident memory of this process now, in KiB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0])


def spent_by(*arguments: str | Path) -> struct_rusage:
    """What a command of ours takes of processor and memory, its answer as JSON included."""
    command = [RTRACE, *arguments, "-q", "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return spent
