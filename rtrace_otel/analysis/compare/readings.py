"""How each metric is read from the results of the analyses."""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.age.ages import token_age_quantile
from rtrace_otel.analysis.compare.measure import Measures
from rtrace_otel.analysis.compare.values import (
    FROM_SPANS,
    NO_AGES,
    NO_SECONDS,
    NO_STEPS,
    NO_TIMES,
    NO_TOKENS,
    NOT_COUNTED,
    Value,
    counted,
    known,
    missing,
    ratio,
    tokens,
)
from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore_results import added

WASTED: Final = ("masked", "abandoned", "discarded", "lost")
"""Accounts of ``rtrace waste`` that hold what was not trained on, or without effect."""

QUANTILE: Final = 0.95


def lasted_s(m: Measures) -> Value:
    """Seconds from the first row to the last."""
    return known(m.waste.wall.whole, NO_TIMES)


def steps_trained(m: Measures) -> Value:
    """Training steps; each trained again counts again."""
    return counted(m.summary.steps_trained)


def trained_tokens(m: Measures) -> Value:
    """Tokens in the account ``trained``."""
    return tokens(_account(m, "trained"))


def tokens_per_s(m: Measures) -> Value:
    """Trained tokens per second of the file's time."""
    return ratio(trained_tokens(m), lasted_s(m), NO_TIMES)


def batch_age(m: Measures) -> Value:
    """Token-weighted mean age over all steps, in versions."""
    return known(m.summary.ages.batch_age, NO_AGES)


def batch_age_p95(m: Measures) -> Value:
    """The smallest age in versions that 95 % of the trained tokens do not exceed."""
    # A token of age n has version -n on a clock that stands at 0: the quantile of such versions is that of the ages.
    counts = {-age: number for age, number in m.token_ages.items()}
    return known(token_age_quantile(counts, 0, QUANTILE), NO_AGES)


def rollouts(m: Measures) -> Value:
    """Rollouts in all accounts."""
    return counted(m.waste.total.rollouts)


def stops(m: Measures) -> Value:
    """Stops that a later run went on from."""
    return counted(len(m.restore.stops))


def dead_s(m: Measures) -> Value:
    """Seconds between a run's last row and the first of the next, over all stops; runs that overlap have none."""
    seconds = [stop.dead_s for stop in m.restore.stops]
    told = [max(value, 0.0) for value in seconds if value is not None]
    return known(sum(told) if told or not seconds else None, NO_TIMES, exact=len(told) == len(seconds))


def in_flight_at_stops(m: Measures) -> Value:
    """Attempts that were open at stops."""
    return counted(added(stop.in_flight for stop in m.restore.stops).rollouts)


def lost_rollouts(m: Measures) -> Value:
    """Rollouts that stops cost."""
    return counted(_lost(m).rollouts, exact=_fates_known(m))


def lost_tokens(m: Measures) -> Value:
    """Tokens that stops cost."""
    lost = _lost(m)
    if not lost.tokens and not lost.tokens_exact:
        return missing(NO_TOKENS)
    return known(lost.tokens_lost, NO_TOKENS, exact=lost.tokens_exact and _fates_known(m))


def lost_tokens_share(m: Measures) -> Value:
    """Tokens that stops cost, of all that were generated."""
    return ratio(lost_tokens(m), tokens(m.waste.total), NO_TOKENS)


def never_came_back(m: Measures) -> Value:
    """Rollouts that were never dispatched again after a stop."""
    return counted(m.restore.totals[Fate.NEVER_CAME_BACK].rollouts, exact=_fates_known(m))


def steps_trained_again(m: Measures) -> Value:
    """Steps after a restored checkpoint that were trained again, over all stops."""
    return counted(sum(len(stop.steps_trained_again) for stop in m.restore.stops))


def abandoned_tokens(m: Measures) -> Value:
    """Tokens in the accounts ``abandoned``."""
    return tokens(_account(m, "abandoned"))


def discarded_tokens(m: Measures) -> Value:
    """Tokens in the accounts ``discarded``."""
    return tokens(_account(m, "discarded"))


def masked_tokens(m: Measures) -> Value:
    """Tokens in the account ``masked``."""
    return tokens(_account(m, "masked"))


def wasted_share(m: Measures) -> Value:
    """Tokens in the wasted accounts, of all that were generated."""
    return ratio(tokens(_account(m, *WASTED)), tokens(m.waste.total), NO_TOKENS)


def attempt_seconds(m: Measures) -> Value:
    """Seconds that attempts ran, added up."""
    return known(m.waste.attempt_seconds, NO_TIMES)


def trainer_waiting_share(m: Measures) -> Value:
    """Share of the runs' time in which the trainer waited for groups."""
    if not m.steps.steps:
        return missing(NO_STEPS)
    time = m.steps.all_runs
    return ratio(known(time.waiting_s, NO_TIMES), known(time.total_s, NO_TIMES), NO_TIMES)


def refit_s(m: Measures) -> Value:
    """Seconds in refits."""
    return known(m.summary.refit_s if m.summary.refits else 0.0, NO_SECONDS)


def checkpoint_s(m: Measures) -> Value:
    """Seconds from the start of checkpoints to their publication, added up."""
    barrier = m.restore.barrier
    return known(barrier.seconds if barrier.published else 0.0, NO_SECONDS)


def refusals(m: Measures) -> Value:
    """Dispatches that were refused."""
    return counted(m.summary.attempts.refusals)


def rows_missing(m: Measures) -> Value:
    """Rows missing by sequence numbers, or by the recorder's own account; the larger number if both tell."""
    if any(run.from_spans for run in m.summary.runs):
        return missing(FROM_SPANS)
    if m.gap_rows is None:
        return missing(NOT_COUNTED)
    lost = max(m.restore.rows_lost, 0)
    # Both can tell of the same rows (a file that was deleted), or of different ones (a queue that was full).
    return counted(max(lost, m.gap_rows), exact=not (lost and m.gap_rows))


def _account(m: Measures, *names: str) -> Amount:
    return added(account.amount for account in m.waste.accounts if account.name in names)


def _lost(m: Measures) -> Amount:
    return added(stop.lost for stop in m.restore.stops)


def _fates_known(m: Measures) -> bool:
    return not m.restore.totals[Fate.UNKNOWN].rollouts
