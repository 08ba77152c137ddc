"""Damage and gaps of a file, in words and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.damage import ReadReport
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import plural, short

_SHOWN = 3


def damage_sentences(report: ReadReport) -> list[str]:
    """What was wrong with the file; empty if nothing was."""
    sentences = []
    for kind, number in report.damage_counts.items():
        shown = [damage for damage in report.damages if damage.kind is kind][:_SHOWN]
        where = "; ".join(f"line {damage.line}: {printable(damage.detail)}" for damage in shown)
        more = ", ..." if number > len(shown) else ""
        sentences.append(f"{number:,} x {kind.value} ({where}{more})")
    if report.rows_missing:
        gap = report.gaps[0]
        first = f"run {short(gap.run)}, before line {gap.line}: {plural(gap.missing, 'row')} from number {gap.first}"
        places = plural(len(report.gaps), "place")
        sentences.append(
            f"{plural(report.rows_missing, 'row')} missing by sequence number, in {places} (first: {first})"
        )
    if report.rows_out_of_order:
        sentences.append(f"{plural(report.rows_out_of_order, 'row')} out of order or doubled, by sequence number")
    return sentences


def damage_json(report: ReadReport) -> dict[str, Any]:
    """The read report as JSON values."""
    return {**asdict(report), "intact": report.intact}
