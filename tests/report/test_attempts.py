"""The reports of ``rtrace attempts`` and of its latencies: whole texts for small results."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.phases import PHASES, PhaseLatency
from rtrace_otel.analysis.percentiles import Distribution
from rtrace_otel.report.attempts import attempts_document, attempts_json, sorted_by
from rtrace_otel.report.document import Sentence
from rtrace_otel.report.formats import to_csv, to_markdown
from rtrace_otel.report.latency import headline, latency_blocks, latency_json
from tests.report.history import trace
from tests.report.timed import JOB, dispatch, seal, sync

OPEN = Choice(open_only=True)
SLOW = Choice(sort="seconds", descending=True, limit=2)


def test_what_was_left_open_as_markdown() -> None:
    """V waits for a dispatch since 18, z runs since 33.5; their groups are those of both runs."""
    expected = """\
# Attempts of f

2 of 7 attempts: 1 interrupted, 1 open.

## Attempts

| attempt | group | prompt | generation | attempt no. | run | dispatched (UTC) | ran | tokens at last refit \
| outcome | refused | refits | cut by | from version | to version | waits for | since (UTC) | waited |
| --- | --- | ---: | ---: | ---: | --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | --- \
| ---: |
| v | h | 17 | 1 | - | a | 1970-01-01 00:00:11 | 6.5 s | 7 | interrupted | 1 | 1 | 1 | 5 | 6 \
| refused, waiting to be dispatched again | 1970-01-01 00:00:18 | 2.0 s |
| z | h | 17 | 1 | 2 | b | 1970-01-01 00:00:33 | 2.5 s | 11 | open | 0 | 1 | 1 | 6 | 7 | running \
| 1970-01-01 00:00:33 | 2.5 s |
"""
    assert expected == to_markdown(attempts_document(attempts(JOB, OPEN), OPEN, "f"))


def test_the_slowest_as_csv() -> None:
    """Raw values; v ran longest, and its tokens are not known."""
    expected = (
        "attempt_id,group_id,prompt_id,generation_index,attempt_index,run,dispatched,seconds,tokens,tokens_at_least,"
        "reward,outcome,reason,resumed,refusals,refits_spanned,refits_cut,version_start,version_end,trained_step,"
        "waiting_for,since,waited_s\n"
        'v,h,17,1,,a,11.5,6.5,,7,,interrupted,,,1,1,1,5,6,,"refused, waiting to be dispatched again",18.0,2.0\n'
        "y,g,17,1,,a,2.5,5.5,60,40,,sealed,,,1,1,1,3,5,5,,,\n"
    )
    assert expected == to_csv(attempts_document(attempts(JOB, SLOW), SLOW, "f"))


def test_a_report_as_json_values() -> None:
    """Every field under its own name; all phases, with whether they are exact."""
    report = attempts(JOB, SLOW)
    found = attempts_json(report)

    assert [asdict(record) for record in report.attempts] == found["attempts"]
    assert (7, {"sealed": 3, "kept": 1, "abandoned": 1, "interrupted": 1, "open": 1}, 7, True) == (
        found["matching"], found["by_outcome"], found["begun"], found["calls_name_attempts"]
    )  # fmt: skip
    assert list(PHASES) == [latency["phase"] for latency in found["latencies"]]
    assert {"phase": "refused", "count": 1, "p50": 2.0, "p95": 2.0, "p99": 2.0, "max": 2.0, "exact": True} == (
        found["latencies"][2]
    )


@pytest.mark.parametrize(("call", "told"), [("c1", True), ("x", False)])
def test_the_report_says_that_calls_name_no_attempt(call: str, told: bool) -> None:
    """Only where a refit came in between, and no call of the file could be told to belong to an attempt."""
    rows = trace(dispatch(1, "a", "x"), sync(2, "a", 5, [call, 9]), seal(3, "a", "x"))
    sentences = [
        block.text for block in attempts_document(attempts(rows), Choice(), "f").blocks if isinstance(block, Sentence)
    ]

    assert told == ("The calls of refits do not name their attempts: which ones a refit cut is not known." in sentences)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("attempt", 0, 0, 0, {}, "by x"), "No attempt in this file."),
        (("attempt", 0, 1, 0, {}, "by x"), "None of 1 attempt matches."),
        (("group", 2, 2, 2, {"open": 1, "trained": 1}, "by x"), "2 groups: 1 trained, 1 open."),
        (("group", 1, 2000, 1, {"open": 1}, "by x"), "1 of 2,000 groups: 1 open."),
        (("group", 3, 3, 1, {"open": 3}, "by x"), "3 groups: 3 open. The table shows 1 of them, by x."),
    ],
)
def test_headlines(arguments: tuple[str, int, int, int, dict[str, int], str], expected: str) -> None:
    """How many match of how many, and what the table shows."""
    assert expected == headline(*arguments)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (Choice(), "in order of time"),
        (Choice(descending=True), "in order of time, latest first"),
        (Choice(sort="tokens"), "by tokens"),
        (Choice(sort="tokens", descending=True), "by tokens, greatest first"),
    ],
)
def test_orders_in_words(choice: Choice, expected: str) -> None:
    """As the headline says them."""
    assert expected == sorted_by(choice)


def test_approximate_percentiles_are_called_so() -> None:
    """A table of exact ones says nothing about it; phases without values are in JSON only."""
    some, none = (
        Distribution(2000, 1.0, 2.0, 3.0, 4.0, exact=False),
        Distribution(0, None, None, None, None, exact=True),
    )
    latencies = (PhaseLatency("refused", some), PhaseLatency("straggler_gap", none))
    table, sentence = latency_blocks(latencies)

    assert Sentence("Percentiles of more than 1,000 values are within 2 %.") == sentence
    assert 1 == len(getattr(table, "records", ()))
    assert () == latency_blocks(latencies[1:])
    assert [False, True] == [latency["exact"] for latency in latency_json(latencies)]
