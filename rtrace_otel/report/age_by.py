"""The report of ``rtrace age --by``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.analysis.age.by_field import AgeBy, ValueAge, ValueKind
from rtrace_otel.analysis.age.staleness import Staleness
from rtrace_otel.report.age import headline
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import age, count, percent
from rtrace_otel.report.staleness import coverage_blocks

MAX_SHOWN: Final = 48
"""Characters of a value that people see; files and scripts get all that the analysis kept."""


def by_document(by: AgeBy, found: Staleness, source: str) -> Document:
    """Batch age by the values of a field, as a document.

    Args:
        by: From the analysis.
        found: The staleness of the file.
        source: Name of the file.
    """
    title = f"Batch age of {source} by {by.field}"
    if not found.ages.steps:
        return Document(title, (Sentence("No training step in this file."), _table(by)))
    blocks: list[Block] = [Sentence(headline(found.ages), "finding"), *coverage_blocks(found.coverage)]
    if all(value.kind is ValueKind.NOT_GIVEN for value in by.values):
        blocks.append(Sentence(f"No row of a trained group has the field {printable(by.field)}.", "finding"))
    return Document(title, (*blocks, _table(by)))


def by_json(by: AgeBy) -> dict[str, Any]:
    """The same as JSON values."""
    total = _total(by)
    values = [{**asdict(value), **_derived(value, total)} for value in by.values]
    return {"by": {"field": by.field, "values": values}}


def _table(by: AgeBy) -> Table:
    columns = (
        Column("value", by.field if by.field.isidentifier() else "value", _shortened, "left"),
        Column("batch_age", "batch age", age),
        Column("tokens", "tokens", count),
        Column("share", "share", percent, rank=2),
        Column("groups", "groups", count, rank=1),
        Column("groups_without_tokens", "no data", usual=0, rank=3),
    )
    total = _total(by)
    return Table("Batch age, in weight versions", columns, [_record(value, total) for value in by.values])


def _total(by: AgeBy) -> int:
    return sum(value.tokens for value in by.values)


def _shortened(value: object) -> str:
    text = printable(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def _record(value: ValueAge, total: int) -> Mapping[str, Any]:
    return {
        "value": value.value if value.kind is ValueKind.VALUE else f"({value.kind})",
        "batch_age": value.batch_age,
        "tokens": value.tokens,
        "groups": value.groups,
        **_derived(value, total),
    }


def _derived(value: ValueAge, total: int) -> dict[str, Any]:
    return {
        "share": value.tokens / total if total else None,
        "groups_without_tokens": value.groups - value.groups_with_tokens,
    }
