"""Kills the process that reads a file, as a kernel short of memory does."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.pace import TRIES

_Answer = TypeVar("_Answer")


@contextmanager
def killing(root: int, path: str, kills: int) -> Iterator[list[int]]:
    """Kills descendants of a process while they have a file open, until so many are killed.

    Args:
        root: The process; none but its descendants are looked at.
        path: The file.
        kills: How many processes to kill.

    Yields:
        Those that were killed so far.
    """
    killed: list[int] = []
    ended = threading.Event()

    def run() -> None:
        while len(killed) < kills and not ended.wait(0.01):
            for pid in descendants(root) - set(killed):
                if len(killed) < kills and has_open(pid, path):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    killer = threading.Thread(target=run)
    killer.start()
    try:
        yield killed
    finally:
        ended.set()
        killer.join()


def on_the_way(act: Callable[[], _Answer], root: int, path: str, kills: int) -> _Answer:
    """Do something that has a file read, and kill that many readers of it.

    A reader can be through with the file before anybody has come to kill it: then it is all done again.

    Returns:
        What it gave when all were killed; the test fails if that never happened.
    """
    for _ in range(TRIES):
        with killing(root, path, kills) as killed:
            answer = act()
        if len(killed) == kills:
            return answer
    raise AssertionError(f"nobody was found reading {path}")


def descendants(root: int) -> set[int]:
    """The children of a process, their children, and so on."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found: set[int] = set()
    new = {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new} - found
        found |= new
    return found


def readers(within_s: float = 0.0) -> set[int]:
    """Processes that read traces for this one; waits so long for them to be gone."""
    end = time.monotonic() + within_s
    while (found := {pid for pid in descendants(os.getpid()) if _is_reader(pid)}) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def _is_reader(pid: int) -> bool:
    try:
        return b"rtrace_otel.fleet.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def has_open(pid: int, path: str) -> bool:
    """Whether a process has a file open."""
    try:
        return any(str(link.readlink()) == path for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False
