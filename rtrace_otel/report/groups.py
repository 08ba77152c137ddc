"""The report of ``rtrace groups``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import GroupsReport
from rtrace_otel.report.attempts import sorted_by
from rtrace_otel.report.document import Column, Document, Sentence, Table, printable
from rtrace_otel.report.latency import headline, latency_blocks, latency_json
from rtrace_otel.report.numbers import count, moment, seconds, shortener


def groups_document(report: GroupsReport, choice: Choice, source: str) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        choice: What was asked for.
        source: Name of the file.
    """
    order = sorted_by(choice)
    text = headline("group", report.matching, report.known, len(report.groups), report.by_outcome, order)
    blocks = (Sentence(text, "finding"), _table(report, choice), *latency_blocks(report.latencies))
    return Document(f"Groups of {source}", blocks)


def groups_json(report: GroupsReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "groups": [asdict(group) for group in report.groups],
        "matching": report.matching,
        "by_outcome": dict(report.by_outcome),
        "known": report.known,
        "latencies": latency_json(report.latencies),
    }


def _table(report: GroupsReport, choice: Choice) -> Table:
    waiting_rank = 0 if choice.open_only else 4
    rows = report.groups
    group_id = shortener(row.group_id for row in rows)
    run_ids = [run for row in rows for run in (row.run, row.origin_run, row.next_run, row.trained_run)]
    short = shortener(run for run in run_ids if run is not None)

    def run(value: Any) -> str:
        return printable(short(value))

    columns = (
        Column("group_id", "group", lambda value: printable(group_id(value)), "left"),
        Column("prompt_id", "prompt", rank=3),
        Column("epoch", "epoch", usual=None, rank=10),
        Column("run", "run", run, "left", rank=4),
        Column("origin_run", "from run", run, "left", usual=None, rank=9),
        Column("next_run", "next run", run, "left", usual=None, rank=9),
        Column("generations", "generations", rank=8),
        Column("sealed", "sealed"),
        Column("kept", "kept", usual=0, rank=7),
        Column("abandoned", "abandoned", usual=0, rank=5),
        Column("open", "open", usual=0, rank=5),
        Column("reserved", "reserved (UTC)", moment, "left", rank=7),
        Column("published_s", "to published", seconds, rank=2),
        Column("queue_s", "in queue", seconds, usual=None, rank=2),
        Column("straggler_s", "straggler", seconds, rank=1),
        Column("straggler_generation", "which", rank=6),
        Column("tokens", "tokens", count, rank=6),
        Column("published_tokens", "published", count, rank=11),
        Column("outcome", "outcome", printable, "left"),
        Column("reason", "reason", printable, "left", usual=None, rank=2),
        Column("trained_step", "step", usual=None, rank=1),
        Column("trained_run", "step's run", run, "left", usual=None, rank=12),
        Column("waiting_for", "waits for", printable, "left", usual=None, rank=waiting_rank),
        Column("since", "since (UTC)", moment, "left", usual=None, rank=waiting_rank + 1),
        Column("waited_s", "waited", seconds, usual=None, rank=0 if choice.open_only else 5),
    )
    return Table("Groups", columns, [asdict(group) for group in rows])
