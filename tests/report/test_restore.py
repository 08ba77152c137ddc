"""The report of ``rtrace restore``: whole texts for one job, worked out in the test of the analysis."""

from __future__ import annotations

from typing import Any

from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.report.document import Facts, Table
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.restore import brief_document, restore_document, restore_json
from tests.analysis.ledger.stories import ONE_STOP, back, once, save, send
from tests.report.history import ended, event, refused, started, trace

REPORT = restore_report(ONE_STOP)
VERDICT = (
    "This stop cost 2 rollouts and at least 12 tokens, 26 % of the tokens known of what was in flight or done since "
    "the checkpoint; every rollout came back."
)
"""12 of the 47 tokens that are known."""


def amount(
    rollouts: int, tokens: int, kept: int, seconds: float, *, exact: bool = True, lost: int | None = None
) -> dict[str, Any]:
    """An amount as JSON."""
    return {
        "rollouts": rollouts, "tokens": tokens, "tokens_exact": exact, "tokens_kept": kept,
        "attempt_seconds": seconds, "tokens_lost": tokens - kept if lost is None else lost,
    }  # fmt: skip


def test_a_report_as_markdown() -> None:
    """Verdict, stops, what happened when, fates, dearest losses, checkpoints, lineage."""
    expected = f"""\
# What the stops of trace.jsonl cost

{VERDICT}

## Stops

| stop | run | ended | restored by | checkpoint | dead | to dispatch | to seal | to step | to pace | steps lost \
| in flight | reused | resumed | redone | trained again | rollouts lost |  | tokens lost |
| ---: | --- | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: \
| --- | ---: |
| 1 | a | killed | b | c1 | 30.0 s | 3.0 s | 7.0 s | 8.0 s | - | 2 | 2 | 1 | 1 | 1 | 1 | 2 | at least | 12 |

Step 2 was trained after the checkpoint, and trained again later.

## Stop 1: what became of every rollout

| fate | rollouts |  | tokens | kept | lost | attempt time |
| --- | ---: | --- | ---: | ---: | ---: | ---: |
| reused | 1 |  | 30 | 30 | 0 | 4.0 s |
| resumed | 1 | at least | 7 | 5 | 2 | 7.0 s |
| redone | 1 | at least | 0 | 0 | 0 | 2.0 s |
| trained again | 1 |  | 10 | 0 | 10 | 2.0 s |
| all | 4 | at least | 47 | 35 | 12 | 15.0 s |
"""
    assert expected == to_markdown(restore_document(REPORT, "trace.jsonl"))[: len(expected)]


def test_the_facts_of_a_stop() -> None:
    """When what happened, and what other intervals would have put at risk."""
    (when, checkpoints) = (b for b in restore_document(REPORT, "f").blocks if isinstance(b, Facts))

    assert (
        ("last sign of life", "1970-01-01 00:00:20 UTC"),
        ("nothing ran for", "30.0 s"),
        ("the restore took", "1.5 s"),
        ("first dispatch after", "3.0 s"),
        ("first sealed attempt after", "7.0 s"),
        ("first step after", "8.0 s"),
        ("90 % of the pace before after", "-"),
        ("steps lost", "step 2"),
        ("of them trained again", "step 2"),
        ("in flight at the stop", "2 rollouts, at least 7 tokens, 9.0 s of attempt time"),
        ("age of the checkpoint", "10.0 s"),
        ("sealed since it was taken", "2 rollouts, 40 tokens, 6.0 s of attempt time"),
        ("if taken every 4.0 s", "0 rollouts, 0 tokens, 0 ms of attempt time"),
        ("if taken every 16.0 s", "2 rollouts, 40 tokens, 6.0 s of attempt time"),
    ) == when.pairs
    assert (
        ("published", "2; no row says how long it took"), ("dispatches refused", "1, 0 of them dispatched again"),
    ) == checkpoints.pairs  # fmt: skip


def test_what_checkpoints_cost() -> None:
    """One took 4 s by its row, one 2 s between its rows; x was refused for 1 s and y for 4 s; z of run b for good.

    The refusal of y in run a is not ended by a dispatch of run b.
    """
    x, y = (send("a", name, "g", "p") for name in "xy")
    rows = trace(
        save("a", 0, seconds=4.0), event("a", "checkpoint_started"), refused("a", "y"), save("a", 1),
        refused("a", "x"), x, y, refused("a", "y"), send("b", "y", "g", "p"), refused("b", "z"),
    )  # fmt: skip

    assert (
        ("published", "2, in 6.0 s together"),
        ("dispatches refused", "4, 2 of them dispatched again"),
        ("their delay", "2.5 s on average, 4.0 s at most"),
    ) == next(
        block.pairs
        for block in restore_document(restore_report(rows), "f").blocks
        if isinstance(block, Facts) and block.title == "Checkpoints while the job ran"
    )


