"""A real Ray cluster gives what this machine gives, byte for byte, also when one of its workers is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtrace_otel.testing import SimulationSettings, simulate
from tests.cli.program import Result, lines, rtrace, strict_json
from tests.fleet.files import write_job
from tests.fleet.killing import on_the_way
from tests.fleet.stores import Store
from tests.servers import need_package

JOBS = 12
SLOW_STEPS = 400
"""Reading such a trace takes a second or more: long enough to be killed on the way."""


@dataclass(frozen=True)
class RayCluster:
    """A running cluster."""

    address: str
    pid: int


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    """Two nodes with three workers in all."""
    need_package("ray")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.fleet.ray_cluster"],
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "the cluster did not start"
        yield RayCluster(address, process.pid)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve jobs, one of them large, and a trace that cannot be read."""
    folder = tmp_path_factory.mktemp("jobs")
    for seed in range(JOBS):
        write_job(folder / f"job{seed}", seed, steps=4 if seed else SLOW_STEPS)
    (folder / "rollout_trace-none.jsonl").write_text("{}\n")
    return folder


def _fleet(jobs: Path, *arguments: str) -> Result:
    options = ("--no-cache", "--format", "json", "--by", "host", "--sort", "path")
    found = rtrace("fleet", jobs.name, *options, *arguments, cwd=jobs.parent)
    assert 0 == found.code, found.err
    return found


def _on(cluster: RayCluster) -> tuple[str, ...]:
    return ("--engine", "ray", "--ray-address", cluster.address)


def test_the_cluster_gives_the_same(cluster: RayCluster, jobs: Path) -> None:
    """Every job, the total, the groups, and what could not be read; paths are relative, as they were given."""
    here = _fleet(jobs)
    data = strict_json(here.out)
    assert (JOBS, 1) == (data["total"]["jobs"], len(data["failures"]))
    there = _fleet(jobs, *_on(cluster))
    assert here.out == there.out


def test_a_worker_that_is_killed_costs_nothing(cluster: RayCluster, jobs: Path) -> None:
    """Its trace is read once more by another, and nobody sees a difference."""
    here = _fleet(jobs)
    there = on_the_way(lambda: _fleet(jobs, *_on(cluster)), cluster.pid, f"{jobs}/job0/rollout_trace.jsonl", 1)
    assert here.out == there.out


def test_a_trace_that_kills_every_worker_is_listed(cluster: RayCluster, jobs: Path) -> None:
    """As on one machine, in the same words; the others are all there."""
    slow = f"{jobs}/job0/rollout_trace.jsonl"
    data = strict_json(on_the_way(lambda: _fleet(jobs, *_on(cluster)), cluster.pid, slow, 2).out)
    assert JOBS - 1 == data["total"]["jobs"]
    (reason,) = (
        failure["reason"] for failure in data["failures"] if failure["path"] == f"{jobs.name}/job0/rollout_trace.jsonl"
    )
    assert reason.startswith("the process that read it was killed")


def test_the_address_can_come_from_the_environment(cluster: RayCluster, jobs: Path) -> None:
    """As for every program that uses Ray."""
    found = rtrace(
        "fleet", jobs / "job1", "--no-cache", "--engine", "ray", env={"RAY_ADDRESS": cluster.address}
    )  # fmt: skip
    assert 0 == found.code, found.err


@pytest.mark.parametrize("bucket", ["s3"], indirect=True)
def test_credentials_reach_the_workers(cluster: RayCluster, bucket: Store) -> None:
    """The cluster was started without them; what cannot be read is said in the same words, and nothing is shown."""
    rows = [lines(simulate(SimulationSettings(seed=seed, prompts=20, steps=3)).rows) for seed in range(3)]
    bucket.put_all({f"ray/{place}/rollout_trace.jsonl": data for place, data in enumerate(rows)})
    bucket.put("ray/none/rollout_trace.jsonl", b"{}\n")
    options = ("fleet", bucket.address("ray"), "--no-cache", "--format", "json")
    here, there = rtrace(*options), rtrace(*options, *_on(cluster))
    assert (0, here.out) == (there.code, there.out)
    assert 3 == strict_json(there.out)["total"]["jobs"]


def test_no_cluster(jobs: Path) -> None:
    """The message says how to get one; it does not take minutes."""
    need_package("ray")
    found = rtrace("fleet", jobs, "--engine", "ray", "--ray-address", "127.0.0.1:1")
    assert (1, "") == (found.code, found.out)
    assert "error: no Ray cluster at '127.0.0.1:1'" in found.err
    assert "ray start --head" in found.err
