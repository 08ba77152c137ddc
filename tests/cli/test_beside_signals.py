"""The second process of ``rtrace summary --all`` when one of the two is interrupted or killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.cli.program import LIMIT_S, Result, environment, rtrace

DEMO: Final = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"

_WAITING: Final = """
import os, signal, sys
from rtrace_otel.analysis.check import check
from rtrace_otel.analysis.reading import beside
from rtrace_otel.cli.main import main

def wait(reader):
    with open(sys.argv[1], "w") as file:
        file.write(f"{os.getpid()}\\n")
    while True:
        signal.pause()

signal.signal(signal.SIGINT, signal.default_int_handler)
beside.MIN_BYTES = 0
check.check_trace = wait
main(["summary", "--all", "--jobs", "2", sys.argv[2]])
"""
"""The program, but with a second process that says its number and never ends."""


@contextmanager
def _waiting(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Such a program in a process group of its own, and its second process as a file descriptor."""
    said = folder / "said"
    command: list[str | Path] = [sys.executable, "-c", _WAITING, said, DEMO]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True
    ) as process:
        second = None
        try:
            deadline = time.monotonic() + LIMIT_S
            while not said.exists() or not said.read_text().endswith("\n"):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            second = os.pidfd_open(int(said.read_text()))
            yield process, second
        finally:
            process.kill()
            if second is not None:
                os.close(second)


def _ended(process: int) -> bool:
    return bool(select.select([process], [], [], LIMIT_S)[0])


@pytest.mark.parametrize("to_both", [True, False], ids=["both", "the first"])
def test_an_interrupt_ends_both(to_both: bool, tmp_path: Path) -> None:
    """Whether it is typed on a terminal, or sent to the process that was started."""
    with _waiting(tmp_path) as (process, second):
        (os.killpg if to_both else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=LIMIT_S)
        assert _ended(second)
    assert (130, b"", b"interrupted") == (process.returncode, out, err.strip())


def test_the_second_process_ends_with_the_first(tmp_path: Path) -> None:
    """However that ended."""
    with _waiting(tmp_path) as (process, second):
        process.kill()
        assert _ended(second)


def test_a_signal_to_the_second_process_costs_nothing(tmp_path: Path) -> None:
    """The answer is whole, and nothing is said."""
    with _waiting(tmp_path) as (process, second):
        signal.pidfd_send_signal(second, signal.SIGTERM)
        out, err = process.communicate(timeout=LIMIT_S)
    expected = rtrace("summary", "--all", "--jobs", "1", DEMO)

    assert expected == Result(process.returncode, out.decode(), err.decode())
