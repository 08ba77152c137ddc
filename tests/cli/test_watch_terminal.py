"""``rtrace watch`` on a real terminal: what is on the screen, keys, signals, and the terminal afterwards."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import JOB
from tests.cli.emulator import BACK, watched
from tests.cli.program import LIMIT_S, RTRACE, environment, lines, write

LAST = {"event": "attempt_dispatched", "t": 1019.0, "run": "cccccccc", "seq": 0, "group_id": "g", "attempt_id": "late"}


def test_new_rows_appear_and_q_quits(job: Path) -> None:
    """The file grows, the screen follows, and the terminal is as it was at the end."""
    with watched(job) as view:
        view.until(lambda text: "rows       20," in text)
        with job.open("ab") as file:
            file.write(lines([LAST]))
        view.until(lambda text: all(part in text for part in ("rows       21,", "attempts   1 open", "late ")))
        view.press("q")

        assert 0 == view.ended()
        assert view.restored()


@pytest.mark.parametrize(("columns", "height"), [(40, 10), (60, 15), (140, 40), (30, 5)])
def test_it_takes_another_size_at_once(columns: int, height: int, job: Path) -> None:
    """Without waiting for the next look."""
    with watched(job, "--interval", "600") as view:
        view.until(lambda text: "q quits" in text)
        view.resize(columns, height)
        text = view.until(lambda text: text.startswith("rollout_trace.jsonl") or str(job) in text.split("\n")[0])
        view.until(lambda text: "rows       20" in text and ("q quits" in text or height < 10))
        assert height == len(text.split("\n"))
        view.press("q")

        assert 0 == view.ended()


def test_ctrl_c_ends_it(job: Path) -> None:
    """As any other command; the terminal is as it was."""
    with watched(job) as view:
        view.until(lambda text: "q quits" in text)
        view.press("\x03")

        assert 130 == view.ended()
        assert view.restored()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it(number: signal.Signals, job: Path) -> None:
    """With the status that a shell gives a program that a signal ended; the terminal is as it was."""
    with watched(job) as view:
        view.until(lambda text: "q quits" in text)
        view.process.send_signal(number)

        assert 128 + number == view.ended()
        assert view.restored()


def test_ctrl_z_gives_the_terminal_back_for_a_while(job: Path) -> None:
    """And it goes on where it is continued."""
    with watched(job) as view:
        view.until(lambda text: "q quits" in text)
        view.press("\x1a")
        _, status = os.waitpid(view.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        assert view.restored()

        before = view.drawn().count(BACK)
        view.process.send_signal(signal.SIGCONT)
        view.until(lambda _: b"\x1b[?1049h" in view.drawn().rpartition(BACK)[2])
        view.press("q")

        assert 0 == view.ended()
        view.until(lambda _: before < view.drawn().count(BACK))  # what it drew last may be on its way
        assert before + 1 == view.drawn().count(BACK)


def test_a_file_that_comes_and_is_replaced(tmp_path: Path) -> None:
    """It waits for the folder, reads the file, and reads the one that takes its place."""
    folder = tmp_path / "logs"
    with watched(folder) as view:
        view.until(lambda text: f"waiting for {folder}: no such file yet" in text)
        folder.mkdir()
        view.until(lambda text: "waiting for " in text and "rollout_trace.jsonl" in text)
        write(folder, JOB)
        view.until(lambda text: "rows       20," in text)
        write(tmp_path, JOB[:3], "other").replace(folder / "rollout_trace.jsonl")
        view.until(lambda text: "rows       3," in text and "! the file was replaced or cut short" in text)
        (folder / "rollout_trace.jsonl").unlink()
        view.until(lambda text: "! the file is gone; waiting for it to come back" in text)
        view.press("q")

        assert 0 == view.ended()


def test_a_gzip_is_refused(tmp_path: Path) -> None:
    """And the terminal is as it was."""
    (tmp_path / "t.jsonl").write_bytes(b"\x1f\x8b" + bytes(20))
    with watched(tmp_path / "t.jsonl", columns=300) as view:
        assert 1 == view.ended()
        assert view.restored()
        assert "is a gzip, which does not grow" in view.until(lambda text: "gzip" in text)


def test_it_ends_when_its_terminal_is_gone(job: Path) -> None:
    """Quietly: nobody is there to read a message."""
    ours, theirs = pty.openpty()
    command = [RTRACE, "watch", "--interval", "0.1", str(job)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE, env=environment()
    ) as process:
        os.close(theirs)
        drawn = b""
        while b"q quits" not in drawn:
            drawn += os.read(ours, 65536)
        os.close(ours)
        _, errors = process.communicate(timeout=LIMIT_S)

    assert (0, b"") == (process.returncode, errors)
