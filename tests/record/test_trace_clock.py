"""Times in the file while the host's clock is stepped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from rtrace_otel.events import Row
from rtrace_otel.record.clock import RunClock
from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S
from tests.record.written import all_rows


class HostClock:
    """The wall clock of a host, stepped by the test."""

    def __init__(self) -> None:
        self.shift_s = 0.0

    def wall(self) -> float:
        return time.time() + self.shift_s

    def make(self) -> RunClock:
        return RunClock(self.wall)


def emit_until(trace: RolloutTrace, file: Path, done: Callable[[list[Row]], bool]) -> list[Row]:
    """Emit every few milliseconds until the file is as expected, for the clock is looked at while rows come."""
    deadline = time.monotonic() + SOON_S
    while time.monotonic() < deadline:
        trace.emit("tick")
        time.sleep(0.01)
        assert trace.flush(SOON_S)
        rows = all_rows(file)
        if done(rows):
            return rows
    raise AssertionError("the clock was not looked at")


def adjustments(rows: list[Row]) -> list[float]:
    """The reported offsets, to whole seconds."""
    return [round(row["offset_s"]) for row in rows if row["event"] == "clock_adjusted"]


def times_never_decrease(rows: list[Row]) -> bool:
    """Whether ``t`` never goes down and the rows are numbered without a gap."""
    times = [row["t"] for row in rows]
    return sorted(times) == times and list(range(len(rows))) == [row["seq"] for row in rows]


def test_steps_are_rows(file: Path) -> None:
    """A step forward and a step back each give one row with its size, and no time goes back."""
    host = HostClock()
    with RolloutTrace(file, clock=host.make) as trace:
        host.shift_s = 1000.0
        ahead = emit_until(trace, file, lambda rows: len(adjustments(rows)) == 1)
        host.shift_s = 400.0
        emit_until(trace, file, lambda rows: len(adjustments(rows)) == 2)
        trace.emit("last")

    rows = all_rows(file)
    assert [1000.0, -600.0] == adjustments(rows)
    assert times_never_decrease(rows)
    assert abs(ahead[-1]["t"] - time.time() - 1000.0) < SOON_S


def test_no_step_no_row(file: Path) -> None:
    """An undisturbed clock, looked at more than once, leaves no row."""
    with RolloutTrace(file) as trace:
        begun = time.monotonic()
        emit_until(trace, file, lambda _: time.monotonic() - begun > 1.3)

    assert [] == adjustments(all_rows(file))


def test_times_are_wall_clock_times(file: Path) -> None:
    """A row's time lies between the wall clock before and after its call."""
    before = time.time()
    with RolloutTrace(file) as trace:
        trace.emit("mine")
    after = time.time()

    assert all(before - 0.1 <= row["t"] <= after + 0.1 for row in all_rows(file))


def test_threads_and_a_restless_clock(file: Path) -> None:
    """Four threads emit while the clock is stepped again and again: no time in the file is below the one before it."""
    host = HostClock()
    rows_of_each = 3000

    def emit() -> None:
        for n in range(rows_of_each):
            trace.emit("tick", n=n)
            if n % 100 == 0:
                time.sleep(0.001)

    with RolloutTrace(file, clock=host.make) as trace:
        threads = [threading.Thread(target=emit) for _ in range(4)]
        for thread in threads:
            thread.start()
        for shift_s in (50.0, -50.0) * 10:
            host.shift_s = shift_s
            time.sleep(0.005)
        for thread in threads:
            thread.join()

    rows = all_rows(file)
    assert 4 * rows_of_each == sum(row["event"] == "tick" for row in rows)
    assert times_never_decrease(rows)
