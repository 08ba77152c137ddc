"""Ctrl-C ends a command quickly, quietly, and with the status that shells expect."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.cli.conftest import JOB
from tests.cli.program import LIMIT_S, RTRACE, environment, lines

HEEDING: Final = (
    sys.executable,
    "-c",
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])",
    RTRACE,
)
"""The program as a shell starts it in the foreground: a test run in the background passes on that SIGINT is ignored."""


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("command", ["age", "summary"])
def test_an_interrupt_while_reading(command: str, form: str, tmp_path: Path) -> None:
    """Status 130, one word on standard error, no traceback and no half an answer."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [*HEEDING, command, fifo, "--format", form],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    try:
        # Opening a FIFO to write returns when the program has opened it to read.
        with fifo.open("wb", buffering=0) as pipe:
            pipe.write(lines(JOB[:5]))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()
        process.wait()

    assert (130, b"", b"interrupted") == (process.returncode, out, err.strip())
