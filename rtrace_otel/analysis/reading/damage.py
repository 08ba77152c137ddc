"""What a reader met: rows, runs, gaps, and every damage with its line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from rtrace_otel.events import Row

MAX_KEPT: Final = 100
"""Damages and gaps kept one by one; beyond that they are counted only, so that memory stays flat."""

MAX_SEQ: Final = 2**53 - 1
"""A row's number is at most this: JSON readers with floating-point numbers know no larger one exactly, and a recorder
that writes a million rows a second needs 285 years for it."""


class DamageKind(StrEnum):
    """Ways in which a line can be other than one whole event."""

    TORN_TAIL = "torn tail"
    TORN_ROW = "torn row"
    FUSED_ROWS = "fused rows"
    NUL_BYTES = "NUL bytes"
    INVALID_UTF8 = "invalid UTF-8"
    LONE_SURROGATE = "lone surrogate"
    NOT_STRICT_JSON = "not strict JSON"
    NOT_JSON = "not JSON"
    NOT_AN_EVENT = "not an event"
    BAD_FIELD = "bad field"
    TOO_LONG = "line too long"
    TORN_ARCHIVE = "torn archive"
    BYTE_ORDER_MARK = "byte order mark"


@dataclass(frozen=True, slots=True)
class Damage:
    """One fault of a file.

    Attributes:
        line: Physical line, counted from 1.
        kind: What is wrong.
        detail: The text at fault, clipped, or what was expected.
        rows_recovered: Events of the line that could be read all the same.
    """

    line: int
    kind: DamageKind
    detail: str
    rows_recovered: int


@dataclass(frozen=True, slots=True)
class SeqGap:
    """Rows of a run that are missing.

    Attributes:
        run: The run.
        line: Line of the row after the gap.
        first: Sequence number of the first row missing.
        missing: How many rows are missing.
    """

    run: str
    line: int
    first: int
    missing: int


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What a reader met so far; complete once the reader is exhausted.

    Attributes:
        source: Name of the file.
        lines: Physical lines read.
        rows: Events given to the caller.
        runs: Rows of each run, in the order in which the runs appear.
        gaps: The first ``MAX_KEPT`` gaps in sequence numbers.
        gap_count: All of them.
        rows_missing: Rows missing by their sequence numbers.
        rows_out_of_order: Rows whose sequence number is not above the one before it.
        damages: The first ``MAX_KEPT`` damages.
        damage_counts: Number of damages of each kind.
        blank_lines: Blank lines, which are harmless.
        crlf_lines: Lines that end in CR LF, which are harmless.
    """

    source: str
    lines: int
    rows: int
    runs: Mapping[str, int]
    gaps: tuple[SeqGap, ...]
    rows_missing: int
    rows_out_of_order: int
    damages: tuple[Damage, ...]
    damage_counts: Mapping[DamageKind, int]
    blank_lines: int
    crlf_lines: int
    gap_count: int

    @property
    def intact(self) -> bool:
        """Whether every line was one whole event and no row is missing."""
        return not self.damage_counts and not self.rows_missing and not self.rows_out_of_order


@dataclass(slots=True)
class Tally:
    """Counts while a reader goes on; :meth:`report` freezes them.

    ``unordered`` holds the runs that were rebuilt from spans: their rows come in another order, and not all of them.
    ``ahead`` holds rows that are counted and of which some are not given yet, one in each line after ``ahead_from``.
    """

    source: str
    lines: int = 0
    rows: int = 0
    blank_lines: int = 0
    crlf_lines: int = 0
    rows_missing: int = 0
    rows_out_of_order: int = 0
    gap_count: int = 0
    runs: dict[str, int] = field(default_factory=dict)
    unordered: set[str] = field(default_factory=set)
    next_seq: dict[str, int] = field(default_factory=dict)
    gaps: list[SeqGap] = field(default_factory=list)
    damages: list[Damage] = field(default_factory=list)
    counts: Counter[DamageKind] = field(default_factory=Counter)
    ahead: Sequence[Row] = ()
    ahead_from: int = 0

    def add_damage(self, damage: Damage) -> None:
        """Count a damage, and keep it while there is room."""
        self.counts[damage.kind] += 1
        if len(self.damages) < MAX_KEPT:
            self.damages.append(damage)

    def follows(self, runs: Mapping[str, tuple[int, int]]) -> bool:
        """Whether the first number of each run is the one that comes next.

        Args:
            runs: First number and count of rows that follow each other, by run.
        """
        return all(self.next_seq.get(run, 0) == first for run, (first, _) in runs.items())

    def add_rows(self, runs: Mapping[str, tuple[int, int]]) -> None:
        """Count rows that follow those before them."""
        for run, (first, count) in runs.items():
            self.next_seq[run] = first + count
            self.runs[run] = self.runs.get(run, 0) + count
            self.rows += count

    def run_ahead(self, rows: Sequence[Row]) -> None:
        """Count rows of one run, one in each of the next lines, that follow those before them and are given later."""
        self.ahead, self.ahead_from = rows, self.lines
        self.add_rows({rows[0]["run"]: (rows[0]["seq"], len(rows))})

    def unexpected_seq(self, run: str, seq: int, line: int) -> None:
        """A row's sequence number is not the next one of its run."""
        expected = self.next_seq.get(run, 0)
        if seq < expected:
            self.rows_out_of_order += 1
            return
        self.next_seq[run] = seq + 1
        missing = seq - expected
        if missing:
            self.rows_missing += missing
            self.gap_count += 1
            if len(self.gaps) < MAX_KEPT:
                self.gaps.append(SeqGap(run, line, expected, missing))

    def report(self) -> ReadReport:
        """A frozen copy of the counts."""
        early = self.ahead[self.lines - self.ahead_from :]
        counted_early = Counter(row["run"] for row in early)
        runs = {run: count - counted_early[run] for run, count in self.runs.items()}
        return ReadReport(
            source=self.source,
            lines=self.lines,
            rows=self.rows - len(early),
            runs={run: count for run, count in runs.items() if count or run not in counted_early},
            gaps=tuple(self.gaps),
            rows_missing=self.rows_missing,
            rows_out_of_order=self.rows_out_of_order,
            damages=tuple(self.damages),
            damage_counts=dict(self.counts),
            blank_lines=self.blank_lines,
            crlf_lines=self.crlf_lines,
            gap_count=self.gap_count,
        )
