"""Several processes give what one gives; one that is killed costs nobody else."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from rtrace_otel.fleet.patience import PATIENCE_S
from rtrace_otel.fleet.pool import _Worker, read_here, read_in_pool
from rtrace_otel.fleet.results import KILLED, Failure, FileResult, Outcome, decode
from tests.fleet.files import write_job
from tests.fleet.killing import on_the_way, readers
from tests.pace import SOON_S

SLOW_STEPS = 400
"""Reading such a trace takes a second or more: long enough to be killed on the way."""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Six small traces, and a path where there is none."""
    folder = tmp_path_factory.mktemp("jobs")
    return [*(str(write_job(folder / f"job{seed}", seed)) for seed in range(6)), str(folder / "gone.jsonl")]


def _in_order(outcomes: list[tuple[int, Outcome]]) -> list[Outcome]:
    assert sorted(place for place, _ in outcomes) == list(range(len(outcomes)))
    return [outcome for _, outcome in sorted(outcomes, key=lambda pair: pair[0])]


@pytest.mark.parametrize("processes", [1, 2, 3, 20])
def test_any_number_of_processes_gives_the_same(jobs: list[str], processes: int) -> None:
    """Every trace once, each with its own result, failures included."""
    assert _in_order(list(read_here(jobs))) == _in_order(list(read_in_pool(jobs, processes)))


def test_nothing_to_read_starts_nothing() -> None:
    """No trace, no process."""
    assert [] == list(read_in_pool([], 3))


@pytest.mark.parametrize(("kills", "lost"), [(1, 0), (2, 1)])
def test_a_process_that_is_killed_in_the_middle(jobs: list[str], tmp_path: Path, kills: int, lost: int) -> None:
    """Its trace is tried once more; killed again, it is listed. The others are all there, and no process is left."""
    slow = str(write_job(tmp_path / "slow", 9, steps=SLOW_STEPS))
    paths = [slow, *jobs]
    found = on_the_way(lambda: _in_order(list(read_in_pool(paths, 2))), os.getpid(), slow, kills)
    expected = _in_order(list(read_here(paths)))
    assert expected[1:] == found[1:]
    assert (Failure(slow, KILLED) if lost else expected[0]) == found[0]
    assert set() == readers(SOON_S)


def test_who_stops_early_leaves_no_process(jobs: list[str]) -> None:
    """As Ctrl-C does."""
    reading = read_in_pool(jobs, 2)
    next(reading)
    assert readers()
    reading.close()
    assert set() == readers(SOON_S)


def test_an_interrupt_does_not_reach_a_worker(tmp_path: Path) -> None:
    """Not even while it begins: the process that started it ends it."""
    worker = _Worker(PATIENCE_S)
    try:
        worker._process.send_signal(signal.SIGINT)
        worker.give(0, str(write_job(tmp_path, 1)))
        answers: list[bytes] | None = []
        while answers == []:
            answers = worker.read()
        assert answers is not None
        assert isinstance(decode(answers[0]), FileResult)
    finally:
        worker.end()


_KILLED: Final = """
import os, signal, sys
from rtrace_otel.fleet.pool import _Worker
worker = _Worker(30.0)
worker.give(0, sys.argv[1])
print(worker._process.pid, flush=True)
sys.stdin.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    """Also if that was killed, and whatever the worker does: this one waits for ever for a pipe's other end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", _KILLED, str(pipe)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = os.pidfd_open(int(process.stdout.readline()))
        try:
            process.communicate("\n", timeout=SOON_S)
            assert -signal.SIGKILL == process.returncode
            assert select.select([worker], [], [], SOON_S)[0]
        finally:
            os.close(worker)
