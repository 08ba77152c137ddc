"""How other processes are started that read a file beside this one, and how they end with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess


def way_to_start() -> ForkContext | SpawnContext:
    """A copy of this process is there at once; but locks that another thread holds would stay locked in it."""
    alone = threading.active_count() == 1
    return multiprocessing.get_context("fork") if alone else multiprocessing.get_context("spawn")


def may_start() -> bool:
    """Whether this process may start others: one that ends with its parent may not."""
    return not multiprocessing.current_process().daemon


def end(process: BaseProcess, connection: Connection) -> None:
    """End a process that was started, whatever it does; what it has still to say is lost."""
    connection.close()
    process.kill()
    process.join()
    process.close()


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Ctrl-C waits: a process that it hits while it begins would say so on standard error."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin() -> None:
    """First of all, in a process that was started: end at Ctrl-C without a word, and when the one that started it ends.

    Also if that was killed: this one would go on for nobody otherwise, or wait for ever to be heard, because it holds
    both ends of its pipe if it is a copy.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_outlive_no_parent, daemon=True).start()


def _outlive_no_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only for processes that were started by another"
    parent.join()
    os._exit(1)
