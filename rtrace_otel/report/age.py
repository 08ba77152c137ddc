"""The report of ``rtrace age``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.ages import AgeDifference, AgeReport, DifferenceKind, StepAge
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import age, count, percent, plural, ranges, short

_COLUMNS = (
    Column("step", "step"),
    Column("run", "run", lambda run: printable(short(run)), "left"),
    Column("trained_version", "version"),
    Column("logged", "logged", age),
    Column("published", "published", age),
    Column("recomputed", "recomputed", age),
    Column("p50", "p50"),
    Column("p95", "p95"),
    Column("max", "max"),
    Column("tokens", "tokens", count),
    Column("cut_share", "in cut calls", percent),
    Column("groups", "groups"),
    Column("groups_without_tokens", "no data", usual=0),
    Column("times_trained", "trained", usual=1),
)


def age_document(report: AgeReport, source: str) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        source: Name of the file.
    """
    if not report.steps:
        return Document(f"Batch age of {source}", (Sentence("No training step in this file."), _table(report)))
    blocks: list[Block] = [Sentence(headline(report), "finding"), _table(report)]
    blocks += [Sentence(text, "finding") for text in difference_sentences(report)]
    return Document(f"Batch age of {source}", tuple(blocks))


def headline(report: AgeReport) -> str:
    """The answer in one sentence."""
    steps = plural(len(report.steps), "step")
    if report.batch_age is None:
        return f"{steps}, none with token data: the batch age cannot be told."
    known = [step.best for step in report.steps if step.best is not None]
    text = (
        f"Batch age {report.batch_age:.3f} over {steps} and {count(report.tokens)} trained tokens "
        f"(steps from {min(known):.3f} to {max(known):.3f})."
    )
    negative = tuple(step.step for step in report.steps if step.best is not None and step.best < 0)
    if negative:
        text += f" Negative in {_steps(negative)}: tokens from versions newer than the one trained."
    return text


def difference_sentences(report: AgeReport) -> list[str]:
    """Where the three values differ and why, in words."""
    return [_SENTENCES[difference.kind](difference) for difference in report.differences]


def age_json(report: AgeReport) -> dict[str, Any]:
    """The report as JSON values."""
    data = asdict(report)
    data["steps"] = [_record(step) for step in report.steps]
    return data


def _table(report: AgeReport) -> Table:
    return Table("Batch age per step, in weight versions", _COLUMNS, [_record(step) for step in report.steps])


def _record(step: StepAge) -> Mapping[str, Any]:
    record = asdict(step)
    record["groups_without_tokens"] = step.groups - step.groups_with_tokens
    return record


def _cuts_lost(difference: AgeDifference) -> str:
    runs = " and ".join(short(run) for run in difference.stopped_runs)
    return (
        f"{_steps(difference.steps).capitalize()} (run {short(difference.run)}): the published age is "
        f"{_by(difference)}. {plural(difference.calls, 'call').capitalize()} had been cut by refits in run {runs}, "
        f"before it stopped; the restored controller no longer had these cuts and counted their tokens under the "
        f"version that they began on. The recomputed age is right."
    )


def _cuts_not_applied(difference: AgeDifference) -> str:
    return (
        f"{_steps(difference.steps).capitalize()} (run {short(difference.run)}): the published age is "
        f"{_by(difference)} compared with the one recomputed from the refit rows of the same run; the published counts "
        f"do not follow from its calls and refits."
    )


def _logged_otherwise(difference: AgeDifference) -> str:
    return (
        f"{_steps(difference.steps).capitalize()} (run {short(difference.run)}): the logged age is "
        f"{_by(difference)} compared with the published counts; the controller computed it from something else, "
        f"or rows are missing."
    )


_SENTENCES = {
    DifferenceKind.CUTS_LOST_IN_RESTORE: _cuts_lost,
    DifferenceKind.CUTS_NOT_APPLIED: _cuts_not_applied,
    DifferenceKind.LOGGED_OTHERWISE: _logged_otherwise,
}


def _steps(numbers: tuple[int, ...]) -> str:
    return f"{'step' if len(numbers) == 1 else 'steps'} {ranges(numbers)}"


def _by(difference: AgeDifference) -> str:
    """``0.05 to 0.23 too old``; a mixture of signs is given as it is."""
    low, high = difference.smallest, difference.largest
    if low < 0 < high:
        return f"off by {low:+.3f} to {high:+.3f}"
    low, high = sorted((abs(low), abs(high)))
    amount = f"{high:.3f}" if f"{low:.3f}" == f"{high:.3f}" else f"{low:.3f} to {high:.3f}"
    return f"{amount} too {'old' if difference.largest > 0 else 'young'}"
