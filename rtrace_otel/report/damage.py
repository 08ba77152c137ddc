"""Damage and gaps of a file, in words and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.reading.damage import DamageKind, ReadReport
from rtrace_otel.report.document import Sentence, printable
from rtrace_otel.report.numbers import plural, shortener

_SHOWN = 3


def damage_sentences(report: ReadReport) -> list[str]:
    """What was wrong with the file; empty if nothing was."""
    sentences = [_kind_sentence(report, kind, number) for kind, number in report.damage_counts.items()]
    if report.rows_missing:
        gap = report.gaps[0]
        short = shortener(report.runs)
        first = f"run {short(gap.run)}, before line {gap.line}: {plural(gap.missing, 'row')} from number {gap.first}"
        places = plural(report.gap_count, "place")
        sentences.append(
            f"{plural(report.rows_missing, 'row')} missing by sequence number, in {places} (first: {first})"
        )
    if report.rows_out_of_order:
        sentences.append(f"{plural(report.rows_out_of_order, 'row')} out of order or doubled, by sequence number")
    return [printable(sentence) for sentence in sentences]


def missing_rows(rows: int) -> tuple[Sentence, ...]:
    """What rows that are missing by their numbers mean for the answer; nothing if none are.

    Args:
        rows: How many.
    """
    if not rows:
        return ()
    are = "is" if rows == 1 else "are"
    return (Sentence(f"{plural(rows, 'row')} {are} missing from the file, so the numbers can be wrong.", "finding"),)


def _kind_sentence(report: ReadReport, kind: DamageKind, number: int) -> str:
    shown = [damage for damage in report.damages if damage.kind is kind][:_SHOWN]
    if not shown:
        return f"{number:,} x {kind.value}"
    where = "; ".join(f"line {damage.line}: {damage.detail}" for damage in shown)
    return f"{number:,} x {kind.value} ({where}{', ...' if number > len(shown) else ''})"


def damage_json(report: ReadReport) -> dict[str, Any]:
    """The read report as JSON values."""
    return {**asdict(report), "intact": report.intact}
