"""The sentences, facts and tables of the page: those of the commands, sorted into its sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from rtrace_otel.analysis.flow.slow import SLOWEST, STRAGGLERS
from rtrace_otel.analysis.overview import Overview
from rtrace_otel.analysis.pauses import Pauses
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.report.attempts import attempts_document
from rtrace_otel.report.check import check_document
from rtrace_otel.report.document import Block, Column, Document, Facts, Sentence, Table, printable
from rtrace_otel.report.groups import groups_document
from rtrace_otel.report.html.blocks import block_json
from rtrace_otel.report.latency import latency_blocks
from rtrace_otel.report.numbers import count, moment, seconds, shortener
from rtrace_otel.report.records import flat
from rtrace_otel.report.restore import restore_document
from rtrace_otel.report.staleness import staleness_document
from rtrace_otel.report.steps import steps_document
from rtrace_otel.report.summary import summary_document
from rtrace_otel.report.waste import waste_document

_IN_WATERFALL: Final = frozenset(
    {
        "last sign of life",
        "nothing ran for",
        "the restore took",
        "first dispatch after",
        "first sealed attempt after",
        "first step after",
        "90 % of the pace before after",
    }
)


def page_texts(found: Overview, read: ReadReport) -> dict[str, list[dict[str, Any]]]:
    """Blocks by section, as JSON values."""
    source = read.source
    restore = restore_document(found.restores, source, read.rows_missing)
    staleness = staleness_document(found.staleness, source)
    waste = waste_document(found.waste, source)
    steps = steps_document(found.steps, source)
    sections: dict[str, Sequence[Block]] = {
        "overview": summary_document(found.summary, read, with_ages=False).blocks[1:],
        "stops": [*_tables(restore)[:1], *_facts(restore)[-1:], *_tables(restore)[-1:]],
        "stop_facts": [_without_times(facts) for facts in _facts(restore)[:-1]],
        "fates": [table for table in _tables(restore) if "what became of every rollout" in table.title],
        "losses": [table for table in _tables(restore) if table.title.endswith("dearest losses")],
        "staleness": [*_findings(staleness)],
        "ages": _tables(staleness),
        "waste": [*_tables(waste)[:1], *_facts(waste)],
        "waste_steps": _tables(waste)[1:],
        "flow": [*_findings(steps), *_tables(steps)[1:]],
        "steps": _tables(steps)[:1],
        "latency": list(latency_blocks(found.slow.attempts.latencies)),
        "attempts": [_renamed("Slowest attempts", _tables(attempts_document(found.slow.attempts, SLOWEST, source))[0])],
        "groups": [_renamed("Worst stragglers", _tables(groups_document(found.slow.groups, STRAGGLERS, source))[0])],
        "pauses": [_refits(found.pauses), _checkpoints(found.pauses)],
        "check": [] if found.check is None else list(check_document(found.check, source).blocks),
        "damage": list(_damage(read)),
    }
    return {name: [block_json(block) for block in blocks] for name, blocks in sections.items()}


def _tables(document: Document) -> list[Table]:
    return [block for block in document.blocks if isinstance(block, Table)]


def _facts(document: Document) -> list[Facts]:
    return [block for block in document.blocks if isinstance(block, Facts)]


def _findings(document: Document) -> list[Sentence]:
    return [block for block in document.blocks if isinstance(block, Sentence)]


def _renamed(title: str, table: Table) -> Table:
    return replace(table, title=title)


def _without_times(facts: Facts) -> Facts:
    """What the waterfall of the stop does not show."""
    title = facts.title.removesuffix(": when")
    return Facts(title, tuple(pair for pair in facts.pairs if pair[0] not in _IN_WATERFALL))


def _refits(found: Pauses) -> Table:
    short = shortener(refit.run for refit in found.refits)
    columns = (
        Column("new_version", "to version"),
        Column("replaced_version", "from"),
        Column("run", "run", lambda run: printable(short(run)), "left"),
        Column("ended", "ended (UTC)", moment, "left"),
        Column("seconds", "took", seconds),
        Column("calls", "calls paused", count),
        Column("tokens", "their tokens", count),
    )
    return Table("Refits", columns, [flat(refit) for refit in found.refits])


def _checkpoints(found: Pauses) -> Table:
    short = shortener(one.run for one in found.checkpoints)
    columns = (
        Column("checkpoint_id", "checkpoint", printable, "left"),
        Column("step", "step"),
        Column("run", "run", lambda run: printable(short(run)), "left"),
        Column("ended", "published (UTC)", moment, "left"),
        Column("seconds", "took", seconds),
        Column("groups", "groups", count),
        Column("refusals", "dispatches refused", count),
    )
    return Table("Checkpoints", columns, [flat(one) for one in found.checkpoints])


def _damage(read: ReadReport) -> Iterator[Block]:
    if read.damages:
        columns = (
            Column("line", "line"),
            Column("kind", "damage", printable, "left"),
            Column("detail", "detail", printable, "left"),
            Column("rows_recovered", "rows read all the same", count),
        )
        yield Table("Damage", columns, [asdict(damage) for damage in read.damages])
    if read.gaps:
        columns = (
            Column("run", "run", printable, "left"),
            Column("line", "line"),
            Column("first", "first missing number"),
            Column("missing", "rows missing", count),
        )
        yield Table("Gaps", columns, [asdict(gap) for gap in read.gaps])
