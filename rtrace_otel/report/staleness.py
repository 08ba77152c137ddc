"""What stands behind the batch ages: where they come from, how token ages spread, what a restore changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.analysis.age.coverage import Coverage
from rtrace_otel.analysis.age.restores import AgeWindow, RestoreAge
from rtrace_otel.analysis.age.split import AgeSplit, SplitMissing
from rtrace_otel.analysis.age.staleness import Staleness
from rtrace_otel.report.age import age_document, age_json
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import age, count, listed, percent, plural, ranges, shortener

MAX_AGES: Final = 12
"""Rows of the table of token ages; the oldest tokens share the last one."""


def staleness_document(found: Staleness, source: str) -> Document:
    """The batch ages and what stands behind them.

    Args:
        found: From the analysis.
        source: Name of the file.
    """
    document = age_document(found.ages, source)
    if not found.ages.steps:
        return document
    head, *rest = document.blocks
    blocks: list[Block] = [head, *coverage_blocks(found.coverage), *rest, *_split_blocks(found)]
    if found.histogram:
        blocks.append(_histogram_table(found.histogram))
    if found.restores:
        blocks.append(_restore_table(found.restores))
    return Document(document.title, tuple(blocks))


def staleness_json(found: Staleness) -> dict[str, Any]:
    """The same as JSON values."""
    return age_json(found.ages) | {
        "split": _split_record(found.split),
        "split_missing": {reason.value: list(steps) for reason, steps in _unsplit(found).items()},
        "histogram": _histogram_records(found.histogram),
        "coverage": _coverage_record(found.coverage),
        "restores": [_restore_json(restore) for restore in found.restores],
        "step_details": [
            {
                "step": detail.step,
                "split": _split_record(detail.split),
                "split_missing": detail.split_missing,
                "histogram": _histogram_records(detail.histogram),
                "coverage": _coverage_record(detail.coverage),
            }
            for detail in found.steps
        ],
    }


def coverage_blocks(coverage: Coverage) -> list[Block]:
    """What is not in the ages, in one sentence; nothing if every trained token is."""
    return [] if coverage.complete else [Sentence(coverage_sentence(coverage), "finding")]


def coverage_sentence(coverage: Coverage) -> str:
    """How many trained tokens have no age, and which: none of them counts as age 0."""
    parts = (
        (coverage.unknown_begin, "in calls whose begin version is not in the file"),
        (coverage.beyond_known, "that steps state beyond those that the file accounts for"),
        (coverage.no_trained_version, "in steps without a trained_version"),
    )
    without = plural(coverage.groups_without_tokens, "group")
    counted = listed([f"{count(tokens)} {which}" for tokens, which in parts if tokens])
    if coverage.uncounted_groups:
        return (
            f"The age covers {plural(coverage.known, 'token')}. How many it misses is not in the file: "
            f"{without} had no token data, {count(coverage.uncounted_groups)} of them in steps that do not state their "
            f"tokens{f'; also missing are {counted}' if counted else ''}."
        )
    text = (
        f"Coverage {_floored(coverage.share)}. Without an age, and so in no mean: {count(coverage.unknown)} of "
        f"{plural(coverage.known + coverage.unknown, 'trained token')} ({counted})."
    )
    return text + (f" {without} had no token data." if coverage.groups_without_tokens else "")


def _floored(share: float | None) -> str:
    """A share in per cent with one digit, rounded down: what is not complete never reads 100 %."""
    return "-" if share is None else f"{math.floor(1000 * share) / 10:.1f} %"


def _split_blocks(found: Staleness) -> list[Block]:
    blocks: list[Block] = []
    if found.split is not None:
        blocks += [Sentence(split_sentence(found.split, sum(d.split is not None for d in found.steps))), _parts(found)]
    unsplit = _unsplit(found)
    if unsplit:
        number = sum(map(len, unsplit.values()))
        why = listed([f"{reason.value} ({_steps(steps)})" for reason, steps in unsplit.items()])
        blocks.append(
            Sentence(f"The age of {number} of {plural(len(found.steps), 'step')} cannot be split into parts: {why}.")
        )
    return blocks


def split_sentence(split: AgeSplit, steps: int) -> str:
    """The parts of the batch age, in words.

    Args:
        split: Over all steps that can be split.
        steps: How many these are.
    """
    return (
        f"Over {plural(steps, 'step')}, {split.batch_age:.3f} versions of age are: {split.in_call:.3f} while the call "
        f"still ran (in call), {split.in_group:.3f} until its group was published (in group), {split.in_queue:.3f} "
        f"until the step began (in queue), {split.train_lag:.3f} by which the trainer was ahead (train lag)."
    )


def _parts(found: Staleness) -> Table:
    columns = (
        Column("step", "step"),
        Column("batch_age", "batch age", age),
        Column("in_call", "in call", age),
        Column("in_group", "in group", age),
        Column("in_queue", "in queue", age),
        Column("train_lag", "train lag", age),
        Column("tokens", "tokens", count, rank=1),
    )
    records = [
        {"step": detail.step, **(_split_record(detail.split) or {"batch_age": step.best, "tokens": step.tokens})}
        for step, detail in zip(found.ages.steps, found.steps, strict=True)
    ]
    return Table("Where the age comes from, in weight versions", columns, records)


def _unsplit(found: Staleness) -> dict[SplitMissing, tuple[int, ...]]:
    steps: dict[SplitMissing, tuple[int, ...]] = {}
    for detail in found.steps:
        if detail.split_missing is not None:
            steps[detail.split_missing] = (*steps.get(detail.split_missing, ()), detail.step)
    return steps


def _steps(numbers: tuple[int, ...]) -> str:
    return f"{'step' if len(numbers) == 1 else 'steps'} {ranges(numbers)}"


def _split_record(split: AgeSplit | None) -> dict[str, Any] | None:
    return None if split is None else {**asdict(split), "batch_age": split.batch_age}


def _coverage_record(coverage: Coverage) -> dict[str, Any]:
    return {**asdict(coverage), "share": coverage.share, "complete": coverage.complete}


def _histogram_records(histogram: Mapping[int, int]) -> list[dict[str, Any]]:
    """Each age with its tokens, their share, and the share of those that are as old or older."""
    total = left = sum(histogram.values())
    records = []
    for versions, tokens in histogram.items():
        share, older = (tokens / total, left / total) if total else (None, None)
        records.append({"age": versions, "tokens": tokens, "share": share, "share_as_old": older})
        left -= tokens
    return records


def _histogram_table(histogram: Mapping[int, int]) -> Table:
    records = _histogram_records(histogram)
    if len(records) > MAX_AGES:
        first = records[MAX_AGES - 1]
        rest = records[MAX_AGES - 1 :]
        tokens = sum(record["tokens"] for record in rest)
        oldest = {**first, "age": f"{first['age']} to {rest[-1]['age']}", "tokens": tokens}
        records = [*records[: MAX_AGES - 1], {**oldest, "share": first["share_as_old"]}]
    columns = (
        Column("age", "token age"),
        Column("tokens", "tokens", count),
        Column("share", "share", percent),
        Column("share_as_old", "as old or older", percent),
    )
    return Table("Token ages, in weight versions", columns, records)


def _restore_table(restores: tuple[RestoreAge, ...]) -> Table:
    short = shortener(restore.run for restore in restores)
    columns = (
        Column("checkpoint_id", "restored", printable, "left", rank=1),
        Column("run", "by run", lambda run: printable(short(run)), "left", rank=3),
        Column("steps_before", "steps before", printable, "left", rank=2),
        Column("batch_age_before", "age before", age),
        Column("steps_after", "steps after", printable, "left", rank=2),
        Column("batch_age_after", "age after", age),
        Column("change", "change", _signed),
    )
    return Table("Batch age before each stop and after its restore", columns, [_restore_record(r) for r in restores])


def _restore_record(restore: RestoreAge) -> dict[str, Any]:
    return {
        "checkpoint_id": restore.checkpoint_id,
        "run": restore.run,
        "steps_before": _numbers(restore.before),
        "batch_age_before": restore.before.batch_age,
        "steps_after": _numbers(restore.after),
        "batch_age_after": restore.after.batch_age,
        "change": restore.change,
    }


def _restore_json(restore: RestoreAge) -> dict[str, Any]:
    return {**asdict(restore), "change": restore.change}


def _numbers(window: AgeWindow) -> str | None:
    return ranges(tuple(sorted(window.steps))) or None


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"
