"""One frame of ``rtrace watch`` as a document, for Markdown and CSV: without a screen there is no need to leave out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.tail import TailState
from rtrace_otel.analysis.watch.results import Happening, Snapshot
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import age, count, moment, seconds
from rtrace_otel.report.watch_words import warnings


def watch_document(snapshot: Snapshot, read: ReadReport, state: TailState) -> Document:
    """The frame: warnings, numbers by name (these are the CSV), runs, open attempts, what happened last.

    Args:
        snapshot: The trace now.
        read: What was wrong with its lines.
        state: What the last look at the file found.
    """
    blocks: list[Block] = [Sentence(text, "finding") for text in warnings(snapshot, read, state)]
    blocks += [_numbers(snapshot), _runs(snapshot)]
    blocks += [_slowest(snapshot)] if snapshot.slowest else []
    happened = [*snapshot.refits, *snapshot.checkpoints, *snapshot.restores]
    blocks += [_happened(happened)] if happened else []
    return Document(f"{state.path} at {moment(snapshot.now)} UTC", tuple(blocks))


def _numbers(snapshot: Snapshot) -> Table:
    columns = (Column("name", "what", align="left"), Column("value", "value", _number))
    return Table("Now", columns, [{"name": name, "value": value} for name, value in _named(snapshot)])


def _named(snapshot: Snapshot) -> Iterator[tuple[str, float | None]]:
    rates = snapshot.rates
    yield "rows", snapshot.rows
    yield "seconds since the last row", None if snapshot.last_row is None else snapshot.now - snapshot.last_row
    yield "runs", snapshot.run_count
    yield from _by_outcome("attempts", asdict(snapshot.attempts))
    yield from _by_outcome("groups", asdict(snapshot.groups))
    yield "seconds that the rates are over", rates.seconds
    yield "rows per second", rates.rows
    yield "attempts dispatched per second", rates.dispatched
    yield "attempts sealed per second", rates.sealed
    yield "tokens trained per second", rates.trained_tokens
    yield "last step", snapshot.steps[-1].step if snapshot.steps else None
    yield "batch age of the last step", snapshot.steps[-1].batch_age if snapshot.steps else None
    yield "rows lost", snapshot.rows_lost
    yield "clock steps", snapshot.clock_steps


def _by_outcome(what: str, counts: dict[str, int]) -> Iterator[tuple[str, int]]:
    return ((f"{what} {outcome.replace('_', ' ')}", value) for outcome, value in counts.items())


def _number(value: float | None) -> str:
    return age(value) if isinstance(value, float) else count(value)


def _runs(snapshot: Snapshot) -> Table:
    columns = (
        Column("run", "run", align="left"),
        Column("started", "began (UTC)", moment, "left"),
        Column("last_row", "last row (UTC)", moment, "left"),
        Column("ended_how", "ended", align="left"),
        Column("reason", "reason", align="left"),
        Column("restored_from", "restored from", align="left"),
        Column("first_step", "first step"),
        Column("last_step", "last step"),
        Column("rows", "rows", count),
        Column("host", "host", align="left"),
    )
    return Table("Runs, the latest first", columns, [asdict(run) for run in reversed(snapshot.runs)])


def _slowest(snapshot: Snapshot) -> Table:
    columns = (
        Column("attempt_id", "attempt", align="left"),
        Column("for_s", "open for", seconds),
        Column("refused", "refused", lambda refused: "yes" if refused else "no", "left"),
        Column("prompt_id", "prompt", align="left"),
        Column("group_id", "group", align="left"),
        Column("instance", "instance", align="left"),
        Column("run", "run", align="left"),
    )
    records: list[dict[str, Any]] = [
        {**asdict(one), "for_s": None if one.since is None else max(snapshot.now - one.since, 0.0)}
        for one in snapshot.slowest
    ]
    return Table("Open longest", columns, records)


def _happened(several: list[Happening]) -> Table:
    columns = (
        Column("kind", "what", align="left"),
        Column("what", "version or checkpoint", printable, "left"),
        Column("t", "ended (UTC)", moment, "left"),
        Column("seconds", "took", seconds),
        Column("calls_cut", "calls cut", count),
        Column("groups", "groups", count),
        Column("run", "run", align="left"),
    )
    latest_first = sorted(several, key=lambda one: -1.0 if one.t is None else one.t, reverse=True)
    return Table("Latest refits, checkpoints and restores", columns, [asdict(one) for one in latest_first])
