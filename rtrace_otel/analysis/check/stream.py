"""Rules of rows as they come: their time, their number, their fields, and what the recorder says of itself."""

from __future__ import annotations

import math
from typing import Final

from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Place
from rtrace_otel.analysis.check.values import named
from rtrace_otel.analysis.checked import time_of
from rtrace_otel.events import EVENTS_BY_NAME, Row
from rtrace_otel.validation import validate_row

MAX_PROBLEMS: Final = 5
"""Fields of one row that one message names."""


class StreamRules:
    """Looks at every row.

    Args:
        findings: Takes RT701, RT702, RT802, RT805 and RT806.
    """

    def __init__(self, findings: Findings) -> None:
        """Begin with no row seen."""
        self._findings = findings
        self._latest: dict[str, tuple[float, int]] = {}
        self._numbers: dict[str, tuple[int, int]] = {}
        self._gaps: set[str] = set()

    @property
    def runs_with_gaps(self) -> frozenset[str]:
        """Runs whose recorder says that it lost rows."""
        return frozenset(self._gaps)

    def look(self, row: Row, place: Place) -> None:
        """Any row."""
        self._check_time(row, place)
        self._check_number(row, place)
        if row["event"] in EVENTS_BY_NAME and (problems := validate_row(row)):
            shown = "; ".join(f"{p.field}: expected {p.expected}, found {p.found}" for p in problems[:MAX_PROBLEMS])
            more = f"; and {len(problems) - MAX_PROBLEMS:,} more" if len(problems) > MAX_PROBLEMS else ""
            self._findings.report("RT806", place, f"{row['event']}: {shown}{more}.")

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

    def _check_time(self, row: Row, place: Place) -> None:
        t, run = time_of(row), place.life.run
        if t is None:
            return
        latest, line = self._latest.get(run, (-math.inf, 0))
        if t >= latest:
            self._latest[run] = (t, place.line)
        else:
            text = f"The row's time {t:.6f} is {latest - t:.6f} s before that of line {line:,}."
            self._findings.report("RT701", place, text)

    def _check_number(self, row: Row, place: Place) -> None:
        seq, run = row.get("seq"), place.life.run
        if type(seq) is not int:
            return
        last, line = self._numbers.get(run, (-1, 0))
        if seq > last:
            self._numbers[run] = (seq, place.line)
            return
        text = f"The row's sequence number is {seq:,}; line {line:,} has number {last:,} already."
        self._findings.report("RT802", place, text)
