"""``rtrace fleet`` on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import JOB
from tests.cli.program import LIMIT_S, Run, rtrace, strict_json, write
from tests.cli.test_interrupt import HEEDING
from tests.fleet.files import write_job
from tests.fleet.killing import descendants, has_open
from tests.pace import TRIES, until
from tests.report.history import dispatched, ended, reserved, started, trace


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three jobs, one file that is no trace, and a cache of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "jobs"
    for name in ("math", "code"):
        (folder / name).mkdir(parents=True)
    write(folder / "math", JOB, after=b'{"event":"tr')
    write(folder / "code", trace(started("c", service="code", config={"model": "8B"}), reserved("c", "g"), ended("c")))
    write_job(folder / "sim", 3)
    (folder / "rollout_trace-none.jsonl").write_text("{}\n")
    return folder


def test_the_table(run: Run, jobs: Path) -> None:
    """Each job, the total, and what could not be read; the notes go to standard error."""
    found = run("fleet", jobs, "--jobs", 1)
    assert 0 == found.code
    for word in ("math", "code", "sim", "total", "3 jobs with ", "no rollout event in this file"):
        assert word in found.out
    assert "note: 4 traces in " in found.err


def test_the_second_time_reads_what_failed_only(run: Run, jobs: Path) -> None:
    """The answer is the same; the cache is where the environment says, and ``--no-cache`` leaves it alone."""
    cold = run("fleet", jobs, "--no-cache", "--format", "json")
    assert not (jobs.parent / "cache").exists()
    first, second = (run("fleet", jobs, "--format", "json") for _ in range(2))
    assert cold.out == first.out == second.out
    assert "as read before" not in first.err
    assert "note: 4 traces in " in second.err
    assert ", 3 of them as read before" in second.err
    assert (jobs.parent / "cache" / "rtrace" / "fleet").is_dir()
    elsewhere = run("fleet", jobs, "--format", "json", "--cache-dir", jobs.parent / "other", "-q")
    assert (cold.out, "") == (elsewhere.out, elsewhere.err)
    assert (jobs.parent / "other").is_dir()


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_any_number_of_processes_prints_the_same(run: Run, jobs: Path, processes: int) -> None:
    """Byte for byte."""
    arguments = ("--no-cache", "--format", "json", "--by", "service")
    assert run("fleet", jobs, *arguments, "--jobs", 1).out == run("fleet", jobs, *arguments, "--jobs", processes).out


def test_the_json(run: Run, jobs: Path) -> None:
    """Strict JSON whose total is the sum of the jobs, whatever the order of the sources."""
    data = strict_json(run("fleet", jobs, "--format", "json", "--by", "model", "--sort", "path").out)
    assert [f"{jobs}/{name}/rollout_trace.jsonl" for name in ("code", "math", "sim")] == [
        one["path"] for one in data["jobs"]
    ]
    for name in ("runs", "rows", "steps", "stops", "begun", "damages"):
        assert sum(one[name] for one in data["jobs"]) == data["total"][name], name
    assert [(None, 2), ("8B", 1)] == [(group["value"], group["jobs"]) for group in data["groups"]]
    sources = (jobs / "sim", jobs / "rollout_trace-none.jsonl", jobs / "m*", jobs / "code")
    assert data["total"] == strict_json(run("fleet", *sources, "--format", "json").out)["total"]


def test_since(run: Run, jobs: Path) -> None:
    """Jobs of 1970 are left out, and said to be."""
    found = run("fleet", jobs, "--since", "2001-01-01", "--format", "json")
    data = strict_json(found.out)
    assert ([f"{jobs}/sim/rollout_trace.jsonl"], 2) == ([one["path"] for one in data["jobs"]], data["older"])
    nothing = run("fleet", jobs, "--since", "1m")
    assert 0 == nothing.code
    assert "No job." in nothing.out
    assert "3 jobs left out: the last row is before " in nothing.out


def test_an_answer_in_a_file(run: Run, jobs: Path) -> None:
    """Never over one of the traces."""
    output = jobs.parent / "fleet.csv"
    assert 0 == run("fleet", jobs, "--format", "csv", "-o", output).code
    assert 5 == len(output.read_text().splitlines())
    over = run("fleet", jobs, "-o", jobs / "math" / "rollout_trace.jsonl")
    assert 1 == over.code
    assert "is the trace itself" in over.err


def test_an_answer_in_a_file_beside_a_trace_that_is_gone(run: Run, jobs: Path) -> None:
    """A link that leads nowhere is one of the failures, and no reason not to write the answer anew."""
    (jobs / "gone").mkdir()
    (jobs / "gone" / "rollout_trace.jsonl").symlink_to(jobs / "nowhere")
    output = jobs.parent / "fleet.json"
    for _ in range(2):
        assert 0 == run("fleet", jobs, "--format", "json", "-o", output).code
        assert "gone/rollout_trace.jsonl" in output.read_text()


def test_nothing_readable_is_an_error(run: Run, jobs: Path) -> None:
    """One trace that cannot be read among others is not."""
    none = run("fleet", jobs / "rollout_trace-none.jsonl")
    assert (1, "") == (none.code, none.out)
    assert f"error: {jobs}/rollout_trace-none.jsonl: no rollout event in this file" in none.err
    assert "(and 1 more trace that could not be read)" in run("fleet", jobs / "x*", jobs / "y*").err


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("",),
        ("{jobs}", "--by", ""),
        ("{jobs}", "--since", "yesterday"),
        ("{jobs}", "--jobs", "0"),
        ("{jobs}", "--sort", "x"),
    ],
)
def test_a_wrong_command_line(run: Run, jobs: Path, arguments: tuple[str, ...]) -> None:
    """Exit status 2, and nothing is read."""
    found = run("fleet", *(argument.format(jobs=jobs) for argument in arguments))
    assert (2, "") == (found.code, found.out)
    assert not (jobs.parent / "cache").exists()


def test_a_store_without_its_package(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    found = run("fleet", "s3://bucket/jobs")
    assert 1 == found.code
    assert "pip install 'rtrace-otel[fleet]'" in found.err


def test_the_installed_program(jobs: Path) -> None:
    """In a process of its own, from another folder, with relative paths."""
    env = {"XDG_CACHE_HOME": str(jobs.parent / "cache")}
    found = rtrace("fleet", "jobs", "--format", "json", cwd=jobs.parent, env=env)
    assert 0 == found.code
    assert [
        "jobs/code/rollout_trace.jsonl",
        "jobs/math/rollout_trace.jsonl",
        "jobs/sim/rollout_trace.jsonl",
    ] == sorted(one["path"] for one in json.loads(found.out)["jobs"])


def test_ctrl_c_ends_all_processes(tmp_path: Path) -> None:
    """Exit status 130, no answer, and nobody reads on."""
    slow = str(write_job(tmp_path, 1, steps=400))
    command = [*HEEDING, "fleet", slow, slow.replace("trace", "gone"), "--jobs", "2", "--no-cache"]
    for _ in range(TRIES):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            until(lambda: process.poll() is not None or any(has_open(p, slow) for p in descendants(process.pid)))
            workers = descendants(process.pid) - {process.pid}
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LIMIT_S)
        if process.returncode:
            break
        # It was through before the signal came.
    assert (130, "", "\ninterrupted\n") == (process.returncode, out, err)
    assert workers
    until(lambda: not [pid for pid in workers if Path(f"/proc/{pid}").exists()])


def test_refused_attempts_and_no_steps(run: Run, tmp_path: Path) -> None:
    """A job that has only begun: nothing is known of its ages and its waste, and nothing is made up."""
    path = write(tmp_path, trace(started("a"), reserved("a", "g"), dispatched("a", "x", "g")))
    (one,) = strict_json(run("fleet", path, "--format", "json", "--no-cache").out)["jobs"]
    assert (None, None, None, {}) == (one["age_mean"], one["age_p95"], one["waste"], one["ages"])
