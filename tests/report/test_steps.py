"""The report of ``rtrace steps``: whole texts for small results."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from rtrace_otel.analysis.step_results import StepRecord, StepsReport, WallTime, added_up
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.steps import findings, steps_document, steps_json
from tests.report.history import event, trace
from tests.report.timed import JOB

REPORT = train_steps(JOB)
EMPTY = StepsReport((), {}, WallTime(0, 0, 0, 0, 0, 0), 0.0, {})
HOUR = WallTime(3600.0, 1800.0, 1080.0, 360.0, 180.0, 180.0)


def test_a_report_as_markdown() -> None:
    """Where the time goes, who waits, the steps, and the time of each run."""
    expected = """\
# Training steps of trace.jsonl

Of 36.0 s: 21 % waiting for groups, 8 % training, 6 % syncing weights, 38 % other, 28 % stopped between runs.

Trainer waits in 1 of 1 step: more than 10 % of the cycle went by in waiting for groups, and none was left over.

## Training steps

| step | run | started (UTC) | ended (UTC) | waited | trained | synced | cycle | groups | in queue | attempts open \
| tokens | tokens/s | verdict |
| ---: | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| 5 | a | 1970-01-01 00:00:12 | 1970-01-01 00:00:15 | 5.0 s | 3.0 s | 1.0 s | 9.0 s | 1 | 1 | 2 | 150 | 17 \
| trainer waits |

## Where the time of each run went

| run | wall time | waiting | training | syncing | checkpoint | other |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| a | 20.0 s | 5.0 s | 3.0 s | 1.5 s | 0 ms | 10.5 s |
| b | 6.0 s | 2.5 s | 0 ms | 500 ms | 0 ms | 3.0 s |
"""
    assert expected == to_markdown(steps_document(REPORT, "trace.jsonl"))


def test_a_report_as_csv() -> None:
    """All columns with raw values; 150 tokens in 9 s."""
    expected = (
        "step,run,started,ended,wait_s,train_s,sync_s,cycle_s,groups,queue,open_attempts,tokens,tokens_per_s,verdict\n"
        f"5,a,12.0,15.0,5.0,3.0,1.0,9.0,1,1,2,150,{150 / 9},trainer waits\n"
    )
    assert expected == to_csv(steps_document(REPORT, "f"))


def test_a_report_as_json_values() -> None:
    """Every field under its own name, and what follows from them."""
    step = {
        "step": 5, "run": "a", "started": 12.0, "ended": 15.0, "wait_s": 5.0, "train_s": 3.0, "sync_s": 1.0,
        "groups": 1, "tokens": 150, "queue": 1, "open_attempts": 2, "cycle_s": 9.0, "tokens_per_s": 150 / 9,
        "verdict": "trainer waits",
    }  # fmt: skip
    run_a = {"run": "a", "total_s": 20.0, "waiting_s": 5.0, "training_s": 3.0, "syncing_s": 1.5,
             "checkpointing_s": 0.0, "other_s": 10.5}  # fmt: skip
    found = steps_json(REPORT)

    assert ([step], run_a, ["a", "b"]) == (found["steps"], found["runs"][0], [run["run"] for run in found["runs"]])
    assert (asdict(REPORT.all_runs), 10.0, {"trainer waits": 1}) == (
        found["all_runs"], found["stopped_s"], found["verdicts"]
    )  # fmt: skip


def test_without_steps_the_report_says_so() -> None:
    """An empty table is still a table, for CSV."""
    document = steps_document(EMPTY, "f")

    assert [
        "No time passes between the rows: where the time went is not known.",
        "No training step in this file.",
    ] == findings(EMPTY)
    assert 1 == len(to_csv(document).splitlines())


def test_what_takes_next_to_nothing_is_not_named() -> None:
    """An hour with half of it waiting; syncs of 10 s round to 0 %."""
    brief = replace(HOUR, waiting_s=2150.0, syncing_s=10.0)
    report = replace(EMPTY, runs={"a": brief}, all_runs=brief)

    assert (
        "Of 1 h 0 min: 60 % waiting for groups, 30 % training, 5 % waiting during a checkpoint, 5 % other."
        == findings(report)[0]
    )


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"balanced": 2}, "Balanced in 2 of 2 steps."),
        (
            {"rollouts wait": 1, "balanced": 1},
            (
                "Rollouts wait in 1 of 2 steps: at least 2 times as many published groups were waiting as the step "
                "took. Balanced in 1 of 2 steps."
            ),
        ),
        ({"unknown": 2}, "Unknown in 2 of 2 steps: rows or times that would tell are not in the file."),
    ],
)
def test_verdicts_in_words(verdicts: dict[str, int], expected: str) -> None:
    """Only those that occur."""
    step = REPORT.steps[0]

    assert expected == findings(replace(REPORT, steps=(step, step), verdicts=verdicts))[1]


def test_a_step_without_an_end_is_named() -> None:
    """It is no step without groups."""
    rows = trace(event("run-1234567", "train_step_started", step=7), event("run-1234567", "mark"))
    page = to_markdown(steps_document(train_steps(rows), "f"))

    assert page.endswith("\n\nStep 7 of run run-1234 began, and the file does not have its end.\n")


def test_times_of_runs_are_added_up() -> None:
    """Part by part."""
    assert WallTime(7200.0, 3600.0, 2160.0, 720.0, 360.0, 360.0) == added_up({"a": HOUR, "b": HOUR})
    assert StepRecord(None, "a", *[None] * 9).cycle_s is None
