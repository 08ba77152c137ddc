"""The traces that are served: found, numbered for good, and followed on demand."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rtrace_otel.analysis.reading.discovery import find_traces
from rtrace_otel.analysis.watch.glance import Glance, glance
from rtrace_otel.cli.followed import Followed
from rtrace_otel.report.html.index import index_page

SEARCH_AGAIN_S: Final = 5.0


class TracesServed:
    """Traces by number; a number never means another file. All methods may be called from any thread.

    Args:
        places: Files and folders.
    """

    def __init__(self, places: Sequence[str]) -> None:
        """Search nothing yet."""
        self._places = [Path(place) for place in places]
        self._lock = threading.Lock()
        self._numbers: dict[Path, int] = {}
        self._traces: list[Followed] = []
        self._glances: dict[Path, tuple[tuple[int, int] | None, Glance]] = {}
        self._searched = -float("inf")
        self._page = ""

    @property
    def only(self) -> bool:
        """Whether there is nothing to choose from."""
        if not self._traces:
            self.index()
        return len(self._places) == 1 and len(self._traces) == 1

    def trace(self, number: int) -> Followed | None:
        """The trace with this number; a search, which can be slow, is not waited for if it is known already."""
        if number >= len(self._traces):
            self.index()
        return self._traces[number] if 0 <= number < len(self._traces) else None

    def index(self) -> str:
        """The page from which to choose; the folders are searched again after a while."""
        with self._lock:
            if time.monotonic() - self._searched >= SEARCH_AGAIN_S:
                self._page = self._search()
                self._searched = time.monotonic()
            return self._page

    def _search(self) -> str:
        found = find_traces(self._places)
        for path in found.paths:
            if path not in self._numbers:
                self._numbers[path] = len(self._traces)
                self._traces.append(Followed(str(path)))
        rows = [(self._numbers[path], self._name(path), self._glance(path)) for path in found.paths]
        return index_page(rows, found.given_up, time.time())

    def _name(self, path: Path) -> str:
        """The path below the folder that was named, if it was only one."""
        base = self._places[0]
        return os.path.relpath(path, base) if len(self._places) == 1 and path.is_relative_to(base) else str(path)

    def _glance(self, path: Path) -> Glance:
        """The glance of before, if the file is as it was."""
        try:
            stat = path.stat()
            identity = (stat.st_size, stat.st_mtime_ns)
        except OSError:
            identity = None
        before = self._glances.get(path)
        if before is None or before[0] != identity:
            before = self._glances[path] = (identity, glance(path))
        return before[1]
