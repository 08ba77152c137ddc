"""Rules of rows as they come: their time, their number, their fields, and what the recorder says of itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.values import named
from rtrace_otel.analysis.checked import time_of
from rtrace_otel.events import EVENTS_BY_NAME, Row
from rtrace_otel.validation import validate_row

MAX_PROBLEMS: Final = 5
"""Fields of one row that one message names."""


@dataclass(slots=True)
class _Latest:
    """The latest time and the highest number of a run's rows, and the lines that they stand in."""

    time: float = -math.inf
    time_line: int = 0
    number: int = -1
    number_line: int = 0


class StreamRules:
    """Looks at every row.

    Args:
        findings: Takes RT701, RT702, RT802, RT805 and RT806.
    """

    def __init__(self, findings: Findings) -> None:
        """Begin with no row seen."""
        self._findings = findings
        self._runs: dict[str, _Latest] = {}
        self._gaps: set[str] = set()

    @property
    def runs_with_gaps(self) -> frozenset[str]:
        """Runs whose recorder says that it lost rows."""
        return frozenset(self._gaps)

    def look(self, row: Row, life: Life, line: int) -> None:
        """Any row."""
        latest = self._runs.get(life.run)
        if latest is None:
            latest = self._runs[life.run] = _Latest()
        t = time_of(row)
        if t is not None:
            if t >= latest.time:
                latest.time, latest.time_line = t, line
            else:
                self._report_time(t, latest, Place(life, line))
        seq = row.get("seq")
        if type(seq) is int:
            if seq > latest.number:
                latest.number, latest.number_line = seq, line
            else:
                self._report_number(seq, latest, Place(life, line))
        if row["event"] in EVENTS_BY_NAME and (problems := validate_row(row)):
            shown = "; ".join(f"{p.field}: expected {p.expected}, found {p.found}" for p in problems[:MAX_PROBLEMS])
            more = f"; and {len(problems) - MAX_PROBLEMS:,} more" if len(problems) > MAX_PROBLEMS else ""
            self._findings.report("RT806", Place(life, line), f"{row['event']}: {shown}{more}.")

    def adjust_clock(self, row: Row, place: Place) -> None:
        """The host's clock was stepped."""
        offset = row.get("offset_s")
        by = ""
        if isinstance(offset, (int, float)) and not isinstance(offset, bool) and -1e12 < offset < 1e12:
            by = f" by {offset:+.3f} s"
        self._findings.report("RT702", place, f"The host's clock was stepped{by}.")

    def lose(self, row: Row, place: Place) -> None:
        """The recorder lost rows."""
        self._gaps.add(place.life.run)
        lost = row.get("lost")
        number = f"{lost:,}" if type(lost) is int and 0 <= lost < 10**15 else "an unknown number of"
        self._findings.report("RT805", place, f"The recorder lost {number} rows: {named(row.get('reason', '-'))}.")

    def _report_time(self, t: float, latest: _Latest, place: Place) -> None:
        text = f"The row's time {t:.6f} is {latest.time - t:.6f} s before that of line {latest.time_line:,}."
        self._findings.report("RT701", place, text)

    def _report_number(self, seq: int, latest: _Latest, place: Place) -> None:
        before = f"line {latest.number_line:,} has number {latest.number:,} already"
        self._findings.report("RT802", place, f"The row's sequence number is {seq:,}; {before}.")
