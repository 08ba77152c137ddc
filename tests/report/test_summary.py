"""The report of ``rtrace summary``: whole texts for small results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.analysis.age.ages import AgeReport
from rtrace_otel.analysis.reading.damage import Damage, DamageKind, ReadReport, Tally
from rtrace_otel.analysis.runs import RunSummary
from rtrace_otel.analysis.summary_results import AttemptCounts, GroupCounts, Summary
from rtrace_otel.report.document import Facts, Sentence
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.summary import next_blocks, summary_document, summary_json, verdict

RUN_A, RUN_B = "aaaaaaaa00000001", "bbbbbbbb00000002"
KILLED = RunSummary(
    RUN_A, 1_795_977_464.957, 1_795_977_466.809, "killed", None, 532, "node1", 4614, None, None, None, 1, 5, 0, 0
)
CLEAN = RunSummary(
    RUN_B, 1_795_977_467.0, 1_795_988_987.0, "clean", "closed", 1839, "node2", 17, None, "step-0004", 4, 5, 14, 0, 0
)
NOTHING = Summary(
    (), 0, AttemptCounts(0, 0, 0, {}, 0, 0, 0, {}), GroupCounts(0, 0, 0, 0, {}, 0, 0), 0, 0, 0, 0, None, 0, 0,
    AgeReport((), (), 0, None), {},
)  # fmt: skip
JOB = Summary(
    runs=(KILLED, CLEAN),
    rows=2371,
    attempts=AttemptCounts(
        1408, 1330, 7, {"server error": 19, "run ended": 26}, 33, 0, 61, {"sibling": 23, "turn": 11}
    ),
    groups=GroupCounts(92, 12, 75, 5, {"run ended": 12}, 10, 0),
    steps_trained=15,
    steps_again=1,
    refits=15,
    calls_cut=1324,
    refit_s=0.030,
    checkpoints=3,
    restores=1,
    ages=AgeReport((), (), 0, None),
    other_events={"tool_call": 1200, "judge": 1},
)
ONE_OF_EACH = replace(
    NOTHING,
    runs=(replace(KILLED, ended_how="unknown", rows=1, first_step=1, last_step=1, rows_lost=1, clock_steps=1),),
    rows=1,
    attempts=AttemptCounts(1, 1, 1, {}, 0, 0, 1, {"turn": 1}),
    groups=GroupCounts(1, 1, 1, 1, {}, 0, 0),
    steps_trained=1,
    refits=1,
    calls_cut=1,
    refit_s=1.0,
    checkpoints=1,
    restores=1,
    other_events={"tool_call": 1},
)


def read(*damages: Damage) -> ReadReport:
    """What a reader met in ``logs/trace.jsonl``."""
    tally = Tally("logs/trace.jsonl", lines=9, rows=9)
    for damage in damages:
        tally.add_damage(damage)
    return tally.report()


def test_a_summary_as_markdown() -> None:
    """Verdict, runs, facts, damage: the whole report."""
    expected = """\
# Summary of logs/trace.jsonl

2 runs, 1 of them killed; 15 steps trained, 1 of them again after a restore; 33 attempts in flight at a kill.

## Runs

| run | started (UTC) | lasted | ended | reason | restored from | steps | rows | host | pid |
| --- | --- | ---: | --- | --- | --- | --- | ---: | --- | ---: |
| aaaaaaaa | 2026-11-29 18:37:44 | 1.9 s | killed | - | - | 1-5 | 532 | node1 | 4614 |
| bbbbbbbb | 2026-11-29 18:37:47 | 3 h 12 min | clean | closed | step-0004 | 5-14 | 1,839 | node2 | 17 |

## What happened

- **rows**: 2,371
- **attempts**: 1,408 begun, 1,330 sealed (7 masked), 45 abandoned (server error 19, run ended 26), 33 interrupted by \
a kill, 0 open
- **refused**: 61 dispatches
- **resumed**: 23 sibling, 11 turn
- **groups**: 92 reserved, 75 trained, 12 discarded (run ended 12), 12 brought back by a restore (5 trained again), \
10 lost with a run, 0 open
- **steps**: 15 trained, 1 of them again
- **refits**: 15 (paused 1,324 calls, took 30 ms)
- **checkpoints**: 3 published, 1 restored
- **other events**: tool\\_call 1,200, judge 1

## Damage and gaps

