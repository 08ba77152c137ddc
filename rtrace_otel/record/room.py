"""Room on the way to a collector for the spans of the run before, so that they push out none of the present run."""

from __future__ import annotations

from threading import Event
from typing import Final

from rtrace_otel.spans.delivery import TrackedExporter

MOST_SPANS: Final = 8192
"""Spans of the run before that may be on their way at once."""

PATIENCE_S: Final = 5.0
"""How long a collector may accept nothing before the rest is left to a replay: other collectors wait meanwhile."""

POLL_S: Final = 0.02


class Room:
    """Paces what one destination is sent of the run before.

    Args:
        exporter: It knows what came of each batch.
        queue: Spans that the destination's queue holds.
        closing: Set once the recorder closes; then nothing waits any more.
    """

    def __init__(self, exporter: TrackedExporter, queue: int, closing: Event) -> None:
        """Begin with nothing sent."""
        self._exporter = exporter
        self._most = max(1, min(MOST_SPANS, queue // 2))
        self._closing = closing
        self._sent = 0
        self._given_up = False

    def take(self) -> bool:
        """Whether one more span may be sent; waits while too many are on their way."""
        if not self._given_up and self._full:
            self._wait()
        if not self._given_up:
            self._sent += 1
        return not self._given_up

    @property
    def _full(self) -> bool:
        return self._sent - self._exporter.settled >= self._most

    def _wait(self) -> None:
        accepted, waited = self._exporter.count, 0.0
        while self._full and not self._given_up:
            if self._closing.wait(POLL_S):
                self._given_up = True
            elif (now := self._exporter.count) != accepted:
                accepted, waited = now, 0.0
            else:
                waited += POLL_S
                self._given_up = waited >= PATIENCE_S
