"""The report of ``rtrace age``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.age.ages import AgeDifference, AgeReport, DifferenceKind, StepAge
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import age, count, listed, percent, plural, ranges, shortener
from rtrace_otel.report.records import flat


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
    known = [step for step in report.steps if step.best is not None]
    ages = [step.best for step in known if step.best is not None]
    if not ages:
        return f"{plural(len(report.steps), 'step')}, none with token data: the batch age cannot be told."
    if report.batch_age is None:
        return (
            f"{plural(len(ages), 'step')} with a logged batch age{_span(ages)} and no token data: the file cannot "
            f"confirm it."
        )
    text = (
        f"Batch age {report.batch_age:.3f} over {plural(len(ages), 'step')} and "
        f"{plural(report.tokens, 'trained token')}{_span(ages)}."
    )
    negative = tuple(step.step for step in known if step.best is not None and step.best < 0)
    if negative:
        text += f" Negative in {_steps(negative)}: tokens from versions newer than the one trained."
    return text


def difference_sentences(report: AgeReport) -> list[str]:
    """Where the three values differ and why, in words."""
    short = shortener(_runs(report))
    return [_SENTENCES[difference.kind](difference, short) for difference in report.differences]


def age_json(report: AgeReport) -> dict[str, Any]:
    """The report as JSON values."""
    data = asdict(report)
    data["steps"] = [_record(step) for step in report.steps]
    return data


def _table(report: AgeReport) -> Table:
    short = shortener(_runs(report))
    columns = (
        Column("step", "step"),
        Column("run", "run", lambda run: printable(short(run)), "left"),
        Column("trained_version", "version", rank=3),
        Column("logged", "logged", age),
        Column("published", "published", age),
        Column("recomputed", "recomputed", age),
        Column("p50", "p50", rank=6),
        Column("p95", "p95", rank=1),
        Column("max", "max", rank=7),
        Column("tokens", "tokens", count, rank=2),
        Column("cut_share", "in cut calls", percent, rank=8),
        Column("groups", "groups", rank=5),
        Column("groups_without_tokens", "no data", usual=0),
        Column("times_trained", "trained", usual=1),
    )
    return Table("Batch age per step, in weight versions", columns, [_record(step) for step in report.steps])


def _record(step: StepAge) -> Mapping[str, Any]:
    record = flat(step)
    record["groups_without_tokens"] = step.groups - step.groups_with_tokens
    return record


def _runs(report: AgeReport) -> list[str]:
    stopped = [run for difference in report.differences for run in difference.stopped_runs]
    return [*(step.run for step in report.steps), *stopped]


def _cuts_lost(difference: AgeDifference, short: Callable[[Any], str]) -> str:
    stopped = [short(run) for run in difference.stopped_runs]
    one = difference.calls == 1
    return (
        f"{_of_steps(difference, short)}: the published age is {_by(difference)}. "
        f"{plural(difference.calls, 'call').capitalize()} had been cut by refits in {_named_runs(stopped)}; the "
        f"restored controller no longer had {'this cut' if one else 'these cuts'} and counted "
        f"{'its' if one else 'their'} tokens under the version that {'it' if one else 'they'} began on. The recomputed "
        f"age is right."
    )


def _cuts_not_applied(difference: AgeDifference, short: Callable[[Any], str]) -> str:
    return (
        f"{_of_steps(difference, short)}: the published age is {_by(difference)} compared with the one recomputed from "
        f"the refit rows of the same run; the published counts do not follow from its calls and refits."
    )


def _logged_otherwise(difference: AgeDifference, short: Callable[[Any], str]) -> str:
    return (
        f"{_of_steps(difference, short)}: the logged age is {_by(difference)} compared with the counts in the file; "
        f"the controller computed it from something else, or rows are missing."
    )


_SENTENCES = {
    DifferenceKind.CUTS_LOST_IN_RESTORE: _cuts_lost,
    DifferenceKind.CUTS_NOT_APPLIED: _cuts_not_applied,
    DifferenceKind.LOGGED_OTHERWISE: _logged_otherwise,
}


def _of_steps(difference: AgeDifference, short: Callable[[Any], str]) -> str:
    return f"{_steps(difference.steps).capitalize()} (run {short(difference.run)})"


def _named_runs(names: list[str]) -> str:
    if len(names) == 1:
        return f"run {names[0]}, before it stopped"
    return f"runs {listed(names)}, before they stopped"


def _span(ages: list[float]) -> str:
    low, high = f"{min(ages):.3f}", f"{max(ages):.3f}"
    if len(ages) == 1:
        return ""
    return f" (all at {low})" if low == high else f" (steps from {low} to {high})"


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
