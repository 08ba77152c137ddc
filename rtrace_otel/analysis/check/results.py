"""What a check gives: frozen results, without how they come about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtrace_otel.analysis.check.findings import MAX_KEPT, Finding
from rtrace_otel.analysis.check.ledger import Ledger
from rtrace_otel.analysis.check.rule import Severity


@dataclass(frozen=True, slots=True)
class Skipped:
    """A rule that could not be judged everywhere.

    Attributes:
        code: The rule.
        runs: The runs that lack what it needs.
        everywhere: Whether these are all runs of the file.
        reason: What they lack.
    """

    code: str
    runs: tuple[str, ...]
    everywhere: bool
    reason: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Whether a trace adds up.

    Attributes:
        rows: Rows checked.
        runs: The runs, in the order in which they begin.
        rules: Codes of the rules that were judged in at least one run.
        skipped: Rules that could not be judged everywhere.
        findings: The first ``MAX_KEPT`` of each code; the worst first, then by code and line.
        counts: All findings, by code and severity.
        ledger: The conservation laws; ``None`` if the file has rows that were rebuilt from spans.
    """

    rows: int
    runs: tuple[str, ...]
    rules: tuple[str, ...]
    skipped: tuple[Skipped, ...]
    findings: tuple[Finding, ...]
    counts: Mapping[str, Mapping[Severity, int]]
    ledger: Ledger | None

    def number(self, severity: Severity) -> int:
        """How many findings of a severity there are."""
        return sum(by_severity.get(severity, 0) for by_severity in self.counts.values())

    def self_check(self) -> None:
        """Every finding that was kept is counted, under its code, and no rule outside the judged ones found any.

        Raises:
            AssertionError: The counts do not agree.
        """
        for code, by_severity in self.counts.items():
            kept = sum(finding.code == code for finding in self.findings)
            assert kept == min(sum(by_severity.values()), MAX_KEPT) or code in _COUNTED_BY_READER, code
        assert {finding.code for finding in self.findings} <= set(self.counts) <= set(self.rules)
        if self.ledger is not None and "RT311" in self.rules:
            assert (self.ledger.rollouts.residual != 0) == ("RT311" in self.counts), self.ledger.rollouts
        if self.ledger is not None and "RT312" in self.rules:
            assert (self.ledger.tokens.residual != 0) == ("RT312" in self.counts), self.ledger.tokens


_COUNTED_BY_READER = frozenset({"RT801", "RT803", "RT804"})
"""The reader keeps its own bounded list over all kinds of damage."""
