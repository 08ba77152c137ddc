"""Pictures of a large job: how long they take, how large they are, how much memory; and what following it costs."""

from __future__ import annotations

import json
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtrace_otel.report.html.live import LiveReport
from rtrace_otel.testing import SimulationSettings, simulate
from tests.cli.program import RTRACE, environment

ATTEMPTS = 100_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The trace of a job with three stops."""
    settings = SimulationSettings(
        prompts=20_000, epochs=10, generations=8, groups_per_step=16, steps=ATTEMPTS // 128, open_groups=64, stops=3,
        checkpoint_every=25,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("large") / "rollout_trace.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in simulate(settings).iter_rows())
    yield path
    path.unlink()


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("form", "name", "most_mb"),
    [("perfetto", "job.pftrace.gz", 15), ("chrome-trace", "job.json.gz", 20), ("png", "job.png", 2)],
)  # fmt: skip
def test_export(large: Path, tmp_path: Path, report: dict[str, float], form: str, name: str, most_mb: float) -> None:
    """A file that can be mailed, in less memory than a row of the trace for each attempt would take."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [RTRACE, "export", large, "--to", form, "-q", "-o", tmp_path / name]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment())
    report["seconds"] = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    report["s of CPU"] = after.ru_utime - before.ru_utime
    report["largest memory so far, MiB"] = after.ru_maxrss / 1024
    report["size, MB"] = size = (tmp_path / name).stat().st_size / 1e6

    assert (0, "") == (done.returncode, done.stderr)
    assert size <= most_mb


@pytest.mark.timeout(900)
def test_following(large: Path, report: dict[str, float]) -> None:
    """A row that is added costs less than a millisecond, whatever stands before it."""
    live = LiveReport(str(large))
    start = time.process_time()
    while live.look():
        pass
    report["s of CPU to read it all"] = whole = time.process_time() - start
    report["rows"] = rows = live.rows_folded
    start = time.process_time()
    live.update()
    report["s of CPU to tell of it"] = time.process_time() - start
    report["MB told"] = sum(len(text) for _, text in live.told.parts.values()) / 1e6
    with large.open("ab") as file:
        file.writelines(b'{"event":"mine","t":1e9,"run":"x","seq":%d}\n' % place for place in range(1_000))
    start = time.process_time()
    live.look()
    added = time.process_time() - start
    report["us for each row added"] = added * 1e3

    assert 1_000 == live.rows_folded - rows
    assert added < whole / 10
