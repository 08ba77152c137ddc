"""How other processes are started that read a file beside this one, and how they end with it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.context import ForkContext, SpawnContext


def way_to_start() -> ForkContext | SpawnContext:
    """A copy of this process is there at once; but locks that another thread holds would stay locked in it."""
    alone = threading.active_count() == 1
    return multiprocessing.get_context("fork") if alone else multiprocessing.get_context("spawn")


def may_start() -> bool:
    """Whether this process may start others: one that ends with its parent may not."""
    return not multiprocessing.current_process().daemon


def end_with_parent() -> None:
    """End this process when the one that started it is gone, even if that was killed.

    It would go on for nobody otherwise, or wait for ever to be heard: it holds both ends of its pipe if it is a copy.
    """
    threading.Thread(target=_outlive_no_parent, daemon=True).start()


def _outlive_no_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "only for processes that were started by another"
    parent.join()
    os._exit(1)