def test_no_checkpoint_and_no_time() -> None:
    """What is not known is not shown, or shown as none."""
    rows = [
        row | {"t": None} for row in trace(started("a"), *once("a", 1, "1"), started("b"), send("b", "x", "g", "p"))
    ]
    when, checkpoints = (b for b in restore_document(restore_report(rows), "f").blocks if isinstance(b, Facts))

    assert ("nothing ran for", "-") == when.pairs[0]
    assert ("of them trained again", "no step") in when.pairs
    assert (("published", "0"), ("dispatches refused", "0, 0 of them dispatched again")) == checkpoints.pairs


def test_a_report_as_csv() -> None:
    """One row per stop, with raw values."""
    expected = (
        "number,run,ended_how,restored_run,checkpoint_id,dead_s,first_dispatch_s,first_seal_s,first_train_step_s,"
        "throughput_back_s,steps_lost,in_flight,reused,resumed,redone,trained_again,discarded,never_came_back,unknown,"
        "lost_rollouts,lost_exact,lost_tokens\n"
        "1,a,killed,b,c1,30.0,3.0,7.0,8.0,,2,2,1,1,1,1,0,0,0,2,False,12\n"
    )
    assert expected == to_csv(restore_document(REPORT, "f"))


def test_a_report_as_json_values() -> None:
    """Everything that the report shows, under its own name."""
    nothing = amount(0, 0, 0, 0.0)
    fates = {
        "reused": amount(1, 30, 30, 4.0),
        "resumed": amount(1, 7, 5, 7.0, exact=False),
        "redone": amount(1, 0, 0, 2.0, exact=False),
        "trained_again": amount(1, 10, 0, 2.0),
        "discarded": nothing,
        "never_came_back": nothing,
        "unknown": nothing,
    }
    loss = {"prompt_id": "p1", "generation": "0", "tokens_exact": True, "attempt_seconds": 2.0}
    at_risk = amount(2, 40, 0, 6.0)
    stop = {
        "run": "a", "ended_how": "killed", "restored_run": "b", "checkpoint_restored": True, "checkpoint_id": "c1",
        "checkpoint_step": 1, "checkpoint_in_file": True, "killed_at": 20.0, "dead_s": 30.0, "restore_s": 1.5,
        "first_dispatch_s": 3.0, "first_seal_s": 7.0, "first_train_step_s": 8.0, "throughput_back_s": None,
        "steps_lost": (2,), "steps_trained_again": (2,), "in_flight": amount(2, 7, 5, 9.0, exact=False),
        "fates": fates, "forgotten": nothing,
        "longest": [
            loss | {"attempt_id": "a1", "fate": "trained_again", "tokens": 10},
            loss | {"attempt_id": "y", "fate": "resumed", "tokens": 2, "prompt_id": "p2", "generation": "1",
                    "tokens_exact": False, "attempt_seconds": 7.0},
        ],
        "interval": {
            "age_s": 10.0, "interval_s": 8.0, "sealed_since": at_risk, "if_half": nothing, "if_twice": at_risk,
        },
        "length_bias": None, "totals": amount(4, 47, 35, 15.0, exact=False),
        "idle_runs": (),
        "rows_late": 0,
        "lost": amount(2, 17, 5, 4.0, exact=False),
    }  # fmt: skip
    found = restore_json(REPORT)

    assert stop == found["stops"][0] | {"longest": list(found["stops"][0]["longest"])}
    assert (fates, 0, VERDICT) == (found["totals"], found["rows_lost"], found["verdict"])
    assert {
        "published": 2, "seconds": None, "refusals": 1, "redispatched": 0, "delay_s": 0.0, "longest_delay_s": 0.0,
    } == found["checkpoints"]  # fmt: skip
    assert {
        "run": "b", "job": 0, "ended_how": "clean", "took_over_from": "a", "checkpoint_id": "c1", "checkpoint_step": 1,
        "checkpoint_run": "a", "steps_surviving": ((2, 2),), "steps_given_up": (),
    } == found["lineage"][1]  # fmt: skip


def test_the_brief_report() -> None:
    """The verdict and the fates; nothing else."""
    assert ["Stop 1: what became of every rollout"] == [
        block.title for block in brief_document(REPORT, "f").blocks if isinstance(block, Table)
    ]
    assert f"# What the stops of f cost\n\n{VERDICT}\n" == to_markdown(brief_document(REPORT, "f"))[: 29 + len(VERDICT)]


def test_a_column_for_jobs_only_where_there_are_several() -> None:
    """Two jobs in one file; the steps that count come in stretches, the first eight of which are shown."""
    steps = [event("a", "train_step", step=2 * number, group_ids=[]) for number in range(10)]
    rows = trace(started("a"), *steps, ended("a"), started("b"), back("b", 7), *once("b", 8, "1"))
    several = trace(started("a"), *steps, ended("a"), started("b"), *once("b", 8, "1"))

    for given, jobs in ((rows, False), (several, True)):
        lineage = restore_document(restore_report(given), "f").blocks[-1]
        assert isinstance(lineage, Table)
        columns, shown = lineage.for_people()
        assert jobs == ("job" in [column.title for column in columns])
    assert "0, 2, 4, 6, 8, 10, 12, 14, ..." == shown[0][-2]
