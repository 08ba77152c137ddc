"""What a stop cost, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore_results import RestoreReport, Stop, added
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import listed, percent, plural, ranges, seconds

MAX_IDLE_NAMED: Final = 5
"""Idle runs that a sentence names."""

LONG_BIAS = 1.25
"""From this ratio on, what never came back is called longer than the rest."""


def verdict(report: RestoreReport) -> str:
    """The answer in one sentence or two."""
    if not report.stops:
        runs = len(report.lineage.runs)
        if not runs:
            text = "No stop in this file: no run did any work."
        elif runs == 1:
            text = "No stop in this file: its one run did not go on with the job of another."
        else:
            text = f"No stop in this file: {runs:,} runs, none of which went on with the job of another."
    else:
        subject = "This stop" if len(report.stops) == 1 else f"These {len(report.stops):,} stops"
        text = f"{subject} cost {_cost(report.stops)}."
    if report.rows_lost:
        was = "was" if report.rows_lost == 1 else "were"
        text += f" {plural(report.rows_lost, 'row')} {was} lost while recording, so the numbers can be wrong."
    return text


def stop_sentences(stop: Stop, number: int, stops: int) -> list[str]:
    """What is to be said of one stop besides its numbers."""
    sentences = [f"Stop {number} cost {_cost([stop])}."] if stops > 1 else []
    sentences += _checkpoint(stop)
    if stop.may_be_two_jobs:
        sentences.append(
            f"The run that stopped wrote {plural(stop.rows_late, 'row')} after the next one had begun, which restored "
            f"no checkpoint. These may be two jobs in one file; then what is said of this stop is not so."
        )
    elif stop.dead_s is not None and stop.dead_s < 0:
        sentences.append(
            f"The run that stopped wrote rows for {seconds(-stop.dead_s)} after the next one began; what it did then "
            f"counts as lost."
        )
    if stop.idle_runs:
        runs = plural(len(stop.idle_runs), "run")
        sentences.append(f"{runs} began before the one that went on, and did no work: {_ids(stop.idle_runs)}.")
    if stop.steps_lost:
        sentences.append(_steps_lost(stop))
    if stop.length_bias is not None and stop.length_bias >= LONG_BIAS:
        sentences.append(
            f"What never came back had run {stop.length_bias:.1f} times as long as the rest, on average: the loss is "
            f"biased to long rollouts."
        )
    return sentences


def _ids(runs: Sequence[str]) -> str:
    shown = [printable(run) for run in runs[:MAX_IDLE_NAMED]]
    return listed(shown) if len(runs) <= MAX_IDLE_NAMED else ", ".join([*shown, "..."])


def _checkpoint(stop: Stop) -> list[str]:
    if not stop.checkpoint_restored:
        return ["The next run restored no checkpoint: everything before the stop was given up."]
    if stop.checkpoint_in_file:
        return []
    named = f" {printable(stop.checkpoint_id)}" if stop.checkpoint_id is not None else ""
    if stop.checkpoint_step is not None:
        which = f"checkpoint{named}" if named else "the restored checkpoint"
        safe = f"what was trained up to its step {stop.checkpoint_step} counts as safe"
        return [f"The publication of {which} is not in this file; {safe}."]
    if named:
        reason = f"the publication of checkpoint{named} is not in this file and its step is not known"
    else:
        reason = "the next run does not say which checkpoint it restored"
    return [f"Cannot tell what was safe, because {reason}; everything before the stop counts as given up."]


def _goes_back_to_one(stop: Stop) -> bool:
    """Whether it is known where the checkpoint was; else everything before the stop was given up."""
    return stop.checkpoint_in_file or (stop.checkpoint_restored and stop.checkpoint_step is not None)


def _steps_lost(stop: Stop) -> str:
    lost, again = len(stop.steps_lost), len(stop.steps_trained_again)
    after = "after the checkpoint" if _goes_back_to_one(stop) else "and given up"
    if lost == 1:
        return f"Step {stop.steps_lost[0]} was trained {after}, and {'' if again else 'not '}trained again later."
    how_many = "all" if again == lost else "none" if not again else f"{again:,}"
    were = "was" if again == 1 else "were"
    return f"Steps {ranges(stop.steps_lost)} were trained {after}; {how_many} of them {were} trained again."


def _cost(stops: Sequence[Stop]) -> str:
    """What stops cost, what of it is gone for good, and what nobody can tell."""
    lost, total = added(stop.lost for stop in stops), added(stop.total for stop in stops)
    if not total.rollouts:
        return f"no rollout: none was in flight or done{_since(stops)}, as far as the file tells"
    if not lost.rollouts and not lost.tokens_lost and lost.tokens_exact:
        text = "no rollout and no token"
    elif not lost.rollouts and not lost.tokens_lost:
        text = "no rollout, and tokens whose number the file does not tell"
    else:
        text = _lost(lost, total, _since(stops))
    never = added(stop.fates[Fate.NEVER_CAME_BACK] for stop in stops).rollouts
    forgotten = added(stop.forgotten for stop in stops).rollouts
    unknown = added(stop.fates[Fate.UNKNOWN] for stop in stops).rollouts - forgotten
    discarded = added(stop.fates[Fate.DISCARDED] for stop in stops).rollouts
    parts = [f"{plural(never, 'rollout')} never came back"] if never else []
    if unknown:
        parts.append(f"cannot tell what becomes of {_more(unknown, lost)}, because the file ends before the job does")
    if forgotten:
        parts.append(
            f"cannot tell what became of {_more(forgotten, lost)}, because training them lay too far back to be "
            f"remembered one by one"
        )
    was = "was" if discarded == 1 else "were"
    if not parts:
        parts = ["every rollout came back" + (f", and {discarded:,} of them {was} discarded then" if discarded else "")]
    elif discarded:
        parts.append(f"{plural(discarded, 'rollout')} came back and {was} discarded")
    return f"{text}; {'; '.join(parts)}"


def _lost(lost: Amount, total: Amount, since: str) -> str:
    rollouts = plural(lost.rollouts, "rollout") if lost.rollouts else "no rollout"
    if not lost.tokens_lost and not lost.tokens_exact:
        return f"{rollouts}, and tokens whose number the file does not tell"
    if lost.tokens_exact:
        tokens = f"{rollouts} and {plural(lost.tokens_lost, 'token')}"
    else:
        tokens = f"{rollouts} and at least {plural(lost.tokens_lost, 'token')}"
    if not total.tokens:
        return tokens
    share = percent(lost.tokens_lost / total.tokens)
    known = "what was" if total.tokens_exact else "the tokens known of what was"
    return f"{tokens}, {share} of {known} in flight or done{since}"


def _since(stops: Sequence[Stop]) -> str:
    """Since when, if that is the same for all of these stops."""
    if not all(_goes_back_to_one(stop) for stop in stops):
        return " before the stop" if len(stops) == 1 else ""
    return " since the checkpoint" if len(stops) == 1 else " since the checkpoints"


def _more(rollouts: int, lost: Amount) -> str:
    return plural(rollouts, "more rollout" if lost.rollouts else "rollout")
