"""The numbers that matter, as people read them: a few words, a number, and what it is to be seen beside."""

from __future__ import annotations

from collections.abc import Iterator

from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.analysis.overview import Overview
from rtrace_otel.analysis.restore_results import added
from rtrace_otel.report.numbers import age, count, percent, plural, seconds


def tiles(found: Overview) -> list[dict[str, str]]:
    """Each as ``label``, ``value``, ``note`` and the ``section`` of the page that says more."""
    every = (*_stops(found), *_tokens(found), *_time(found), *_attempts(found), *_trust(found))
    return [dict(zip(("label", "value", "note", "section"), tile, strict=True)) for tile in every]


def _stops(found: Overview) -> Iterator[tuple[str, str, str, str]]:
    stops = found.restores.stops
    if not stops:
        yield "stops", "0", "no run went on with another's job", "stops"
        return
    lost = added(stop.lost for stop in stops)
    yield "stops", count(len(stops)), f"{plural(lost.rollouts, 'rollout')} lost", "stops"
    least = "to stops" if lost.tokens_exact else "to stops, at least"
    yield "tokens lost", count(lost.tokens_lost), least, "stops"
    dead = [stop.dead_s for stop in stops if stop.dead_s is not None]
    back = [stop.first_train_step_s for stop in stops if stop.first_train_step_s is not None]
    note = f"first step {seconds(max(back))} later" + (" at most" if len(back) > 1 else "") if back else "no step since"
    yield "nothing ran for", seconds(sum(max(one, 0.0) for one in dead)) if dead else "-", note, "stops"


def _tokens(found: Overview) -> Iterator[tuple[str, str, str, str]]:
    ages, total = found.staleness.ages, found.waste.total
    known = [step.best for step in ages.steps if step.best is not None]
    span = f"steps from {age(min(known))} to {age(max(known))}" if known else "no token data"
    yield "batch age", age(ages.batch_age), span, "staleness"
    share = found.waste.share("trained")
    of = f"of {'' if total.tokens_exact else 'at least '}{plural(total.tokens, 'token')}"
    yield "trained", percent(share), of, "waste"


def _time(found: Overview) -> Iterator[tuple[str, str, str, str]]:
    time, stopped = found.steps.all_runs, found.steps.stopped_s
    total = time.total_s + stopped
    parts = [
        (time.waiting_s, "waiting for groups"),
        (time.training_s, "training"),
        (time.syncing_s, "syncing weights"),
        (time.checkpointing_s, "waiting for a checkpoint"),
        (stopped, "stopped"),
    ]
    part, what = max(parts)
    yield "wall time", seconds(total) if total else "-", f"{percent(part / total)} {what}" if total else "", "flow"
    yield "steps", count(found.summary.steps_trained), f"{count(found.summary.steps_again)} of them again", "flow"


def _attempts(found: Overview) -> Iterator[tuple[str, str, str, str]]:
    counts = found.summary.attempts
    gone = sum(counts.abandoned.values())
    note = f"{count(gone)} abandoned, {count(counts.interrupted)} interrupted"
    yield "attempts", count(counts.begun), note, "latency"
    latency = {one.phase: one.seconds for one in found.slow.attempts.latencies}["dispatched_to_sealed"]
    yield "median attempt", seconds(latency.p50), f"99th percentile {seconds(latency.p99)}", "latency"
    refits = found.summary
    yield "refits", count(refits.refits), f"{plural(refits.calls_cut, 'call')} paused", "pauses"


def _trust(found: Overview) -> Iterator[tuple[str, str, str, str]]:
    if found.check is not None:
        errors, warnings = found.check.number(Severity.ERROR), found.check.number(Severity.WARNING)
        yield "check", plural(errors, "error"), plural(warnings, "warning"), "trust"
