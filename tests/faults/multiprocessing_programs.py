"""Recorders in the children of ``multiprocessing`` and ``concurrent.futures``."""

from __future__ import annotations

import json
import multiprocessing
import multiprocessing.context
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S

inherited: RolloutTrace | None = None


def emit_inherited(end: str) -> None:
    """Emit with the recorder that the parent made, and end."""
    assert inherited is not None
    inherited.emit("child")
    finish(end)


def emit_own(path: str, end: str) -> None:
    """Make a recorder in the child, emit, and end without a close."""
    RolloutTrace(path).emit("child")
    finish(end)


def finish(end: str) -> None:
    """End in one of the ways in which the body of a process ends."""
    if end == "exception":
        raise LookupError("child")
    if end == "sys.exit":
        sys.exit(3)


def context(method: str) -> Any:
    """The start method's own ``multiprocessing``."""
    return multiprocessing.get_context(method)


def inherit(path: str, end: str) -> None:
    """A forked process emits with its parent's recorder."""
    global inherited  # noqa: PLW0603 - what a fork inherits is a global
    inherited = RolloutTrace(path, run="parent")
    inherited.emit("mine")
    process = context("fork").Process(target=emit_inherited, args=(end,))
    process.start()
    process.join(SOON_S)
    print(json.dumps({"code": process.exitcode, "closed": inherited.close()}))


def make_own(path: str, method: str, end: str) -> None:
    """A process of any start method has a recorder of its own that it never closes."""
    process = context(method).Process(target=emit_own, args=(path, end))
    process.start()
    process.join(SOON_S)
    print(json.dumps({"code": process.exitcode}))


def emit_number(n: int) -> int:
    """A task of a pool."""
    assert inherited is not None
    inherited.emit("child", n=n)
    return n


def pool(path: str, kind: str) -> None:
    """The processes of a pool emit with the recorder that they inherited."""
    global inherited  # noqa: PLW0603 - what a fork inherits is a global
    inherited = RolloutTrace(path, run="parent")
    inherited.emit("mine")
    if kind == "Pool":
        with context("fork").Pool(2) as workers:
            done = workers.map(emit_number, range(20))
            workers.close()
            workers.join()
    else:
        with ProcessPoolExecutor(2, mp_context=context("fork")) as executor:
            done = list(executor.map(emit_number, range(20)))
    print(json.dumps({"done": done, "closed": inherited.close()}))
