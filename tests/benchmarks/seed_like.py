"""The plain design that NeMo RL's documentation describes, written from that description: the baseline.

``emit`` makes a dict with ``time.time()`` and puts it on a ``SimpleQueue``; a thread takes what is queued, encodes each
row with ``json.dumps``, and appends with one write and flush.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any


class SeedLikeTrace:
    """Records events the plain way."""

    def __init__(self, path: Path) -> None:
        """Open the file and start the thread."""
        self._run = "0123456789abcdef"
        self._file = path.open("a", encoding="utf-8")
        self._queue: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write_lines, daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Rows waiting."""
        return self._queue.qsize()

    def emit(self, event: str, **fields: Any) -> None:
        """Queue one event."""
        self._queue.put({"t": time.time(), "run": self._run, "event": event, **fields})

    def close(self) -> None:
        """Write what is queued and stop."""
        self._queue.put(None)
        self._thread.join()
        self._file.close()

    def _write_lines(self) -> None:
        stopped = False
        while not stopped:
            rows = [self._queue.get()]
            while True:
                try:
                    rows.append(self._queue.get_nowait())
                except Empty:
                    break
            if rows[-1] is None:
                stopped = True
            self._file.write("".join(json.dumps(row) + "\n" for row in rows if row is not None))
            self._file.flush()
