"""A process that reads traces for :mod:`rtrace_otel.fleet.pool`: a path in, a result out, one line each.

It is a program of its own and no fork: nothing of the parent (threads of file systems, open files) comes along, and
when the kernel kills it for its memory, the parent knows which trace it had. Traces in a store are read ahead while
they wait for their turn; their order stays. The first line is the patience with stores, in seconds, and the number of
the parent's process, which may be gone by the time that this one has begun.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Iterable
from typing import Final

from rtrace_otel.fleet.analyse import analyse_file
from rtrace_otel.fleet.results import encode
from rtrace_otel.fleet.sources import begun
from rtrace_otel.fleet.stores import Stores
from rtrace_otel.fleet.stream import Stream

_LOOK_S: Final = 0.1
"""Between two looks whether the parent is still there, once it gives no more traces."""

_Waiting = queue.SimpleQueue[tuple[str, Stream | None] | None]


def main() -> None:
    """Answer until there are no more paths."""
    answers = os.dup(1)
    os.dup2(2, 1)  # what anything prints must not look like an answer
    gc.freeze()  # nothing that is here by now ever becomes garbage
    waiting: _Waiting = queue.SimpleQueue()
    patience_s, parent = json.loads(sys.stdin.buffer.readline())
    stores = Stores(patience_s)
    threading.Thread(target=_take, args=(sys.stdin.buffer, stores, waiting, parent), daemon=True).start()
    with os.fdopen(answers, "wb", buffering=0) as out:
        while (given := waiting.get()) is not None:
            path, stream = given
            out.write(encode(analyse_file(path, stream=stream)) + b"\n")


def _take(lines: Iterable[bytes], stores: Stores, waiting: _Waiting, parent: int) -> None:
    """Begin with each trace as soon as it is given; the parent decides how many wait. When it is gone, end all."""
    try:
        for line in lines:
            path = json.loads(line)
            waiting.put((path, begun(path, stores)))
    finally:
        waiting.put(None)
    while os.getppid() == parent:
        time.sleep(_LOOK_S)
    os._exit(1)  # nobody wants the answer any more


if __name__ == "__main__":
    main()
