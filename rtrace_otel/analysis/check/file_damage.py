"""What the reader met, as findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Life, Place
from rtrace_otel.analysis.check.values import named
from rtrace_otel.analysis.reading.damage import DamageKind, ReadReport

_EXPECTED: Final = frozenset({DamageKind.TORN_TAIL, DamageKind.BYTE_ORDER_MARK})
"""What a kill or an editor leaves, and what loses nothing that was written whole."""


def report_damage(findings: Findings, read: ReadReport, lives: Mapping[str, Life]) -> None:
    """Report gaps and damages.

    Args:
        findings: Takes RT801, RT803 and RT804.
        read: What the reader met.
        lives: The latest life of each run.
    """
    for gap in read.gaps:
        life = lives.get(gap.run)
        rows = "1 row is" if gap.missing == 1 else f"{gap.missing:,} rows are"
        text = f"{rows} missing before this one, from sequence number {gap.first:,}."
        findings.report("RT801", Place(life, gap.line) if life else None, text, line=gap.line)
    findings.count_more("RT801", read.gap_count - len(read.gaps))
    kept: Counter[str] = Counter()
    for damage in read.damages:
        kept[_code(damage.kind)] += 1
        findings.report(_code(damage.kind), None, f"{damage.kind.value}: {named(damage.detail)}", line=damage.line)
    found: Counter[str] = Counter()
    for kind, number in read.damage_counts.items():
        found[_code(kind)] += number
    for code, number in found.items():
        findings.count_more(code, number - kept[code])


def _code(kind: DamageKind) -> str:
    return "RT804" if kind in _EXPECTED else "RT803"
