"""What a trace holds, how old its batches are, what its stops cost and whether its numbers add up: in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rtrace_otel.analysis.age.staleness import STALENESS_EVENTS, Staleness, StalenessFold
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.analysis.summary import SummaryFold
from rtrace_otel.analysis.summary_results import Summary


@dataclass(frozen=True, slots=True)
class Answers:
    """The results of four analyses, each as its own pass gives it.

    Attributes:
        summary: As from ``summarise``.
        age: As from ``staleness``.
        restore: As from ``restore_report``.
        check: As from ``check_trace`` with all rules.
    """

    summary: Summary
    age: Staleness
    restore: RestoreReport
    check: CheckReport


def answers(reader: EventReader, checked: Callable[[], CheckReport] | None = None) -> Answers:
    """All of it in one pass.

    Args:
        reader: A reader that has given no row yet.
        checked: Gives the result of the check when all rows were read, if another process checks them.
    """
    runs, age = RunFold(), StalenessFold()
    restore, summary = RestoreFold(runs=runs), SummaryFold(runs=runs, ages=age.ages)
    check = CheckFold(runs=runs, ages=age.ages) if checked is None else None
    for row in reader:
        runs.add(row)
        if row["event"] in STALENESS_EVENTS:
            age.add(row)
        summary.add(row)
        restore.add(row)
        if check is not None:
            check.add(row, reader.line)
    found = summary.result(), age.result(), restore.result()
    if check is not None:
        return Answers(*found, check.result(reader.report))
    assert checked is not None
    return Answers(*found, checked())
