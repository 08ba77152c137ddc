"""What the rules find: kept up to a bound for each code, counted without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.registry import RULES_BY_CODE
from rtrace_otel.analysis.check.rule import Severity

MAX_KEPT: Final = 100
"""Findings of one code that are kept one by one; beyond that they are counted."""

Missing = Callable[[Life | None], str]
"""Says of a life whether rows are missing in its past: a sentence, or nothing. ``None`` asks of the whole file."""

_ORDER: Final = {severity: place for place, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where something does not add up.

    Attributes:
        code: The rule.
        severity: How bad it is; an error of a rule that missing rows can explain is a warning where rows are missing.
        run: The run, if it is about one.
        line: Physical line of the file, from 1, if it is about one.
        message: What is wrong, with ids and numbers.
    """

    code: str
    severity: Severity
    run: str | None
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class _Kept:
    life: Life | None
    line: int | None
    message: str


class Findings:
    """Collects findings.

    Args:
        codes: The rules that are wanted; findings of others are let go.
    """

    def __init__(self, codes: Collection[str]) -> None:
        """Begin without findings."""
        self._codes = frozenset(codes)
        self._kept: dict[str, list[_Kept]] = {}
        self._counts: dict[str, Counter[Life | None]] = {}

    def report(self, code: str, place: Place | None, message: str, *, line: int | None = None) -> None:
        """Take a finding.

        Args:
            code: The rule.
            place: Where; ``None`` if it is about the file.
            message: What is wrong, with ids and numbers.
            line: The line, where there is no place.
        """
        life = place.life if place else None
        if code not in self._codes or (life is not None and not is_judged(code, life)):
            return
        self._counts.setdefault(code, Counter())[life] += 1
        kept = self._kept.setdefault(code, [])
        if len(kept) < MAX_KEPT:
            kept.append(_Kept(life, place.line if place else line, message))

    def count_more(self, code: str, number: int) -> None:
        """Findings about the file that the reader has counted but not kept."""
        if code in self._codes and number > 0:
            self._counts.setdefault(code, Counter())[None] += number

    @contextmanager
    def provisional(self) -> Iterator[None]:
        """What is reported inside the block is forgotten after it: findings of a file that may still grow."""
        kept = {code: several[:] for code, several in self._kept.items()}
        counts = {code: counter.copy() for code, counter in self._counts.items()}
        try:
            yield
        finally:
            self._kept, self._counts = kept, counts

    def result(self, missing: Missing) -> tuple[tuple[Finding, ...], dict[str, dict[Severity, int]]]:
        """The findings, the worst first, then by code and line; and all that were found, by code and severity.

        Args:
            missing: Where rows are missing.
        """
        found = [self._finding(code, kept, missing) for code, several in self._kept.items() for kept in several]
        found.sort(key=lambda finding: (_ORDER[finding.severity], finding.code, finding.line or 0))
        counts: dict[str, dict[Severity, int]] = {}
        for code in sorted(self._counts):
            by_severity: Counter[Severity] = Counter()
            for life, number in self._counts[code].items():
                by_severity[_severity(code, missing(life))] += number
            counts[code] = dict(by_severity)
        return tuple(found), counts

    @staticmethod
    def _finding(code: str, kept: _Kept, missing: Missing) -> Finding:
        why = missing(kept.life) if RULES_BY_CODE[code].from_missing_rows else ""
        run = kept.life.run if kept.life else None
        return Finding(code, _severity(code, why), run, kept.line, f"{kept.message} {why}" if why else kept.message)


def _severity(code: str, missing: str) -> Severity:
    rule = RULES_BY_CODE[code]
    lowered = missing and rule.from_missing_rows and rule.severity is Severity.ERROR
    return Severity.WARNING if lowered else rule.severity


def is_judged(code: str, life: Life) -> bool:
    """Whether the rows of a life have what a rule needs."""
    rule = RULES_BY_CODE[code]
    return (rule.on_spans or not life.from_spans) and (rule.on_unnumbered or life.numbered or life.from_spans)
