"""Traces read by several processes of this machine: one that is killed costs its own trace a second try, no other."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from typing import Final

from rtrace_otel.analysis.reading.starting import no_interrupt
from rtrace_otel.fleet.analyse import analyse_file
from rtrace_otel.fleet.patience import PATIENCE_S
from rtrace_otel.fleet.results import KILLED, Failure, Outcome, decode
from rtrace_otel.fleet.sources import begun, is_remote
from rtrace_otel.fleet.stores import Stores
from rtrace_otel.fleet.stream import Stream

TRIES: Final = 2
"""How often a trace is given to a process before its failure is believed."""

AHEAD: Final = 8
"""Traces in a store that a process has at a time: one that it analyses, and others that are being read meanwhile."""

_CHUNK: Final = 1 << 16


def read_here(paths: Sequence[str], patience_s: float = PATIENCE_S) -> Iterator[tuple[int, Outcome]]:
    """Read traces in this process, one after the other; those in a store are read ahead.

    Args:
        paths: Paths or addresses.
        patience_s: How long a store is waited for, in seconds.

    Yields:
        Place in ``paths``, and what came of it.
    """
    stores = Stores(patience_s)
    streams: deque[Stream | None] = deque()
    try:
        for place, path in enumerate(paths):
            following = paths[place + len(streams) : place + AHEAD]
            streams.extend(begun(one, stores) for one in following)
            yield place, analyse_file(path, stream=streams.popleft())
    finally:
        for stream in filter(None, streams):
            stream.close()


def read_in_pool(
    paths: Sequence[str], jobs: int, patience_s: float = PATIENCE_S
) -> Generator[tuple[int, Outcome], None, None]:
    """Read traces in several processes; they end when the generator is closed.

    Args:
        paths: Paths or addresses.
        jobs: Processes, at most; at least 1.
        patience_s: How long a store is waited for, in seconds.

    Yields:
        Place in ``paths`` and what came of it, in the order in which they are ready.
    """
    pool = _Pool(paths, min(jobs, len(paths)), patience_s)
    try:
        pool.open()
        while pool.busy:
            yield from pool.wait()
    finally:
        pool.close()


class _Worker:
    """A process, and the traces that it has: it works on the first."""

    def __init__(self, patience_s: float) -> None:
        self.places: deque[int] = deque()
        self._answers = b""
        with no_interrupt():  # it keeps that: Ctrl-C is for this process, which ends its workers
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rtrace_otel.fleet.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        assert self._process.stdout is not None
        self.answers = self._process.stdout
        self._tell([patience_s, os.getpid()])

    def give(self, place: int, path: str) -> None:
        self.places.append(place)
        self._tell(path)

    def _tell(self, value: str | list[float]) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # it is dead, which shows when its answer is read
            self._process.stdin.write(json.dumps(value).encode("ascii") + b"\n")
            self._process.stdin.flush()

    def read(self) -> list[bytes] | None:
        """The answers that are whole by now, in the order of its traces; ``None`` if it died."""
        more = os.read(self.answers.fileno(), _CHUNK)
        if not more:
            return None
        *whole, self._answers = (self._answers + more).split(b"\n")
        return whole

    def end(self) -> None:
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


class _Pool:
    def __init__(self, paths: Sequence[str], jobs: int, patience_s: float) -> None:
        self._paths = paths
        self._jobs = jobs
        self._patience_s = patience_s
        self._waiting = deque(range(len(paths)))
        self._deaths = [0] * len(paths)
        self._selector = selectors.DefaultSelector()
        self.busy: set[_Worker] = set()

    def open(self) -> None:
        for _ in range(self._jobs):
            self._hire()

    def wait(self) -> Iterator[tuple[int, Outcome]]:
        """The answers that come next."""
        for key, _ in self._selector.select():
            worker: _Worker = key.data
            answers = worker.read()
            if answers is None:
                yield from self._died(worker)
            elif answers:
                done = [(worker.places.popleft(), answer) for answer in answers]
                self._feed(worker)
                yield from ((place, decode(answer)) for place, answer in done)

    def close(self) -> None:
        for worker in tuple(self.busy):
            self._dismiss(worker)
        self._selector.close()

    def _hire(self) -> None:
        """A new worker takes the next traces, if there are any."""
        if self._waiting:
            worker = _Worker(self._patience_s)
            self.busy.add(worker)
            self._selector.register(worker.answers, selectors.EVENT_READ, worker)
            self._feed(worker)

    def _feed(self, worker: _Worker) -> None:
        while self._waiting and len(worker.places) < self._depth():
            place = self._waiting.popleft()
            worker.give(place, self._paths[place])
        if not worker.places:
            self._dismiss(worker)

    def _depth(self) -> int:
        """How many traces a worker may have if it takes the next one: fewer towards the end, so that none idles."""
        if not is_remote(self._paths[self._waiting[0]]):
            return 1
        return min(AHEAD, 1 + len(self._waiting) // (2 * self._jobs))

    def _dismiss(self, worker: _Worker) -> None:
        self.busy.discard(worker)
        self._selector.unregister(worker.answers)
        worker.end()

    def _died(self, worker: _Worker) -> Iterator[tuple[int, Outcome]]:
        """The trace that it worked on is tried once more, at the end; those that waited are as they were."""
        self._dismiss(worker)
        place, *others = worker.places
        self._waiting.extendleft(reversed(others))
        self._deaths[place] += 1
        if self._deaths[place] < TRIES:
            self._waiting.append(place)
        else:
            yield place, Failure(self._paths[place], KILLED)
        self._hire()
