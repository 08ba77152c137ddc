"""The answers of the commands in the formats for scripts and for pages: whole texts, or every value."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import JOB
from tests.cli.program import Run, strict_json

AGE_CSV = """\
step,run,trained_version,logged,published,recomputed,p50,p95,max,tokens,cut_share,groups,groups_without_tokens,\
times_trained
5,aaaaaaaa00000001,4,0.0,0.0,0.0,0,0,0,1024,0.0,1,0,1
6,bbbbbbbb00000002,6,2.0,2.0,1.375,1,2,2,400,1.0,1,0,1
"""
SUMMARY_CSV = """\
run,started,lasted_s,ended_how,reason,restored_from,steps,rows,host,pid
aaaaaaaa00000001,1000.0,11.0,killed,,,5,12,node1,7
bbbbbbbb00000002,1012.0,7.0,clean,closed,ckpt-5,6,8,node2,8
"""
AGE_MD = """\
# Batch age of {}

Batch age 0.386 over 2 steps and 1,424 trained tokens (steps from 0.000 to 1.375).

## Batch age per step, in weight versions

| step | run | version | logged | published | recomputed | p50 | p95 | max | tokens | in cut calls | groups |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 5 | aaaaaaaa | 4 | 0.000 | 0.000 | 0.000 | 0 | 0 | 0 | 1,024 | 0 % | 1 |
| 6 | bbbbbbbb | 6 | 2.000 | 2.000 | 1.375 | 1 | 2 | 2 | 400 | 100 % | 1 |

Step 6 (run bbbbbbbb): the published age is 0.625 too old. 2 calls had been cut by refits in run aaaaaaaa, before it \
stopped; the restored controller no longer had these cuts and counted their tokens under the version that they began \
on. The recomputed age is right.

The age of 2 of 2 steps cannot be split into parts: version in force at publication unknown (steps 5-6).

## Token ages, in weight versions

| token age | tokens | share | as old or older |
| ---: | ---: | ---: | ---: |
| 0 | 1,024 | 72 % | 100 % |
| 1 | 250 | 18 % | 28 % |
| 2 | 150 | 11 % | 11 % |

## Batch age before each stop and after its restore

| restored | by run | steps before | age before | steps after | age after | change |
| --- | --- | --- | ---: | --- | ---: | ---: |
| ckpt-5 | bbbbbbbb | 5 | 0.000 | 6 | 1.375 | +1.375 |
"""


@pytest.mark.parametrize(("command", "expected"), [("age", AGE_CSV), ("summary", SUMMARY_CSV)])
def test_csv(command: str, expected: str, run: Run, job: Path) -> None:
    """The main table with raw values."""
    assert expected == run(command, job, "--format", "csv").out


def test_markdown(run: Run, job: Path) -> None:
    """The whole report; the file name is text."""
    assert AGE_MD.format(str(job).replace("_", "\\_")) == run("age", job, "--format", "md").out


def test_json_of_the_ages(run: Run, job: Path) -> None:
    """Strict JSON with its version first, the steps, the differences, and what the reader met."""
    found = strict_json(run("age", job, "--format", "json").out)
    difference = {"kind": "cuts lost in restore", "run": "bbbbbbbb00000002", "steps": [6], "smallest": 0.625,
                  "largest": 0.625, "calls": 2, "stopped_runs": ["aaaaaaaa00000001"]}  # fmt: skip

    assert ["schema_version", "command"] == list(found)[:2]
    assert (1, "age", [5, 6], [0.0, 1.375], [difference], 1424) == (
        found["schema_version"], found["command"], [step["step"] for step in found["steps"]],
        [step["recomputed"] for step in found["steps"]], found["differences"], found["tokens"],
    )  # fmt: skip
    assert (str(job), len(JOB), True) == (found["read"]["source"], found["read"]["rows"], found["read"]["intact"])


def test_json_of_the_summary(run: Run, job: Path) -> None:
    """Every count of the job; the ages are those of the other command."""
    found = strict_json(run("summary", job, "--format", "json").out)
    ages = strict_json(run("age", job, "--format", "json").out)

    assert (1, "summary") == (found.pop("schema_version"), found.pop("command"))
    assert ages["read"] == found.pop("read")
    assert {key: ages[key] for key in ("steps", "differences", "tokens", "batch_age")} == found.pop("ages")
    assert ["killed", "clean"] == [run["ended_how"] for run in found.pop("runs")]
    assert {
        "rows": 20,
        "attempts": {"begun": 4, "sealed": 2, "masked": 0, "abandoned": {"server error": 1}, "interrupted": 1,
                     "open": 0, "refusals": 0, "resumed": {}},
        "groups": {"reserved": 2, "brought_back": 1, "trained": 2, "trained_again": 0, "discarded": {},
                   "interrupted": 0, "open": 0},
        "steps_trained": 2, "steps_again": 0, "refits": 1, "calls_cut": 2, "refit_s": 0.02, "checkpoints": 1,
        "restores": 1, "other_events": {}, "perhaps_two_jobs": 0,
    } == found  # fmt: skip


@pytest.mark.parametrize("form", ["json", "csv", "md"])
def test_what_to_type_next_is_for_people_only(form: str, run: Run, job: Path) -> None:
    """Files and scripts do not want advice."""
    assert "rtrace age" not in run("summary", job, "--format", form).out
