"""The report of ``rtrace compare``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rtrace_otel.analysis.compare.compare import CompareReport, Comparison
from rtrace_otel.analysis.compare.gates import Gate, GateFailure
from rtrace_otel.analysis.compare.values import Known
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.report.compare_words import MARKS, change_sentences, marked, notes, unknown_sentences
from rtrace_otel.report.damage import damage_json
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import change, listed, shortener
from rtrace_otel.report.units import shown, shown_difference


@dataclass(frozen=True, slots=True)
class Gated:
    """A comparison with the limits that it was held to.

    Attributes:
        report: The comparison, with the metrics that are shown; those that are limited are among them.
        gates: The limits.
        failures: Those that it does not keep.
    """

    report: CompareReport
    gates: Sequence[Gate] = ()
    failures: Sequence[GateFailure] = ()


def compare_document(gated: Gated) -> Document:
    """The report as a document.

    Args:
        gated: From the analysis.
    """
    report = gated.report
    blocks: list[Block] = [Sentence(text, "finding") for text in verdict_sentences(gated)]
    blocks += [_table(report), *(Sentence(text) for text in notes(report))]
    return Document(f"Comparison of {_title(report)}", tuple(blocks))


def verdict_sentences(gated: Gated) -> list[str]:
    """The answer in a few sentences: which limits are broken, what changed most, what nobody knows."""
    sentences = [_gates_sentence(gated)] if gated.gates else []
    return [*sentences, *change_sentences(gated.report), *unknown_sentences(gated.report)]


def failure_sentence(failure: GateFailure) -> str:
    """A limit that is not kept, and by which values."""
    one, text = failure.compared, failure.gate.text
    if failure.missing is not None:
        return f"{text}: cannot be judged, {one.metric.name} of {failure.side}: {failure.missing}"
    side = "above" if failure.gate.upwards else "below"
    unit, a = one.metric.unit, one.a.number
    first = "" if a is None else f" (A has {marked(one.a, unit)})"
    return f"{text}: B has {marked(one.b, unit)}, {side} the limit of {shown(failure.limit, unit)}{first}"


def compare_json(gated: Gated, reads: tuple[ReadReport, ReadReport]) -> dict[str, Any]:
    """The report as JSON values.

    Args:
        gated: From the analysis.
        reads: What the reader met, for each side.
    """
    report = gated.report
    return {
        "a": {**asdict(report.a), "read": damage_json(reads[0])},
        "b": {**asdict(report.b), "read": damage_json(reads[1])},
        "metrics": [_metric_json(one) for one in report.metrics],
        "gates": [gate.text for gate in gated.gates],
        "failures": [_failure_json(failure) for failure in gated.failures],
        "verdict": " ".join(verdict_sentences(gated)),
        "notes": notes(report),
    }


def _gates_sentence(gated: Gated) -> str:
    number, failed = len(gated.gates), len(gated.failures)
    if not failed:
        kept = "The limit is kept" if number == 1 else f"{number} of {number} limits are kept"
        return f"{kept}{_as_far_as_known(gated)}."
    of = "The limit is" if number == 1 else f"{failed} of {number} limits {'is' if failed == 1 else 'are'}"
    return f"{of} not kept. {'; '.join(printable(failure_sentence(one)) for one in gated.failures)}."


def _as_far_as_known(gated: Gated) -> str:
    limited = {gate.metric.name for gate in gated.gates}
    compared = [one for one in gated.report.metrics if one.metric.name in limited]
    bounds = [one.metric.name for one in compared if {one.a.known, one.b.known} != {Known.EXACT}]
    return f", {listed(bounds)} as far as rows tell" if bounds else ""


def _title(report: CompareReport) -> str:
    a, b = report.a, report.b
    if a.run is not None and b.run is not None:
        short = shortener((a.run, b.run))
        return f"runs A ({short(a.run)}) and B ({short(b.run)}) of {a.source}"
    return f"A ({a.source}) and B ({b.source})"


def _table(report: CompareReport) -> Table:
    columns = (
        Column("name", "metric", printable, "left"),
        Column("a_known", "", _mark, usual=Known.EXACT.value),
        Column("a", "A", _text),
        Column("b_known", "", _mark, usual=Known.EXACT.value),
        Column("b", "B", _text),
        Column("difference", "difference", _text, rank=2),
        Column("relative", "relative", change, rank=1),
        Column("verdict", "verdict", printable, "left"),
        Column("better", "better", printable, "left", rank=4),
        Column("unit", "unit", printable, "left", rank=5),
        Column("title", "what it is", printable, "left", rank=3),
    )
    return Table("Metrics", columns, [_record(one) for one in report.metrics])


@dataclass(frozen=True, slots=True)
class _Cell:
    """A raw value for CSV with its text for people: the unit differs from row to row."""

    raw: float | None
    text: str

    def __str__(self) -> str:
        return "" if self.raw is None else str(self.raw)


def _text(cell: _Cell) -> str:
    return cell.text


def _mark(known: str | None) -> str:
    return "" if known is None else MARKS[Known(known)]


def _record(one: Comparison) -> Mapping[str, Any]:
    unit = one.metric.unit
    return {
        **_metric_json(one),
        "a": _Cell(one.a.number, shown(one.a.number, unit)),
        "b": _Cell(one.b.number, shown(one.b.number, unit)),
        "difference": _Cell(one.difference, shown_difference(one.difference, unit)),
    }


def _metric_json(one: Comparison) -> dict[str, Any]:
    return {
        "name": one.metric.name,
        "title": one.metric.title,
        "unit": one.metric.unit,
        "better": one.metric.better,
        "a": one.a.number,
        "b": one.b.number,
        "a_known": one.a.known.value if one.a.missing is None else None,
        "b_known": one.b.known.value if one.b.missing is None else None,
        "a_missing": one.a.missing,
        "b_missing": one.b.missing,
        "difference": one.difference,
        "relative": one.relative,
        "verdict": one.verdict.value,
    }


def _failure_json(failure: GateFailure) -> dict[str, Any]:
    return {
        "gate": failure.gate.text,
        "name": failure.gate.metric.name,
        "a": failure.compared.a.number,
        "b": failure.compared.b.number,
        "limit": failure.limit,
        "side": failure.side,
        "missing": failure.missing,
        "message": failure_sentence(failure),
    }


def failure_lines(failures: Iterable[GateFailure]) -> list[str]:
    """One line for each limit that is not kept, for standard error."""
    return [printable(f"not kept: {failure_sentence(failure)}") for failure in failures]
