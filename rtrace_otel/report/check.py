"""The report of ``rtrace check``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.analysis.check.findings import Finding
from rtrace_otel.analysis.check.ledger import Balance, Ledger
from rtrace_otel.analysis.check.registry import RULES_BY_CODE
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.report.document import Block, Column, Document, Facts, Sentence, Table, printable
from rtrace_otel.report.numbers import count, listed, plural, shortener

SHOWN: Final = 10
"""Findings of one code that a terminal shows."""

NAMED: Final = 4
"""Codes that the verdict names."""


def check_document(report: CheckReport, source: str, *, for_terminal: bool = False) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        source: Name of the file.
        for_terminal: Whether findings are facts, which a narrow terminal wraps, and not a table.
    """
    blocks: list[Block] = [Sentence(verdict(report), "finding")]
    if not for_terminal:
        blocks.append(_table(report))
    elif report.findings:
        blocks.append(Facts("Findings", tuple(_finding_pairs(report))))
    if report.ledger is not None:
        blocks.append(Facts("Where it went", tuple(_ledger_pairs(report.ledger))))
    if report.skipped:
        blocks.append(Facts("Rules that were skipped", tuple(_skipped_pairs(report))))
    return Document(f"Check of {source}", tuple(blocks))


def next_blocks(report: CheckReport) -> tuple[Block, ...]:
    """What to type next: what the worst finding means."""
    if not report.findings:
        return ()
    return (Sentence("What a code means:"), Sentence(f"rtrace definitions {report.findings[0].code}", "command"))


def verdict(report: CheckReport) -> str:
    """Whether everything adds up, in one sentence."""
    if not report.rules:
        return f"Nothing was checked: no rule is left to judge {plural(report.rows, 'row')}."
    errors, warnings, notes = (report.number(severity) for severity in Severity)
    over = f"{plural(len(report.rules), 'rule')} over {plural(report.rows, 'row')}"
    if not errors and not warnings:
        rest = f"no error and no warning; {plural(notes, 'note')}" if notes else "no finding"
        return f"Everything adds up: {over}, {rest}."
    parts = [plural(errors, "error") if errors else "No error", *([plural(warnings, "warning")] if warnings else [])]
    return f"{', '.join(parts)}: {_worst(report)}. {over}."


def check_json(report: CheckReport) -> dict[str, Any]:
    """The report as JSON values."""
    data = asdict(report)
    errors, warnings, infos = (report.number(severity) for severity in Severity)
    data |= {"errors": errors, "warnings": warnings, "infos": infos}
    data["findings"] = [_record(finding) for finding in report.findings]
    data["counts"] = [
        {"code": code, "title": RULES_BY_CODE[code].title, "severity": severity, "findings": number}
        for code, by_severity in report.counts.items()
        for severity, number in by_severity.items()
    ]
    if report.ledger is not None:
        data["ledger"]["rollouts"]["residual"] = report.ledger.rollouts.residual
        data["ledger"]["tokens"]["residual"] = report.ledger.tokens.residual
    return data


def _worst(report: CheckReport) -> str:
    totals = [
        (severity, code, by_severity[severity])
        for severity in (Severity.ERROR, Severity.WARNING)
        for code, by_severity in report.counts.items()
        if severity in by_severity
    ]
    named = [f"{RULES_BY_CODE[code].title} ({code}{f', {n:,} times' if n > 1 else ''})" for _, code, n in totals]
    more = len(named) - NAMED
    return listed([*named[:NAMED], plural(more, "more rule")] if more > 0 else named)


def _table(report: CheckReport) -> Table:
    short = shortener(report.runs)
    columns = (
        Column("severity", "severity", align="left"),
        Column("code", "code", align="left"),
        Column("line", "line", count),
        Column("run", "run", lambda run: printable(short(run)), "left"),
        Column("title", "title", align="left", rank=2),
        Column("message", "message", align="left"),
    )
    return Table("Findings", columns, [_record(finding) for finding in report.findings])


def _record(finding: Finding) -> Mapping[str, Any]:
    return {**asdict(finding), "severity": finding.severity.value, "title": RULES_BY_CODE[finding.code].title}


def _finding_pairs(report: CheckReport) -> list[tuple[str, str]]:
    short = shortener(report.runs)
    pairs: list[tuple[str, str]] = []
    shown: dict[str, int] = {}
    for finding in report.findings:
        shown[finding.code] = shown.get(finding.code, 0) + 1
        if shown[finding.code] <= SHOWN:
            where = f", line {finding.line:,}" if finding.line is not None else ""
            run = f" Run {short(finding.run)}." if finding.run is not None and len(report.runs) > 1 else ""
            pairs.append((f"{finding.severity.value} {finding.code}{where}", f"{finding.message}{run}"))
    for code, number in shown.items():
        more = sum(report.counts[code].values()) - min(number, SHOWN)
        if more:
            pairs.append((f"... {code}", f"{count(more)} more; --format json has the first 100."))
    return pairs


def _ledger_pairs(ledger: Ledger) -> list[tuple[str, str]]:
    pairs = [
        ("rollouts", _balance(ledger.rollouts, "masked")),
        ("tokens", _balance(ledger.tokens, "masked or dropped")),
    ]
    if ledger.without_tokens:
        pairs.append(("unknown", f"tokens of {plural(ledger.without_tokens, 'rollout')}: no row tells them"))
    return pairs


def _balance(balance: Balance, masked: str) -> str:
    parts = [
        (balance.trained, "trained"),
        (balance.masked, masked),
        (balance.discarded, "discarded"),
        (balance.abandoned, "abandoned"),
        (balance.lost, "lost with a killed run"),
        (balance.open, "open or in a waiting group"),
        (balance.unmatched, "of ends without an open attempt"),
    ]
    told = [f"{count(number)} {name}" for number, name in parts if number]
    residual = "nothing is left over" if not balance.residual else f"left over: {balance.residual:+,}"
    return f"{count(balance.generated)} generated = {' + '.join(told) or '0'}; {residual}"


def _skipped_pairs(report: CheckReport) -> list[tuple[str, str]]:
    short = shortener(report.runs)
    groups: dict[tuple[str, tuple[str, ...], bool], list[str]] = {}
    for skipped in report.skipped:
        groups.setdefault((skipped.reason, skipped.runs, skipped.everywhere), []).append(skipped.code)
    pairs: list[tuple[str, str]] = []
    for (reason, runs, everywhere), codes in groups.items():
        where = "everywhere" if everywhere else f"in {plural(len(runs), 'run')} ({', '.join(map(short, runs[:NAMED]))})"
        pairs.append((reason, f"{', '.join(codes)}; {where}"))
    return pairs
