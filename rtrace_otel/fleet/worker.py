"""A process that reads traces for :mod:`rtrace_otel.fleet.pool`: a path in, a result out, one line each.

It is a program of its own and no fork: nothing of the parent (threads of file systems, open files) comes along, and
when the kernel kills it for its memory, the parent knows which trace it had.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys

from rtrace_otel.fleet.analyse import analyse_file
from rtrace_otel.fleet.results import encode


def main() -> None:
    """Answer until there are no more paths."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    answers = os.dup(1)
    os.dup2(2, 1)  # what anything prints must not look like an answer
    gc.freeze()  # nothing that is here by now ever becomes garbage
    with os.fdopen(answers, "wb", buffering=0) as out:
        for line in sys.stdin.buffer:
            out.write(answer(json.loads(line)) + b"\n")


def answer(path: str, where: str | None = None) -> bytes:
    """What comes of a trace, as it travels; the same on this machine and on any other.

    Args:
        path: Path or address.
        where: Where to open it, if that is another name for it.
    """
    return encode(analyse_file(path, where))


if __name__ == "__main__":
    main()
