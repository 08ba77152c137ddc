"""The queries of the page on SQL: each runs as it stands, and gives what the commands say of the stored demo."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from statistics import median
from typing import Any, Final

import pytest

from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.waste import waste_report
from tests.columns.tables import DEMO, ask, demo_rows, tables_of
from tests.sql_pages import PAGE

QUERIES: Final = {
    section.partition("\n")[0]: section.partition("```sql\n")[2].partition("```")[0]
    for section in PAGE.read_text(encoding="utf-8").split("\n### ")
    if "```sql\n" in section
}
Rows = list[tuple[Any, ...]]


def _how_attempts_ended(rows: Rows) -> None:
    counts = summarise(demo_rows()).attempts
    by_outcome: Counter[str] = Counter()
    for outcome, _, number, _ in rows:
        by_outcome[outcome] += number

    assert {
        "sealed": counts.sealed,
        "abandoned": sum(counts.abandoned.values()),
        "interrupted": counts.interrupted,
    } == by_outcome
    assert dict(counts.abandoned) == {reason: n for outcome, reason, n, _ in rows if outcome == "abandoned"}


def _how_old_steps_are(rows: Rows) -> None:
    found = staleness(demo_rows())

    assert [(age.step, age.best) for age in found.ages.steps] == [row[:2] for row in rows]
    assert all(row[1] == pytest.approx(sum(row[2:])) for row in rows)


def _which_ages(rows: Rows) -> None:
    found = staleness(demo_rows()).histogram

    assert dict(found) == {age: tokens for age, tokens, _ in rows}
    assert pytest.approx(1.0) == sum(share for _, _, share in rows)


def _longest_attempts(rows: Rows) -> None:
    found = attempts(demo_rows(), Choice(sort="seconds", descending=True, limit=10)).attempts

    assert [attempt.seconds for attempt in found] == [seconds for _, _, _, seconds, _, _ in rows]
    assert {attempt.attempt_id for attempt in found} == {row[0] for row in rows}


def _what_stops_cost(rows: Rows) -> None:
    (stop,) = restore_report(demo_rows()).stops

    assert [
        (0, stop.run, stop.restored_run, stop.dead_s, stop.lost.rollouts, stop.lost.tokens_lost, len(stop.steps_lost))
    ] == rows


def _which_prompts_paid(rows: Rows) -> None:
    total = restore_report(demo_rows()).stops[0].total

    assert (total.rollouts, total.tokens_lost) == (sum(row[1] for row in rows), sum(row[2] for row in rows))


def _where_tokens_went(rows: Rows) -> None:
    accounts = waste_report(demo_rows()).accounts

    assert {(a.name, a.reason, a.amount.rollouts, a.amount.tokens) for a in accounts} == {row[:4] for row in rows}


def _which_server_is_slow(rows: Rows) -> None:
    sealed = [a for a in attempts(demo_rows(), Choice(limit=0)).attempts if a.outcome.value == "sealed"]

    assert {a.instance for a in sealed} == {row[0] for row in rows}
    for instance, number, p50_s, _, tokens_per_s in rows:
        own = [a for a in sealed if a.instance == instance]
        seconds = [a.seconds for a in own if a.seconds is not None]
        assert (len(own), pytest.approx(median(seconds))) == (number, p50_s)
        assert pytest.approx(sum(a.tokens or 0 for a in own) / sum(seconds)) == tokens_per_s


def _who_waits(rows: Rows) -> None:
    report = train_steps(demo_rows())

    assert dict(report.verdicts) == {row[0]: row[1] for row in rows}
    assert pytest.approx(sum(step.wait_s or 0.0 for step in report.steps)) == sum(row[2] or 0.0 for row in rows)


def _one_prompt(rows: Rows) -> None:
    own = [(line, row) for line, row in enumerate(demo_rows(), 1) if row.get("prompt_id") == "7"]
    groups = {row["group_id"] for _, row in own}
    named = [line for line, row in enumerate(demo_rows(), 1) if row.get("group_id") in groups]

    assert own
    assert {line for line, _ in own} | set(named) <= {row[0] for row in rows}
    assert {"group_reserved", "attempt_dispatched", "attempt_sealed", "group_published"} <= {row[3] for row in rows}


EXPECTED: Final[dict[str, Callable[[Rows], None]]] = {
    "How did attempts end?": _how_attempts_ended,
    "How old is what each step trains on, and why?": _how_old_steps_are,
    "Which ages do tokens have?": _which_ages,
    "Which attempts ran longest?": _longest_attempts,
    "What did each stop cost?": _what_stops_cost,
    "Which prompts paid for the stops?": _which_prompts_paid,
    "Where did the tokens go?": _where_tokens_went,
    "Which inference server is slow?": _which_server_is_slow,
    "Does the trainer wait for rollouts?": _who_waits,
    "What happened to one prompt?": _one_prompt,
}


@pytest.mark.parametrize("title", EXPECTED)
def test_each_query_gives_what_the_commands_say(title: str) -> None:
    """On the stored demo."""
    rows = ask(tables_of(demo_rows()), QUERIES[title])

    assert rows
    EXPECTED[title](rows)


def test_there_are_ten_and_each_is_checked() -> None:
    """No query of the page goes untested."""
    assert list(EXPECTED) == list(QUERIES)
    assert len(QUERIES) == PAGE.read_text(encoding="utf-8").count("```sql") == 10


def test_the_demo_is_the_file_that_the_rows_come_from() -> None:
    """Lines in ``events`` are those of the file."""
    assert DEMO.exists()
    (answer,) = ask(tables_of(demo_rows(), ["events"]), "SELECT max(line), count(*) FROM events")
    assert (len(demo_rows()), len(demo_rows())) == answer
