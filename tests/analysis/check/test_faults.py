"""One fault at a time in a real job: the rule that is meant for it finds it, in its line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import pytest

from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from tests.analysis.check.checking import checked_lines
from tests.analysis.rows import text
from tests.record_demo import DATA

Change: TypeAlias = Callable[[Row], Row | None]
"""What becomes of the row at fault; ``None`` if it is left out."""

NTH = 3
"""Which row of an event is at fault: not the first, so that there is something before it."""


def broken(event: str, change: Change) -> tuple[list[Row], int]:
    """The rows of the stored demo with one of them changed, numbered without gaps; and the line of the change."""
    rows: list[Row] = []
    line, seen = 0, 0
    for row in read_events(DATA / "rollout_trace.jsonl.gz"):
        if row["event"] == event:
            seen += 1
            if seen == NTH:
                line = len(rows) + 1
                changed = change(row)
                rows += [] if changed is None else [changed]
                continue
        rows.append(row)
    return list(_numbered(rows)), line


def _numbered(rows: Iterable[Row]) -> Iterable[Row]:
    numbers: Counter[str] = Counter()
    for row in rows:
        yield {**row, "seq": numbers[row["run"]]}
        numbers[row["run"]] += 1


def errors(rows: Iterable[Row]) -> list[tuple[str, int | None]]:
    """Code and line of every error."""
    report = checked_lines(map(text, rows))
    return [(one.code, one.line) for one in report.findings if one.severity is Severity.ERROR]


def test_the_job_without_a_fault() -> None:
    """Numbered anew, the job is as it was: no error."""
    assert [] == errors(broken("group_published", lambda row: row)[0])


@pytest.mark.parametrize(
    ("event", "fields", "code"),
    [
        ("train_step", {"batch_age": 9.25}, "RT503"),
        ("weight_sync", {"new_version": 0}, "RT401"),
        ("weight_sync", {"replaced_version": 7, "new_version": 8}, "RT402"),
        ("attempt_sealed", {"t": 1_000.0}, "RT701"),
        ("group_published", {"call_versions": [["c", 0, 5]]}, "RT302"),
        ("group_published", {"tokens_by_version": {99: 5}, "call_versions": None}, "RT403"),
        ("train_step", {"trained_version": -50}, "RT501"),
        ("train_step", {"group_ids": ["nobody published this"]}, "RT201"),
        ("attempt_sealed", {"attempt_id": "nobody dispatched this"}, "RT104"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_that_is_wrong(event: str, fields: dict[str, Any], code: str) -> None:
    """The error names the line of the row."""
    rows, line = broken(event, lambda row: {**row, **fields})

    assert (code, line) in errors(rows)


@pytest.mark.parametrize(
    ("event", "code"),
    [("weight_sync", "RT402"), ("group_published", "RT201"), ("attempt_dispatched", "RT104"), ("train_step", "RT601")],
)
def test_a_row_that_was_never_written(event: str, code: str) -> None:
    """The numbers have no gap, so nothing but the event that follows from it tells; that is an error."""
    rows, _ = broken(event, lambda _: None)

    assert code in {found for found, _ in errors(rows)}


def test_fewer_tokens_in_a_seal_than_were_trained() -> None:
    """One result of a group says a token less than its calls have: the group trained one too many."""
    rows, _ = broken("attempt_sealed", lambda row: {**row, "tokens": row["tokens"] - 1})

    assert ["RT301", "RT312"] == [code for code, _ in errors(rows)]


def test_counts_of_another_version_than_the_calls_tell() -> None:
    """All tokens of a step's group are moved a version down: neither the age nor the counts follow from the calls."""

    def moved(row: Row) -> Row:
        return {**row, "tokens_by_version": {int(v) - 1: n for v, n in row["tokens_by_version"].items()}}

    assert {"RT502"} <= {code for code, _ in errors(broken("group_published", moved)[0])}
