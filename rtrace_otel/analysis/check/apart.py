"""The check of a file in a process of its own, with the result that it has in one pass with other analyses."""

from __future__ import annotations

from rtrace_otel.analysis.age.ages import AgeFold
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.runs import RunFold


def check_apart(reader: EventReader) -> CheckReport:
    """Check a trace with all rules.

    Args:
        reader: A reader that has given no row yet.
    """
    runs, ages = RunFold(), AgeFold(keep_steps=False)
    check = CheckFold(runs=runs, ages=ages)
    for row in reader:
        runs.add(row)
        ages.add(row)
        check.add(row, reader.line)
    return check.result(reader.report)