- **file**: intact: every line is one whole event, no row is missing
"""
    assert expected == to_markdown(summary_document(JOB, read(), with_ages=False))


def test_a_summary_as_csv() -> None:
    """The runs, with raw values."""
    expected = (
        "run,started,lasted_s,ended_how,reason,restored_from,steps,rows,host,pid\n"
        f"aaaaaaaa00000001,1795977464.957,{1_795_977_466.809 - 1_795_977_464.957},killed,,,1-5,532,node1,4614\n"
        "bbbbbbbb00000002,1795977467.0,11520.0,clean,closed,step-0004,5-14,1839,node2,17\n"
    )
    assert expected == to_csv(summary_document(JOB, read()))


def test_a_summary_as_json_values() -> None:
    """Every field of the result under its own name; each run with how long it lasted and its steps."""
    run: dict[str, Any] = {
        "run": RUN_B, "started": 1_795_977_467.0, "last_row": 1_795_988_987.0, "ended_how": "clean", "reason": "closed",
        "rows": 1839, "host": "node2", "pid": 17, "parent_run": None, "restored_from": "step-0004", "restored_step": 4,
        "first_step": 5, "last_step": 14, "rows_lost": 0, "clock_steps": 0, "from_spans": False,
        "lasted_s": 11520.0, "steps": "5-14",
    }  # fmt: skip
    expected = {
        "runs": [run], "rows": 2371,
        "attempts": {
            "begun": 1408, "sealed": 1330, "masked": 7, "abandoned": {"server error": 19, "run ended": 26},
            "interrupted": 33, "open": 0, "refusals": 61, "resumed": {"sibling": 23, "turn": 11},
        },
        "groups": {
            "reserved": 92, "brought_back": 12, "trained": 75, "trained_again": 5, "discarded": {"run ended": 12},
            "interrupted": 10, "open": 0,
        },
        "steps_trained": 15, "steps_again": 1, "refits": 15, "calls_cut": 1324, "refit_s": 0.03, "checkpoints": 3,
        "restores": 1, "ages": {"steps": [], "differences": (), "tokens": 0, "batch_age": None},
        "other_events": {"tool_call": 1200, "judge": 1}, "perhaps_two_jobs": 0,
    }  # fmt: skip

    assert expected == summary_json(replace(JOB, runs=(CLEAN,)))


def facts(summary: Summary, title: str, found: ReadReport | None = None) -> dict[str, str]:
    """The facts of one block of the report."""
    blocks = summary_document(summary, found or read()).blocks
    (block,) = [block for block in blocks if isinstance(block, Facts) and block.title == title]
    return dict(block.pairs)


def test_one_is_singular() -> None:
    """Whatever is one is told in the singular."""
    expected = {
        "rows": "1",
        "attempts": "1 begun, 1 sealed (1 masked), 0 abandoned, 0 interrupted by a kill, 0 open",
        "refused": "1 dispatch",
        "resumed": "1 turn",
        "groups": (
            "1 reserved, 1 trained, 0 discarded, 1 brought back by a restore (1 trained again), "
            "0 lost with a run, 0 open"
        ),
        "steps": "1 trained, 0 of them again",
        "refits": "1 (paused 1 call, took 1.0 s)",
        "checkpoints": "1 published, 1 restored",
        "other events": "tool_call 1",
    }
    assert expected == facts(ONE_OF_EACH, "What happened")
    assert {
        "file": "intact: every line is one whole event, no row is missing",
        "recorder": "1 row lost before it could be written (trace_gap)",
        "clock": "the host's clock was stepped 1 time",
    } == facts(ONE_OF_EACH, "Damage and gaps")


def test_rows_that_are_missing_are_not_called_intact() -> None:
    """What the reader met, what the recorder lost and clock steps stand in one place."""
    found = read(Damage(9, DamageKind.TORN_TAIL, '{"ev', 0))
    lost = replace(ONE_OF_EACH, runs=(replace(KILLED, rows_lost=1200), replace(CLEAN, rows_lost=5, clock_steps=2)))

    assert {
        "file": '1 x torn tail (line 9: {"ev)',
        "recorder": "1,205 rows lost before they could be written (trace_gap)",
        "clock": "the host's clock was stepped 2 times",
    } == facts(lost, "Damage and gaps", found)


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (NOTHING, "0 runs; 0 steps trained."),
        (ONE_OF_EACH, "1 run; 1 step trained."),
        (replace(NOTHING, runs=(KILLED, KILLED, CLEAN), steps_trained=9), "3 runs, 2 of them killed; 9 steps trained."),
        (
            replace(NOTHING, runs=(KILLED, CLEAN), attempts=AttemptCounts(1, 0, 0, {}, 1, 0, 0, {})),
            "2 runs, 1 of them killed; 0 steps trained; 1 attempt in flight at a kill.",
        ),
    ],
    ids=["nothing", "one of each", "two kills", "one attempt"],
)
def test_verdicts(summary: Summary, expected: str) -> None:
    """The file in one sentence."""
    assert expected == verdict(summary)


@pytest.mark.parametrize(
    ("first", "last", "expected"), [(None, None, None), (0, 0, "0"), (5, 5, "5"), (0, 7, "0-7"), (5, 14, "5-14")]
)
def test_the_steps_of_a_run(first: int | None, last: int | None, expected: str | None) -> None:
    """One step is one number; none is none."""
    run = replace(CLEAN, first_step=first, last_step=last)

    assert expected == summary_json(replace(JOB, runs=(run,)))["runs"][0]["steps"]


def test_what_to_type_next_can_be_typed() -> None:
    """File names are quoted for the shell."""
    assert (
        Sentence("Next:"),
        Sentence("rtrace restore 'my logs/trace.jsonl'", "command"),
        Sentence("rtrace age 'my logs/trace.jsonl'", "command"),
        Sentence("rtrace report 'my logs/trace.jsonl'", "command"),
        Sentence("rtrace summary 'my logs/trace.jsonl' --format json", "command"),
    ) == next_blocks("my logs/trace.jsonl")


def test_runs_that_begin_alike_can_be_told_apart() -> None:
    """A job may name its runs itself; the report never shows two of them under one name."""
    runs = (replace(KILLED, run="controller-1"), replace(CLEAN, run="controller-2"))
    columns, rows = summary_document(replace(JOB, runs=runs), read()).main_table.for_people()
    place = [column.key for column in columns].index("run")

    assert 2 == len({cells[place] for cells in rows})


@pytest.mark.parametrize("number", [0, 1])
def test_two_jobs_are_pointed_out(number: int) -> None:
    """Only if there may be two."""
    found = replace(JOB, perhaps_two_jobs=number)
    texts = [block.text for block in summary_document(found, read()).blocks if isinstance(block, Sentence)]

    assert bool(number) == any("These may be two jobs in one file." in text for text in texts)
    assert number == summary_json(found)["perhaps_two_jobs"]
