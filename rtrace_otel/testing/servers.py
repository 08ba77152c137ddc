"""The simulated clock and the inference servers, which know the version of every token."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import TypeAlias

from rtrace_otel.testing.state import Call

Action: TypeAlias = Callable[[], None]


class Agenda:
    """The clock, and what happens when.

    Args:
        now: Unix seconds.

    Attributes:
        now: As above; whole microseconds, so that rows and truth have the same times.
    """

    __slots__ = ("_entries", "_number", "now")

    def __init__(self, now: float) -> None:
        """Begin with nothing to do."""
        self.now = now
        self._entries: list[tuple[float, int, Action]] = []
        self._number = 0

    def after(self, seconds: float, action: Action) -> None:
        """Do this so many seconds from now."""
        self._number += 1
        heappush(self._entries, (self.now + seconds, self._number, action))

    def due(self) -> float | None:
        """When the next action is due."""
        return self._entries[0][0] if self._entries else None

    def advance_to(self, time: float) -> None:
        """Set the clock; it never goes back."""
        self.now = max(self.now, round(time, 6))

    def do_next(self) -> None:
        """Go to the next action and carry it out."""
        time, _, action = heappop(self._entries)
        self.advance_to(time)
        action()


class Servers:
    """Runs model calls. A refit pauses all of them; they go on with what they have.

    Args:
        agenda: The clock.
        version: Weight version in force, counted from the job's start.
        offset: What the run subtracts from it in its rows.

    Attributes:
        version: As above.
        cuts: By call: tokens at each refit and the label that it installed. This is what a controller has in memory.
    """

    __slots__ = ("_agenda", "_ends", "_number", "_offset", "_paused_at", "_paused_s", "_running", "cuts", "version")

    def __init__(self, agenda: Agenda, version: int, offset: int) -> None:
        """Begin without calls."""
        self._agenda = agenda
        self.version = version
        self.cuts: dict[str, list[tuple[int, int]]] = {}
        self._offset = offset
        self._paused_at: float | None = None
        self._paused_s = 0.0
        self._ends: list[tuple[float, int, Call, Action]] = []
        self._running: dict[str, Call] = {}
        self._number = 0

    @property
    def label(self) -> int:
        """The version in force, as the run counts."""
        return self.version - self._offset

    def begin(self, call: Call, when_done: Action) -> None:
        """Run a call to its last token, then do this."""
        call.began = self._clock()
        self._running[call.call_id] = call
        self._number += 1
        heappush(self._ends, (call.began + call.tokens / call.rate, self._number, call, when_done))

    def due(self) -> float | None:
        """When the next call ends; ``None`` if none runs or all are paused."""
        while self._ends and self._ends[0][2].call_id not in self._running:
            heappop(self._ends)
        if self._paused_at is not None or not self._ends:
            return None
        return self._ends[0][0] + self._paused_s

    def do_next(self) -> None:
        """Go to the end of the next call, and do what follows from it."""
        end, _, call, when_done = heappop(self._ends)
        self._agenda.advance_to(end + self._paused_s)
        del self._running[call.call_id]
        call.count_to(call.tokens, self.version)
        when_done()

    def pause(self) -> None:
        """No call makes tokens any more."""
        self._paused_at = self._agenda.now

    def install(self, version: int) -> list[list[object]]:
        """All calls go on with this version; returns their ids and tokens so far."""
        label = version - self._offset
        calls: list[list[object]] = []
        for call in self._running.values():
            tokens = self.count(call)
            self.cuts.setdefault(call.call_id, []).append((tokens, label))
            calls.append([call.call_id, tokens])
        if self._paused_at is not None:
            self._paused_s += self._agenda.now - self._paused_at
            self._paused_at = None
        self.version = version
        return calls

    def count(self, call: Call) -> int:
        """Tokens of a running call so far, counted under the version in force."""
        made = min(int((self._clock() - call.began) * call.rate), call.tokens)
        call.count_to(made, self.version)
        return call.counted

    def cancel(self, call: Call) -> None:
        """The call ends here, with the tokens that it has."""
        call.tokens = self.count(call)
        del self._running[call.call_id]

    def forget(self, calls: Iterable[Call]) -> None:
        """The cuts of these calls are not needed any more."""
        for call in calls:
            self.cuts.pop(call.call_id, None)

    def _clock(self) -> float:
        now = self._agenda.now if self._paused_at is None else self._paused_at
        return now - self._paused_s
