"""A trace file that is followed: looks at it, and tells what it holds by the clock of the job."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from rtrace_otel.analysis.reading.tail import Tail
from rtrace_otel.analysis.watch.watching import WatchFold
from rtrace_otel.report.document import Document
from rtrace_otel.report.frame import Line
from rtrace_otel.report.watch import Screen, frame, watch_json
from rtrace_otel.report.watch_document import watch_document

_CLOCKS_AGREE_S: Final = 5.0
"""Rows may come this late without the clocks of the job and of this machine being different."""

_DAY_S: Final = 86_400.0


class Follower:
    """Follows one trace.

    Args:
        path: File or folder.
        clock: Wall clock of this machine, in Unix seconds.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.time) -> None:
        """Look at nothing yet."""
        self.tail = Tail(path)
        self._clock = clock
        self._fold = WatchFold()
        self._caught_up = False
        self._lags: deque[float] = deque(maxlen=32)

    def look(self) -> bool:
        """Take what was added to the file; gives whether there is more to read at once.

        Raises:
            TraceFileError: The file is none that can be followed.
        """
        known = self._caught_up and self.tail.state.ever_read
        anew, rows = self.tail.look()
        if anew:
            self._fold = WatchFold()
        new = 0
        for row in rows:
            self._fold.add(row)
            new += 1
        last, state = self._fold.last_row, self.tail.state
        # The rows of a file that was there before, or that was put there whole, are as old as they say.
        if new and known and not anew and last is not None and abs(self._clock() - last) < _DAY_S:
            self._lags.append(self._clock() - last)
        self._caught_up = not state.bytes_behind and state.problem is None
        return state.bytes_behind > 0

    def finish(self) -> None:
        """Take a last line that is whole but for its newline."""
        for row in self.tail.finish():
            self._fold.add(row)

    def now(self) -> float:
        """The time now, by the clock of the job if rows tell that it differs from that of this machine.

        A row comes late or very late, never early: the least lag of the latest looks is the difference of the clocks.
        """
        lag = min(self._lags, default=0.0)
        return self._clock() - (lag if abs(lag) > _CLOCKS_AGREE_S else 0.0)

    def frame(self, screen: Screen) -> list[Line]:
        """What to show now."""
        return frame(self._fold.snapshot(self.now()), self.tail.report, self.tail.state, screen)

    def values(self) -> dict[str, Any]:
        """The same as JSON values, with everything that a screen may have no room for."""
        return watch_json(self._fold.snapshot(self.now()), self.tail.report, self.tail.state)

    def document(self) -> Document:
        """The same for Markdown and CSV."""
        return watch_document(self._fold.snapshot(self.now()), self.tail.report, self.tail.state)
