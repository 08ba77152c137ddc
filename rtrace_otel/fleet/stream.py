"""A file in a store, read ahead by a thread: nobody waits for its latency, nor for ever for a store that is silent."""

from __future__ import annotations

import io
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from rtrace_otel.errors import TraceFileError
from rtrace_otel.fleet.patience import Patience, is_silence, said

CHUNK: Final = 1 << 20
"""Bytes that are asked for at a time; a file that is read ahead holds two such parts."""

GIVE_UP: Final = 3
"""After so many files in a row without an answer, the others of that store are not waited for."""

Parts = Callable[[], Iterator[bytes]]
"""Opens a file and gives its bytes in parts, none of them empty; called in the thread that reads it."""


@dataclass(slots=True)
class Health:
    """Of one store: how many of its files in a row did not get an answer."""

    silent: int = 0

    @property
    def given_up(self) -> bool:
        """Whether to wait for it any longer."""
        return self.silent >= GIVE_UP


class Stream(io.RawIOBase):
    """A file that a thread opens and reads, beginning now; close it when done.

    Args:
        path: What to call it.
        parts: Opens and reads it.
        patience: How long to wait for each answer of its store.
        health: Of its store.
    """

    def __init__(self, path: str, parts: Parts, patience: Patience, health: Health) -> None:
        """Begin to read; what goes wrong is raised by who reads from it."""
        self.name = path
        self._patience = patience
        self._health = health
        self._filler = _Filler(parts)
        self._rest = memoryview(b"")
        self._ended = False
        self._failure: TraceFileError | None = None

    def readable(self) -> bool:
        """It is."""
        return True

    def wait(self) -> None:
        """Wait for its first bytes.

        Raises:
            TraceFileError: It cannot be opened or read, or no answer came.
        """
        if not self._rest and not self._ended:
            self._more()

    def readinto(self, buffer: Any) -> int:
        """Some of the next bytes; none at the end.

        Raises:
            TraceFileError: It cannot be read, or no answer came. Once raised, so at every later call.
        """
        self.wait()
        part = self._rest[: len(buffer)]
        buffer[: len(part)] = part
        self._rest = self._rest[len(part) :]
        return len(part)

    def close(self) -> None:
        """Let the thread end; it is not waited for."""
        self._filler.close()
        super().close()

    def _more(self) -> None:
        if self._failure is not None:
            raise self._failure
        part = self._next()
        if isinstance(part, Exception):
            self._failure = TraceFileError(self.name, said(part))
            raise self._failure
        self._rest = memoryview(part)
        self._ended = not part

    def _next(self) -> bytes | Exception:
        given_up = self._health.given_up
        try:
            part = self._filler.parts.get(timeout=0 if given_up else self._patience.left(self._filler.asked))
        except queue.Empty:
            if given_up:
                return TraceFileError(self.name, f"not waited for: {GIVE_UP} others in a row got no answer")
            part = self._patience.ended()
        self._health.silent = self._health.silent + 1 if isinstance(part, Exception) and is_silence(part) else 0
        return part


class _Filler:
    """The thread's side: it knows nothing of the stream, which can be forgotten before it ends."""

    def __init__(self, parts: Parts) -> None:
        self.parts: queue.Queue[bytes | Exception] = queue.Queue(maxsize=1)
        self.asked = time.monotonic()
        self._given = parts
        self._closed = threading.Event()
        # A daemon: a store that is silent for ever must not keep the program from ending.
        threading.Thread(target=self._fill, daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        # The thread may wait for room; with room for one part more, it sees that nobody wants it.
        with suppress(queue.Empty):
            self.parts.get_nowait()

    def _fill(self) -> None:
        try:
            for part in chain(self._given(), [b""]):
                self.parts.put(part)
                if self._closed.is_set():
                    return
                self.asked = time.monotonic()
        except Exception as error:  # it is raised by who reads
            if not self._closed.is_set():
                self.parts.put(error)
