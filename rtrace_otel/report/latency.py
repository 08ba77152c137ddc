"""The table of latencies that ``rtrace attempts`` and ``rtrace groups`` share, and their words on what is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.flow.phases import PhaseLatency
from rtrace_otel.analysis.flow.records import Outcome
from rtrace_otel.analysis.percentiles import EXACT_UP_TO, RELATIVE_ERROR
from rtrace_otel.report.document import Block, Column, Sentence, Table
from rtrace_otel.report.numbers import count, plural, seconds


def latency_blocks(latencies: Sequence[PhaseLatency]) -> tuple[Block, ...]:
    """The table of the phases of which something is known, if there are any, and how exact it is."""
    columns = (
        Column("phase", "phase", _words, "left"),
        Column("count", "count", count),
        Column("p50", "p50", seconds),
        Column("p95", "p95", seconds),
        Column("p99", "p99", seconds, rank=1),
        Column("max", "max", seconds),
    )
    known = [latency for latency in latencies if latency.seconds.count]
    if not known:
        return ()
    blocks: list[Block] = [Table("Latency per phase", columns, [_record(latency) for latency in known])]
    if any(not latency.seconds.exact for latency in known):
        blocks.append(
            Sentence(f"Percentiles of more than {EXACT_UP_TO:,} values are within {100 * RELATIVE_ERROR:.0f} %.")
        )
    return tuple(blocks)


def latency_json(latencies: Sequence[PhaseLatency]) -> list[dict[str, Any]]:
    """Every phase as JSON values."""
    return [_record(latency) for latency in latencies]


def headline(noun: str, matching: int, known: int, shown: int, by_outcome: Mapping[str, int], order: str) -> str:
    """How many match, how they ended, and what the table shows of them.

    Args:
        noun: What they are, ``attempt`` or ``group``.
        matching: How many match.
        known: How many the file has.
        shown: How many the table shows.
        by_outcome: Those that match, by outcome.
        order: What the table is sorted by, in words.
    """
    if not matching:
        return f"None of {plural(known, noun)} matches." if known else f"No {noun} in this file."
    outcomes = ", ".join(f"{count(by_outcome[outcome])} {outcome}" for outcome in Outcome if outcome in by_outcome)
    text = plural(known, noun) if matching == known else f"{count(matching)} of {plural(known, noun)}"
    text += f": {outcomes}."
    return text if shown == matching else f"{text} The table shows {count(shown)} of them, {order}."


def _record(latency: PhaseLatency) -> dict[str, Any]:
    return {"phase": latency.phase, **asdict(latency.seconds)}


def _words(phase: Any) -> str:
    return str(phase).replace("_", " ")
