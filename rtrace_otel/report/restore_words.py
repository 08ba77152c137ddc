"""What a stop cost, in words."""

from __future__ import annotations

from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore_results import RestoreReport, Stop, added
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import percent, plural, ranges, seconds

LONG_BIAS = 1.25
"""From this ratio on, what never came back is called longer than the rest."""


def verdict(report: RestoreReport) -> str:
    """The answer in one sentence or two."""
    if not report.stops:
        runs = plural(len(report.lineage.runs), "run")
        return f"No stop in this file: {runs}, none of which went on with the job of another."
    subject = "This stop" if len(report.stops) == 1 else f"These {len(report.stops)} stops"
    lost = added(stop.lost for stop in report.stops)
    total = added(stop.total for stop in report.stops)
    fates = report.totals
    text = f"{subject} cost {_cost(lost, total)}; {_for_good(fates[Fate.NEVER_CAME_BACK], fates[Fate.UNKNOWN])}."
    if report.rows_lost:
        text += f" {plural(report.rows_lost, 'row')} of the file were lost: the numbers are lower bounds."
    return text


def stop_sentences(stop: Stop, number: int, stops: int) -> list[str]:
    """What is to be said of one stop besides its numbers."""
    sentences = []
    if stops > 1:
        fates = stop.fates
        end = _for_good(fates[Fate.NEVER_CAME_BACK], fates[Fate.UNKNOWN])
        sentences.append(f"Stop {number} cost {_cost(stop.lost, stop.total)}; {end}.")
    if stop.checkpoint_id is None and stop.checkpoint_step is None:
        sentences.append("The next run restored no checkpoint: everything before the stop was given up.")
    elif not stop.checkpoint_in_file and stop.checkpoint_step is not None:
        sentences.append(
            f"The publication of checkpoint {printable(stop.checkpoint_id)} is not in this file; what was trained up "
            f"to its step {stop.checkpoint_step} counts as safe."
        )
    elif not stop.checkpoint_in_file:
        sentences.append(
            f"Cannot tell what was safe, because the publication of checkpoint {printable(stop.checkpoint_id)} is not "
            f"in this file and its step is not known; everything before the stop counts as given up."
        )
    if stop.dead_s is not None and stop.dead_s < 0:
        sentences.append(
            f"The run that stopped wrote rows for {seconds(-stop.dead_s)} after the next one began; what it did then "
            f"counts as lost."
        )
    if stop.steps_lost:
        sentences.append(_steps_lost(stop))
    if stop.length_bias is not None and stop.length_bias >= LONG_BIAS:
        sentences.append(
            f"What never came back had run {stop.length_bias:.1f} times as long as the rest: the loss is biased to "
            f"long rollouts."
        )
    return sentences


def _steps_lost(stop: Stop) -> str:
    lost, again = len(stop.steps_lost), len(stop.steps_trained_again)
    if lost == 1:
        after = "again after the restore" if again else "not again after the restore"
        return f"Step {stop.steps_lost[0]} was trained after the checkpoint, and {after}."
    how_many = "all" if again == lost else "none" if not again else f"{again:,}"
    return f"Steps {ranges(stop.steps_lost)} were trained after the checkpoint; {how_many} of them were trained again."


def _cost(lost: Amount, total: Amount) -> str:
    if not total.rollouts:
        return "no rollout: nothing was open, and nothing had been done since the checkpoint"
    if not lost.rollouts and not lost.tokens_lost:
        return "no rollout and no token"
    least = "" if lost.tokens_exact else "at least "
    share = percent(lost.tokens_lost / total.tokens) if total.tokens else None
    text = f"{plural(lost.rollouts, 'rollout')} and {least}{plural(lost.tokens_lost, 'token')}"
    return text + (f", {share} of what was in flight or done since the checkpoint" if share else "")


def _for_good(never: Amount, unknown: Amount) -> str:
    parts = []
    if never.rollouts:
        parts.append(f"{plural(never.rollouts, 'rollout')} never came back")
    if unknown.rollouts:
        one = unknown.rollouts == 1
        parts.append(
            f"cannot tell what becomes of {plural(unknown.rollouts, 'more rollout')}, because the file ends before "
            f"{'it has' if one else 'they have'} come back"
        )
    return "; ".join(parts) or "nothing was lost for good"
