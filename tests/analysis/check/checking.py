"""Checks of small hand-made traces, for the tests of the rules."""

from __future__ import annotations

from collections.abc import Iterable

from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from tests.analysis.rows import text
from tests.report.history import event, trace


def checked(*events: Row) -> CheckReport:
    """The report of a trace whose rows are numbered and timed in this order; its own counts agree."""
    return checked_lines(text(row) for row in trace(*events))


def checked_lines(lines: Iterable[bytes]) -> CheckReport:
    """The report of a file with these lines; its own counts agree."""
    report = check_trace(read_events(lines))
    report.self_check()
    return report


def found(*events: Row) -> list[tuple[str, str, int | None]]:
    """Code, severity and line of every finding of a trace but those of the schema and of killed runs."""
    return brief(checked(*events))


def brief(report: CheckReport) -> list[tuple[str, str, int | None]]:
    """Code, severity and line of every finding but those of the schema and of killed runs."""
    passed_over = {"RT806", "RT107"}
    return [(one.code, one.severity.value, one.line) for one in report.findings if one.code not in passed_over]


def done(run: str, attempt: str, tokens: int | None = None, *, masked: bool = False) -> Row:
    """An attempt has its result."""
    told = {} if tokens is None else {"tokens": tokens}
    return event(run, "attempt_sealed", attempt_id=attempt, masked=masked, **told)


def kept(run: str, attempt: str, group: str = "g", tokens: int | None = None) -> Row:
    """A restore kept a sealed sibling."""
    told = {} if tokens is None else {"tokens_kept": tokens}
    return event(run, "attempt_resumed", attempt_id=attempt, level="sibling", group_id=group, **told)


def given_up(run: str, attempt: str, tokens: int | None = None) -> Row:
    """An attempt was abandoned."""
    told = {} if tokens is None else {"tokens": tokens}
    return event(run, "attempt_abandoned", attempt_id=attempt, reason="timeout", **told)


def saved(run: str, step: int, **fields: object) -> Row:
    """A checkpoint was published."""
    return event(run, "checkpoint_published", checkpoint_id=f"ckpt-{step}", step=step, **fields)
