"""The demo's metrics come through the collector, under the job's name and the run's id, as the dashboards ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

import pytest

from tests.integration.chain import JOB
from tests.integration.conftest import Job
from tests.servers import BUILD_TIMEOUT_S

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

Series: TypeAlias = Mapping[tuple[str, str], float]
"""Values by name and by what the series is about (outcome or fate)."""


def _series(job: Job, run: str) -> Series:
    """What the collector offered of one run, reasons added up."""
    found: dict[tuple[str, str], float] = {}
    for line in job.metrics.splitlines():
        shown = re.fullmatch(r"(rtrace_\w+)\{(.*)\} (\S+)", line)
        if shown is None:
            continue
        labels = dict(re.findall(r'(\w+)="([^"]*)"', shown[2]))
        if (labels["job"], labels["instance"]) == (JOB, run):
            key = str(shown[1]), str(labels.get("rtrace_outcome", labels.get("rtrace_fate", "")))
            found[key] = found.get(key, 0.0) + float(shown[3])
    return found


def test_the_last_run_is_counted(job: Job) -> None:
    """No count is above what the file has of the run; the last export may have been cut off, so it may be below."""
    run = job.runs[-1]
    rows = [row for row in job.events if row["run"] == run]
    sealed = [row for row in rows if row["event"] == "attempt_sealed"]
    most = {
        ("rtrace_attempts_total", "sealed"): len(sealed),
        ("rtrace_tokens_total", "sealed"): sum(row["tokens"] for row in sealed if not row.get("masked")),
        ("rtrace_steps_total", ""): sum(row["event"] == "train_step" for row in rows),
    }
    found = _series(job, run)
    assert most.keys() <= found.keys()
    assert [True] * 3 == [0 < found[key] <= most[key] for key in most]


def test_gauges_of_the_run(job: Job) -> None:
    """What no finished span tells: what is open, what waits, and the batch age of the last step."""
    names = {"rtrace_attempts_open", "rtrace_groups_open", "rtrace_queue_rows", "rtrace_spans_not_delivered"}
    wanted = {(name, "") for name in (*names, "rtrace_batch_age")}
    found = _series(job, job.runs[-1])
    assert wanted <= found.keys()
    ages = [row["batch_age"] for row in job.events if row["event"] == "train_step" and row["run"] == job.runs[-1]]
    assert any(abs(found["rtrace_batch_age", ""] - age) < 1e-9 for age in ages)
