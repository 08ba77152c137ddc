"""Divides a run's wall time between training, weight syncs, checkpoints and waiting; each second counts once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, TypeAlias

MAX_GAPS: Final = 256
"""Latest waits that work which is told of later can still claim; older ones are settled."""

Span: TypeAlias = tuple[float, float]
"""Start and end, in Unix seconds."""


class Part(StrEnum):
    """What a second went to."""

    WAITING = "waiting"
    TRAINING = "training"
    SYNCING = "syncing"
    CHECKPOINTING = "checkpointing"
    OTHER = "other"


class WallClock:
    """The wall time of one run, told of by the ends of its work.

    Work takes time that no work before it took: what two of them share belongs to the first that is told of. What
    lies between is waiting, and a checkpoint claims waiting only: while it runs, training and weight syncs go on.

    Args:
        start: Time of the run's first row, in Unix seconds.
    """

    def __init__(self, start: float) -> None:
        """Begin with nothing told."""
        self.settled = start
        self.has_worked = False
        self._seconds = dict.fromkeys(Part, 0.0)
        self._gaps: deque[Span] = deque()
        self._checkpoints: deque[Span] = deque(maxlen=MAX_GAPS)
        self._checkpoint_since: float | None = None

    def work(self, part: Part, start: float, end: float) -> None:
        """Work that took from one moment to another."""
        start = min(start, end)
        if start < self.settled:
            self._claim(part, start, end)
        elif start > self.settled:
            self._idle(self.settled, start)
        if end > self.settled:
            self._seconds[part] += end - max(start, self.settled)
            self.settled = end
        self.has_worked = True

    def checkpoint_started(self, time: float) -> None:
        """A checkpoint is being made from now on."""
        self._checkpoint_since = time

    def checkpoint_ended(self, start: float, end: float) -> None:
        """A checkpoint was made from one moment to another."""
        self._checkpoint_since = None
        self._checkpoints.append((start, end))
        self._claim(Part.CHECKPOINTING, start, end)

    def seconds(self) -> dict[Part, float]:
        """What has been told of so far, by part."""
        total = dict(self._seconds)
        total[Part.WAITING] += sum(end - start for start, end in self._gaps)
        return total

    def _idle(self, start: float, end: float) -> None:
        """Time without work; before the first work of the run it is no wait."""
        self.settled = end
        if not self.has_worked:
            self._seconds[Part.OTHER] += end - start
            return
        self._gaps.append((start, end))
        for since, until in self._checkpoints_after(start, end):
            self._claim(Part.CHECKPOINTING, max(since, start), until)
        while len(self._gaps) > MAX_GAPS:
            since, until = self._gaps.popleft()
            self._seconds[Part.WAITING] += until - since

    def _checkpoints_after(self, start: float, now: float) -> Iterator[Span]:
        """The checkpoint that is being made, and the latest ones that ended after a moment."""
        if self._checkpoint_since is not None:
            yield self._checkpoint_since, now
        for since, until in reversed(self._checkpoints):
            if until <= start:
                return
            yield since, until

    def _claim(self, part: Part, start: float, end: float) -> None:
        """Take from the latest waits what lies between two moments."""
        later: list[Span] = []
        while self._gaps and self._gaps[-1][1] > start:
            since, until = self._gaps.pop()
            first, last = max(since, start), min(until, end)
            if first >= last:
                later.append((since, until))
                continue
            self._seconds[part] += last - first
            later += [gap for gap in ((last, until), (since, first)) if gap[0] < gap[1]]
        self._gaps.extend(reversed(later))
