"""What a host may do to the recorder's descriptor."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S

NUMBERS = 64


def close_all_descriptors(path: str) -> None:
    """Close every descriptor but the standard ones, as a process that becomes a daemon does, several times."""
    trace = RolloutTrace(path, run="r")
    for n in range(5):
        trace.emit("mine", n=n)
        trace.flush(SOON_S)
        os.closerange(3, NUMBERS)
    trace.emit("mine", n=5)
    print(json.dumps({"closed": trace.close()}))


def reuse_all_numbers(path: str, victim: str, end: str) -> None:
    """Give every number to another file, and go on; ``end`` says whether more is emitted before the close."""
    trace = RolloutTrace(path, run="r")
    trace.emit("mine", n=0)
    trace.flush(SOON_S)
    os.closerange(3, NUMBERS)
    Path(victim).write_bytes(b"victim\n")
    fds = [os.open(victim, os.O_RDWR | os.O_APPEND) for _ in range(3, NUMBERS)]
    if end == "emit":
        trace.emit("mine", n=1)
        trace.flush(SOON_S)
    closed = trace.close()
    print(json.dumps({"closed": closed, "open": sum(is_open(fd) for fd in fds), "taken": len(fds)}))


def reuse_number_for_the_same_file(path: str, flags: str) -> None:
    """Give every number to the trace's own file, opened in another way."""
    trace = RolloutTrace(path, run="r")
    trace.emit("mine", n=0)
    trace.flush(SOON_S)
    os.closerange(3, NUMBERS)
    for _ in range(3, NUMBERS - 8):
        os.open(path, int(flags))
    trace.emit("mine", n=1)
    flushed = trace.flush(SOON_S)
    print(json.dumps({"flushed": flushed, "closed": trace.close()}))


def change_folder(path: str, elsewhere: str) -> None:
    """Record to a relative path, change the working folder, and lose the descriptor."""
    os.chdir(Path(path).parent)
    trace = RolloutTrace(Path(path).name, run="r")
    trace.emit("mine", n=0)
    trace.flush(SOON_S)
    os.chdir(elsewhere)
    os.closerange(3, NUMBERS)
    trace.emit("mine", n=1)
    print(json.dumps({"closed": trace.close()}))


def without_standard_streams(path: str, answer: str) -> None:
    """Record in a process that was started without standard input, output and errors, and write to the latter."""
    for fd in range(3):
        os.close(fd)
    trace = RolloutTrace(path, run="r")
    trace.emit("mine", n=0)
    trace.flush(SOON_S)
    refused = 0
    for fd in range(3):
        try:
            os.write(fd, b"noise of a library\n")
        except OSError:
            refused += 1
    closed = trace.close()
    Path(answer).write_text(json.dumps({"closed": closed, "refused": refused}))
    sys.stdout = sys.stderr = None


def list_descriptors_of_a_child(path: str) -> None:
    """Start another program while recording, which says what its descriptors are."""
    trace = RolloutTrace(path, run="r")
    trace.emit("mine", n=0)
    trace.flush(SOON_S)
    sys.stdout.flush()
    pid = os.posix_spawn("/bin/ls", ["ls", "-l", "/proc/self/fd"], os.environ)
    os.waitpid(pid, 0)
    trace.close()


def is_open(fd: int) -> bool:
    """Whether the process has a descriptor of that number."""
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
