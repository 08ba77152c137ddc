"""What happens to open recorders when the process forks or exits."""

from __future__ import annotations

import atexit
import os
import sys
from typing import Final, Protocol


class Recorder(Protocol):
    """A recorder that must hear of forks and of the end of the process."""

    def begin_close(self, reason: str) -> None:
        """Begin to write what is queued and to stop."""

    def close(self, reason: str) -> bool:
        """Write what is queued and stop."""

    def after_fork(self) -> None:
        """Called in the child of a fork, where only the forking thread lives on."""


_open: Final[set[Recorder]] = set()


def register(recorder: Recorder) -> None:
    """Close the recorder at interpreter exit, and make it anew in the child of a fork."""
    _open.add(recorder)
    if "multiprocessing.process" in sys.modules and sys.modules["multiprocessing.process"].parent_process() is not None:
        close_at_end_of_child(recorder)


def unregister(recorder: Recorder) -> None:
    """The recorder was closed."""
    _open.discard(recorder)


def close_at_end_of_child(recorder: Recorder) -> None:
    """Children of ``multiprocessing`` end without ``atexit``; it has its own list of finalizers."""
    if "multiprocessing.util" in sys.modules:
        sys.modules["multiprocessing.util"].Finalize(None, recorder.close, args=("exit",), exitpriority=0)


@atexit.register
def _close_all() -> None:
    unhandled = getattr(sys, "last_type", None)
    reason = "exit" if unhandled is None else f"unhandled {unhandled.__name__}"
    recorders = list(_open)
    for recorder in recorders:  # all at once: each may have to wait for its own disk
        recorder.begin_close(reason)
    for recorder in recorders:
        recorder.close(reason)


def _renew_all() -> None:
    for recorder in list(_open):
        recorder.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
