"""The report of ``rtrace waste``: whole texts for one job whose answers are worked out in the test of the analysis."""

from __future__ import annotations

from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.events import Row
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.restore_words import stop_sentences
from rtrace_otel.report.waste import waste_document, waste_json, waste_verdict
from tests.analysis.ledger.stories import ONE_STOP, drop, once, reserve, seal, send, train
from tests.report.history import ended, started, trace

REPORT = waste_report(ONE_STOP)
VERDICT = (
    "7 rollouts generated at least 57 tokens: of those known, 18 % were trained, 21 % were lost with a run, 53 % were "
    "never trained and 9 % were left open."
)
"""Of 57 tokens 10, 12, 30 and 5."""


def test_a_report_as_markdown() -> None:
    """The verdict, the accounts, the job's own time, and what ended before each step."""
    expected = f"""\
# Waste of trace.jsonl

{VERDICT}

## Accounts

| account | reason | bucket | rollouts |  | tokens | share | attempt time |
| --- | --- | --- | ---: | --- | ---: | ---: | ---: |
| waiting | the run ended | - | 1 |  | 30 | 53 % | 4.0 s |
| trained | - | productive | 1 |  | 10 | 18 % | 2.0 s |
| lost | trained again | wasted | 1 |  | 10 | 18 % | 2.0 s |
| open | the run ended | - | 2 | at least | 5 | 9 % | 11.0 s |
| lost | resumed | wasted | 1 | at least | 2 | 4 % | 7.0 s |
| lost | redone | wasted | 1 | at least | 0 | 0 % | 2.0 s |

## The job's time

- **from first to last row**: 59.0 s
- **nothing ran**: 30.0 s
- **training steps**: -
- **refits**: -
- **checkpoints**: -
- **attempt time**: 28.0 s, over all attempts: they run side by side

## Tokens that ended before each step

| step | run | trained | masked | abandoned | discarded | lost |
| ---: | --- | ---: | ---: | ---: | ---: | ---: |
| 2 | a | 10 | 0 | 0 | 0 | 0 |
| 2 | b | 10 | 0 | 0 | 0 | 47 |
"""
    assert expected == to_markdown(waste_document(REPORT, "trace.jsonl"))


def test_a_report_as_csv() -> None:
    """One row per account, with raw values."""
    expected = (
        "name,reason,bucket,rollouts,tokens_exact,tokens,share,attempt_seconds\n"
        f"waiting,the run ended,,1,True,30,{30 / 57},4.0\n"
        f"trained,,productive,1,True,10,{10 / 57},2.0\n"
        f"lost,trained_again,wasted,1,True,10,{10 / 57},2.0\n"
        f"open,the run ended,,2,False,5,{5 / 57},11.0\n"
        f"lost,resumed,wasted,1,False,2,{2 / 57},7.0\n"
        "lost,redone,wasted,1,False,0,0.0,2.0\n"
    )
    assert expected == to_csv(waste_document(REPORT, "f"))


def test_a_report_as_json_values() -> None:
    """Every field under its own name."""
    found = waste_json(REPORT)

    assert {
        "name": "open", "reason": "the run ended", "bucket": None, "rollouts": 2, "tokens": 5, "tokens_exact": False,
        "share": 5 / 57, "attempt_seconds": 11.0,
    } == found["accounts"][3]  # fmt: skip
    assert {
        "rollouts": 7, "tokens": 57, "tokens_exact": False, "tokens_kept": 0, "attempt_seconds": 28.0, "begun": 7,
        "unseen": 0,
    } == found["total"]  # fmt: skip
    assert {
        "step": 2, "run": "b", "trained": 10, "masked": 0, "abandoned": 0, "discarded": 0, "lost": 47,
    } == found["steps"][1]  # fmt: skip
    assert {
        "whole": 59.0, "stopped": 30.0, "training": None, "refits": None, "checkpoints": None,
    } == found["wall"]  # fmt: skip
    assert (VERDICT, 6, 2) == (found["verdict"], len(found["accounts"]), len(found["steps"]))


def test_the_verdict_where_all_is_exact() -> None:
    """Shares are of everything then; what ended after the last step stands in a row of its own."""
    rows = trace(started("a"), *once("a", 1, "1"), send("a", "x", "g", "p"), seal("a", "x", 30), started("k"))
    report = waste_report(rows)

    assert "2 rollouts generated 40 tokens: 25 % were trained and 75 % wait for training." == waste_verdict(report)


def test_the_verdict_of_a_job_of_which_one_run_ended() -> None:
    """Run a was closed with a result that waited; run k is another job, and goes on."""
    rows = trace(
        started("a"), *once("a", 1, "1"), send("a", "x", "g", "p"), seal("a", "x", 30), ended("a"), started("k"),
        send("k", "y", "h", "q"), seal("k", "y", 60),
    )  # fmt: skip
    report = waste_report(rows)
    reasons = {account.reason for account in report.accounts if account.name == "waiting"}

    assert {None, "the run ended"} == reasons
    assert "3 rollouts generated 100 tokens: 10 % were trained and 90 % wait for training." == waste_verdict(report)


def test_the_verdict_of_one_rollout_without_tokens() -> None:
    """There is nothing to share out."""
    assert "1 rollout generated at least 0 tokens." == waste_verdict(waste_report(trace(send("a", "x", "g", "p"))))
    rows = trace(send("a", "x", "g", "p"), seal("a", "x", 0), train("a", 1, "g"))
    assert "1 rollout generated 0 tokens." == waste_verdict(waste_report(rows))
    assert "No rollout in this file." == waste_verdict(waste_report([]))


def test_what_ended_after_the_last_step() -> None:
    """Its row is called ``after``, and has no run."""
    rows = trace(started("a"), *once("a", 1, "1"), send("a", "x", "g", "p"), started("b"), send("b", "y", "g", "p"))
    table = to_markdown(waste_document(waste_report(rows), "f")).splitlines()

    assert "| after | - | 0 | 0 | 0 | 0 | 10 |" == table[-1]


def side_by_side(rows_late: int) -> list[Row]:
    """Run k begins its work while run a works; after that, run a discards so many groups that it reserves."""
    late = [row for n in range(rows_late // 2) for row in (reserve("a", f"h{n}", "q"), drop("a", f"h{n}"))]
    return trace(started("a"), *once("a", 1, "1"), started("k"), *once("k", 1, "2"), *late)


def test_two_jobs_that_nothing_tells_apart() -> None:
    """Twenty rows of the first run after the second one began, which restored no checkpoint, are no late rows."""
    said = "These may be two jobs in one"

    for rows, number in ((20, 1), (18, 0)):
        report = waste_report(side_by_side(rows))
        assert number == report.perhaps_two_jobs == waste_json(report)["perhaps_two_jobs"]
        assert bool(number) == (said in to_markdown(waste_document(report, "f")))
        (stop,) = restore_report(side_by_side(rows)).stops
        assert (rows, bool(number)) == (stop.rows_late, said in " ".join(stop_sentences(stop, 1, 1)))
