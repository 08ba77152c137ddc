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

from rtrace_otel.fleet.analyse import analyse_file
from rtrace_otel.fleet.results import KILLED, Failure, Outcome, decode

TRIES: Final = 2
"""How often a trace is given to a process before its failure is believed."""

_CHUNK: Final = 1 << 16


def read_here(paths: Sequence[str]) -> Iterator[tuple[int, Outcome]]:
    """Read traces in this process, one after the other.

    Args:
        paths: Paths or addresses.

    Yields:
        Place in ``paths``, and what came of it.
    """
    for place, path in enumerate(paths):
        yield place, analyse_file(path)


def read_in_pool(paths: Sequence[str], jobs: int) -> Generator[tuple[int, Outcome], None, None]:
    """Read traces in several processes; they end when the generator is closed.

    Args:
        paths: Paths or addresses.
        jobs: Processes, at most; at least 1.

    Yields:
        Place in ``paths`` and what came of it, in the order in which they are ready.
    """
    pool = _Pool(paths)
    try:
        for _ in range(min(jobs, len(paths))):
            pool.hire()
        while pool.busy:
            yield from pool.wait()
    finally:
        pool.close()


class _Worker:
    """A process, and the trace that it has."""

    def __init__(self) -> None:
        self.place = -1
        self._answer = b""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rtrace_otel.fleet.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert self._process.stdout is not None
        self.answers = self._process.stdout

    def give(self, place: int, path: str) -> None:
        self.place = place
        assert self._process.stdin is not None
        with suppress(OSError):  # it is dead, which shows when its answer is read
            self._process.stdin.write(json.dumps(path).encode("ascii") + b"\n")
            self._process.stdin.flush()

    def read(self) -> bytes | None:
        """Its answer once that is whole, nothing before that, ``None`` if it died."""
        more = os.read(self.answers.fileno(), _CHUNK)
        if not more:
            return None
        self._answer += more
        if not self._answer.endswith(b"\n"):
            return b""
        answer, self._answer = self._answer, b""
        return answer

    def end(self) -> None:
        self._process.kill()
        with suppress(OSError):
            self._process.communicate()


class _Pool:
    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._waiting = deque(range(len(paths)))
        self._tries = [0] * len(paths)
        self._selector = selectors.DefaultSelector()
        self.busy: set[_Worker] = set()

    def hire(self) -> None:
        """A new worker takes the next trace."""
        worker = _Worker()
        self.busy.add(worker)
        self._selector.register(worker.answers, selectors.EVENT_READ, worker)
        self._next(worker)

    def wait(self) -> Iterator[tuple[int, Outcome]]:
        """The answers that come next."""
        for key, _ in self._selector.select():
            worker: _Worker = key.data
            answer = worker.read()
            if answer is None:
                yield from self._died(worker)
            elif answer:
                place = worker.place
                self._next(worker)
                yield place, decode(answer)

    def close(self) -> None:
        for worker in tuple(self.busy):
            self._dismiss(worker)
        self._selector.close()

    def _next(self, worker: _Worker) -> None:
        if self._waiting:
            place = self._waiting.popleft()
            self._tries[place] += 1
            worker.give(place, self._paths[place])
        else:
            self._dismiss(worker)

    def _dismiss(self, worker: _Worker) -> None:
        self.busy.discard(worker)
        self._selector.unregister(worker.answers)
        worker.end()

    def _died(self, worker: _Worker) -> Iterator[tuple[int, Outcome]]:
        place = worker.place
        self._dismiss(worker)
        if self._tries[place] < TRIES:
            self._waiting.append(place)
        else:
            yield place, Failure(self._paths[place], KILLED)
        if self._waiting:
            self.hire()
