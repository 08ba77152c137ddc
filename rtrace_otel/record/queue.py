"""The queue between the caller's threads and the batch worker: bounded, lock-free for the caller, and countable.

``deque.append`` and ``len`` are atomic under the interpreter's lock, so a caller neither blocks nor can be caught
half-way by a signal handler or a finalizer that emits too.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Gap:
    """Marks where in the queue rows were lost.

    Attributes:
        since: Monotonic stamp of the first row lost there.
    """

    __slots__ = ("since",)

    def __init__(self, since: float) -> None:
        """Remember when the loss began."""
        self.since = since


class FlushMark:
    """Set once every row queued before it has been exported."""

    __slots__ = ("reached",)

    def __init__(self) -> None:
        """Begin unreached."""
        self.reached = threading.Event()


class RowQueue(deque[Any]):
    """Queued events, oldest first.

    Callers do, inline: ``if len(queue) < queue.limit: queue.append(item)`` and ``if queue.idle: queue.wake()``, else
    ``queue.lose(stamp)``. Everything else is the worker's.

    Args:
        limit: Most rows to hold; -1 refuses all.
        starter: Starts the worker; called by the first :meth:`wake`.

    Attributes:
        limit: As above; set to -1 when the recorder closes.
        idle: True while the worker sleeps until the next event.
        closing: The reason to write in ``run_ended``, once the recorder closes.
        refused: Rows that came after the recorder was closed.
    """

    __slots__ = ("_gap", "_gate", "_lost_by_thread", "_starter", "_starting", "closing", "idle", "limit", "refused")

    def __init__(self, limit: int, starter: Callable[[], None] | None) -> None:
        """Begin empty and dormant."""
        super().__init__()
        self.limit = limit
        self.revive(starter)

    def revive(self, starter: Callable[[], None] | None) -> None:
        """Forget everything, locks included: after a fork they may be held by threads that are not there."""
        self.clear()
        self.closing: str | None = None
        self.refused = 0
        self._gap: Gap | None = None
        self._lost_by_thread: dict[int, int] = {}
        self._gate = threading.Lock()
        self._gate.acquire()
        self._starting = threading.Lock()
        self._starter = starter
        self.idle = starter is not None

    @property
    def dormant(self) -> bool:
        """True until the worker was started."""
        return self._starter is not None

    @property
    def lost(self) -> int:
        """Rows lost to a full queue so far. Each thread counts its own, so no count is lost to a race."""
        return sum(list(self._lost_by_thread.values()))

    def wake(self) -> None:
        """Start the worker, or wake it if it sleeps. Costs a microsecond, and only after a quiet spell."""
        self.idle = False
        if self._starter is None:
            with suppress(RuntimeError):  # another thread woke it first
                self._gate.release()
        elif self._starting.acquire(blocking=False):
            starter, self._starter = self._starter, None
            try:
                starter()
            except Exception:  # no thread to be had now: rows wait, and the next event tries again
                self._starter = starter
                self.idle = True
            self._starting.release()

    def lose(self, stamp: float) -> None:
        """Count a row that does not fit, and mark the place in the queue where it is missing."""
        if self.limit < 0:
            self.refused += 1
            return
        thread = threading.get_ident()
        self._lost_by_thread[thread] = self._lost_by_thread.get(thread, 0) + 1
        if self._gap is None:
            self._gap = Gap(stamp)
            self.append((self._gap, stamp))
        if self.idle:
            self.wake()

    def close_gap(self) -> None:
        """Called by the worker when it reaches the mark, before it reads :attr:`lost`."""
        self._gap = None

    def pause(self, seconds: float) -> None:
        """Called by the worker between two looks at the queue; a flush or a close ends it early."""
        self._gate.acquire(timeout=seconds)

    def sleep_until_event(self) -> None:
        """Called by the worker when it has nothing to do: sleep without polling until the next event."""
        self.idle = True
        if self or self.closing is not None:
            self.idle = False
        else:
            self._gate.acquire()
