"""How fast each run came to life, and back to the pace of the one before."""

from __future__ import annotations

from collections import deque
from typing import Final

from rtrace_otel.analysis.checked import between

PACE_SEALS: Final = 64
"""Seals over which a pace is measured, at most."""

MIN_SEALS: Final = 8
"""Fewer seals make no pace."""

BACK_AT: Final = 0.9
"""Share of the pace before the stop at which a run counts as back."""


class RunPace:
    """When a run did something first, and how fast it seals.

    Attributes:
        started: First time of its rows.
        last: Latest time of its rows.
        first_dispatch: When it dispatched, or went on with, its first attempt.
        first_seal: When its first attempt was sealed.
        first_train_step: When it had trained its first step.
        back_at: When it sealed as fast as wanted.
    """

    __slots__ = ("_seals", "_wanted", "back_at", "first_dispatch", "first_seal", "first_train_step", "last", "started")

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.started: float | None = None
        self.last: float | None = None
        self.first_dispatch: float | None = None
        self.first_seal: float | None = None
        self.first_train_step: float | None = None
        self.back_at: float | None = None
        self._seals: deque[float] = deque(maxlen=PACE_SEALS)
        self._wanted: tuple[int, float] | None = None

    def saw(self, t: float | None) -> None:
        """A row of the run."""
        if t is None:
            return
        if self.started is None:
            self.started = t
        if self.last is None or t > self.last:
            self.last = t

    def dispatched(self, t: float | None) -> None:
        """The run dispatched an attempt, or went on with one."""
        if self.first_dispatch is None:
            self.first_dispatch = t

    def trained(self, t: float | None) -> None:
        """The run trained a step."""
        if self.first_train_step is None:
            self.first_train_step = t

    def sealed(self, t: float | None) -> None:
        """An attempt of the run was sealed."""
        if t is None:
            return
        if self.first_seal is None:
            self.first_seal = t
        self._seals.append(t)
        if self._wanted is not None and self.back_at is None:
            seals, pace = self._wanted
            if len(self._seals) >= seals and _pace(list(self._seals)[-seals:]) >= BACK_AT * pace:
                self.back_at = t

    def wants(self, before: RunPace) -> None:
        """Measure this run against the one that it took over from."""
        seals = len(before._seals)
        if seals >= MIN_SEALS:
            self._wanted = (seals, _pace(list(before._seals)))

    def since_start(self, t: float | None) -> float | None:
        """Seconds from the run's first row."""
        return between(self.started, t)


def _pace(seals: list[float]) -> float:
    """Seals a second between the first and the last of them."""
    span = seals[-1] - seals[0]
    return (len(seals) - 1) / span if span > 0 else float("inf")
