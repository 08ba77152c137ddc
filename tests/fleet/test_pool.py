"""Several processes give what one gives; one that is killed costs nobody else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rtrace_otel.fleet.pool import read_here, read_in_pool
from rtrace_otel.fleet.results import KILLED, Failure, Outcome
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
