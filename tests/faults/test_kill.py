"""SIGKILL at random times: what was emitted a moment ago is in the file, and the next run goes on in it."""

from __future__ import annotations

import mmap
import random
import signal
import subprocess
import time
from collections import Counter, deque
from pathlib import Path

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.trace import RolloutTrace
from tests.faults import child
from tests.faults.kill_programs import MOST_ROWS, emit_until_killed
from tests.pace import until

KILLS = 20
DURABLE_S = 0.015
"""Ten milliseconds, and one interval of five."""

WINDOW_S = 0.1
SAMPLE_S = 0.005
ORDINARY_S = 0.008
"""What a machine at rest adds up to within the window; only more than this excuses anybody."""


EXCUSED = KILLS // 4
"""Kills that may come while the writer waits for a processor: the kernel counts a wait only once it is over."""


class Noise:
    """How long the machine kept a process from working lately: waits for a processor, or for the disk.

    The first is what the kernel counts for the process's threads. The second, and what a hypervisor takes away, shows
    in how late a write of our own to the same disk is.
    """

    def __init__(self, pid: int, folder: Path) -> None:
        self._threads = Path(f"/proc/{pid}/task")
        self._probe = (folder / "probe").open("ab", buffering=0)
        self._samples: deque[tuple[float, dict[str, int], float]] = deque()
        self._last = time.monotonic()

    def sample(self) -> None:
        """Write, and look at the kernel's counts."""
        self._probe.write(b"x")
        now = time.monotonic()
        waited = {task.name: int((task / "schedstat").read_text().split()[1]) for task in self._threads.iterdir()}
        self._samples.append((now, waited, max(0.0, now - self._last - SAMPLE_S)))
        self._last = now
        while now - self._samples[0][0] > WINDOW_S:
            self._samples.popleft()

    def seconds(self) -> float:
        """All waits within the window, unless they are ordinary."""
        first, last = self._samples[0][1], self._samples[-1][1]
        waited_s = sum(last[name] - first.get(name, 0) for name in last) / 1e9
        late_s = max(late_s for _, _, late_s in self._samples)
        return waited_s + late_s if waited_s + late_s > ORDINARY_S else 0.0

    def close(self) -> None:
        """Stop to probe."""
        self._probe.close()


def kill_at_random(path: Path, acknowledged: Path, seed: int) -> int:
    """Run, kill, and tell how many rows must be in the file."""
    acknowledged.write_bytes(bytes(8 * MOST_ROWS))
    with acknowledged.open("rb") as file:
        times = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)).cast("d")
    with child.started(emit_until_killed, path, acknowledged) as process:
        wait_for_first(times, process)
        noise = Noise(process.pid, path.parent)
        until = time.monotonic() + random.Random(seed).uniform(0.02, 0.4)
        while time.monotonic() < until:
            noise.sample()
            time.sleep(SAMPLE_S)
        killed = time.monotonic()
        noise.sample()
        noise.close()
        process.send_signal(signal.SIGKILL)
        process.wait()
    durable = killed - DURABLE_S - noise.seconds()
    return sum(0.0 < emitted <= durable for emitted in times)


def wait_for_first(times: memoryview[float], process: subprocess.Popen[str]) -> None:
    """Return when the child emits."""
    until(lambda: times[0] or process.poll() is not None)
    assert times[0], process.communicate()


def test_killed_twenty_times(tmp_path: Path) -> None:
    """Every row older than the promise is readable after each kill, and no run harms the rows of another."""
    path = tmp_path / "trace.jsonl"
    promised = [kill_at_random(path, tmp_path / "times", seed) for seed in range(KILLS)]
    with RolloutTrace(path) as last:
        last.emit("mine")

    events = read_events(path)
    rows: Counter[str] = Counter()
    numbers: dict[str, list[int]] = {}
    for row in events:
        rows[row["run"]] += 1
        numbers.setdefault(row["run"], []).append(row.get("n", -1))
    report = events.report

    assert (KILLS + 1, 3) == (len(rows), rows[last.run])
    assert (0, 0) == (report.rows_missing, report.rows_out_of_order)
    assert KILLS >= sum(report.damage_counts.values())
    written = [len(kept) - 1 for run, kept in numbers.items() if run != last.run]
    assert [list(range(-1, count)) for count in written] == [numbers[run] for run in numbers if run != last.run]
    short = [(kept, owed) for kept, owed in zip(written, promised, strict=True) if kept < owed]
    assert len(short) <= EXCUSED, short
    assert min(promised) >= 0
    assert sum(promised) > 1_000
