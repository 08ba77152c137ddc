"""Measuring on a machine that is busy with something else, and waiting on one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

SOON_S: Final = 120.0
"""For what only has to happen at all; a quiet machine needs a hundredth of it."""

TRIES: Final = 5
_WORK: Final = 300_000
_WORK_S: Final = 0.02
"""What a quiet machine needed for that work when the limits of tests were set."""

_TICK_S: Final = 0.01

_Answer = TypeVar("_Answer")


class AwakeClock:
    """Seconds in which this process ran: they do not pass while it, or the whole machine, stands still.

    A thread ticks; a tick counts as long as it took, but twice its length at most. So a call that hangs takes as long
    by this clock as by any other, and one that was only kept from running does not.
    """

    def __init__(self) -> None:
        """Begin to tick."""
        self._seconds = 0.0
        threading.Thread(target=self._tick, name="awake", daemon=True).start()

    def __call__(self) -> float:
        """Seconds since the begin."""
        return self._seconds

    def _tick(self) -> None:
        before = time.monotonic()
        while True:
            time.sleep(_TICK_S)
            now = time.monotonic()
            self._seconds += min(now - before, 2 * _TICK_S)
            before = now


def slowness(clock: Callable[[], float] = time.process_time) -> float:
    """How many times slower than then the interpreter works now, by a clock; at least 1."""
    spent = []
    for _ in range(TRIES):
        begun = clock()
        places = [0] * 64
        for n in range(_WORK):
            places[n & 63] += n
        spent.append(clock() - begun)
    return max(1.0, sorted(spent)[TRIES // 2] / _WORK_S)


def cpu_s(act: Callable[[], _Answer]) -> tuple[_Answer, float]:
    """What something gives, and the seconds of processor it takes: those of the machine on which limits were set."""
    before, begun = slowness(), time.process_time()
    answer = act()
    spent = time.process_time() - begun
    return answer, spent / max(before, slowness())


def until(holds: Callable[[], object], told: Callable[[], object] = lambda: "waited in vain") -> None:
    """Wait for a condition; the test fails with what is told then if it does not come."""
    end = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < end, told()
        time.sleep(0.005)


def within(limit: float, measured: Callable[[], tuple[_Answer, float]]) -> _Answer:
    """Measure until a measurement keeps to a limit: noise only ever adds, a fault is there every time.

    Args:
        limit: What may not be reached.
        measured: Gives an answer and what it cost.

    Returns:
        The answer of the measurement that kept to the limit; the test fails if none did.
    """
    costs = []
    for _ in range(TRIES):
        answer, cost = measured()
        costs.append(cost)
        if cost < limit:
            return answer
    raise AssertionError(f"{TRIES} measurements, none below {limit}: {costs}")
