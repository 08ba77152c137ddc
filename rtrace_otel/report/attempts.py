"""The report of ``rtrace attempts``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.flow.attempts import AttemptsReport
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.latency import headline, latency_blocks, latency_json
from rtrace_otel.report.numbers import age, count, moment, seconds, shortener


def attempts_document(report: AttemptsReport, choice: Choice, source: str) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        choice: What was asked for.
        source: Name of the file.
    """
    order = sorted_by(choice)
    text = headline("attempt", report.matching, report.begun, len(report.attempts), report.by_outcome, order)
    blocks: list[Block] = [Sentence(text, "finding"), _table(report, choice), *latency_blocks(report.latencies)]
    if report.attempts and not report.calls_name_attempts and any(row.refits_spanned for row in report.attempts):
        blocks.append(Sentence("The calls of refits do not name their attempts: which ones a refit cut is not known."))
    return Document(f"Attempts of {source}", tuple(blocks))


def attempts_json(report: AttemptsReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "attempts": [asdict(attempt) for attempt in report.attempts],
        "matching": report.matching,
        "by_outcome": dict(report.by_outcome),
        "begun": report.begun,
        "latencies": latency_json(report.latencies),
        "calls_name_attempts": report.calls_name_attempts,
    }


def sorted_by(choice: Choice) -> str:
    """The order of a choice in words."""
    what = "in order of time" if choice.sort == "time" else f"by {choice.sort}"
    if not choice.descending:
        return what
    return f"{what}, latest first" if choice.sort == "time" else f"{what}, greatest first"


def _table(report: AttemptsReport, choice: Choice) -> Table:
    waiting_rank = 0 if choice.open_only else 4
    rows = report.attempts
    attempt_id = shortener(row.attempt_id for row in rows)
    group_id = shortener(row.group_id for row in rows if row.group_id is not None)
    run = shortener(row.run for row in rows)
    columns = (
        Column("attempt_id", "attempt", lambda value: printable(attempt_id(value)), "left"),
        Column("group_id", "group", lambda value: printable(group_id(value)), "left", rank=6),
        Column("prompt_id", "prompt", rank=3),
        Column("generation_index", "generation", rank=7),
        Column("attempt_index", "attempt no.", rank=10),
        Column("run", "run", lambda value: printable(run(value)), "left", rank=5),
        Column("dispatched", "dispatched (UTC)", moment, "left", rank=9),
        Column("seconds", "ran", seconds),
        Column("tokens", "tokens", count, usual=None, rank=1),
        Column("tokens_at_least", "tokens at last refit", count, usual=None, rank=2 if choice.open_only else 14),
        Column("reward", "reward", age, usual=None, rank=8),
        Column("outcome", "outcome", printable, "left"),
        Column("reason", "reason", printable, "left", usual=None, rank=2),
        Column("resumed", "resumed", printable, "left", usual=None, rank=9),
        Column("refusals", "refused", usual=0, rank=8),
        Column("refits_spanned", "refits", usual=0, rank=11),
        Column("refits_cut", "cut by", usual=None, rank=12),
        Column("version_start", "from version", rank=13),
        Column("version_end", "to version", rank=13),
        Column("trained_step", "step", usual=None, rank=4),
        Column("waiting_for", "waits for", printable, "left", usual=None, rank=waiting_rank),
        Column("since", "since (UTC)", moment, "left", usual=None, rank=waiting_rank + 1),
        Column("waited_s", "waited", seconds, usual=None, rank=0 if choice.open_only else 5),
    )
    return Table("Attempts", columns, [asdict(attempt) for attempt in rows])
