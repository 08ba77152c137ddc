"""Traces that are followed as long as somebody looks at them, each in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rtrace_otel.report.html.live import LiveReport, Told

LOOK_S: Final = 0.5
"""Seconds between two looks at a file."""

GRACE_S: Final = 10.0
"""A trace is followed so long after its last viewer has gone: a page that is loaded again finds it as it was."""


class Followed:
    """One trace. All methods may be called from any thread.

    Args:
        path: File or folder.
        grace_s: Seconds for which it is followed without a viewer.
    """

    def __init__(self, path: str, grace_s: float = GRACE_S) -> None:
        """Do nothing before somebody looks."""
        self.path = path
        self._grace_s = grace_s
        self._changed = threading.Condition()
        self._viewers = 0
        self._left = 0.0
        self._report: LiveReport | None = None

    @property
    def report(self) -> LiveReport | None:
        """What follows the file now; ``None`` if nobody looks."""
        return self._report

    @contextmanager
    def viewing(self) -> Iterator[LiveReport]:
        """Follow the trace until the block ends."""
        with self._changed:
            self._viewers += 1
            if self._report is None:
                self._report = LiveReport(self.path)
                threading.Thread(target=self._follow, args=(self._report,), name="rtrace-follow", daemon=True).start()
            report = self._report
        try:
            yield report
        finally:
            with self._changed:
                self._viewers -= 1
                self._left = time.monotonic()

    def wait(self, report: LiveReport, seen: Told | None, timeout: float) -> Told:
        """What is told now; waits for something else than what was seen, but no longer than so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: report.told is not seen, timeout)
            return report.told

    def first(self, report: LiveReport, timeout: float) -> Told:
        """What is told once there is a page."""
        with self._changed:
            self._changed.wait_for(lambda: report.told.data is not None, timeout)
            return report.told

    def _follow(self, report: LiveReport) -> None:
        while True:
            before = report.told
            try:
                more = report.look()
                report.update()
            except Exception as error:
                report.give_up(error)
                more = False
            with self._changed:
                if report.told is not before:
                    self._changed.notify_all()
                idle = not self._viewers and time.monotonic() - self._left >= self._grace_s
                if idle or report.given_up:
                    self._report = None
                    return
            if not more:
                time.sleep(LOOK_S)
