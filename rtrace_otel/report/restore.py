"""The report of ``rtrace restore``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.lineage import LineageRun
from rtrace_otel.analysis.restore_results import Interval, RestoreReport, Stop
from rtrace_otel.report.damage import missing_rows
from rtrace_otel.report.document import Block, Column, Document, Facts, Sentence, Table, printable
from rtrace_otel.report.numbers import count, moment, plural, ranges, seconds, shortener
from rtrace_otel.report.restore_words import stop_sentences, verdict


def restore_document(report: RestoreReport, source: str, rows_missing: int = 0) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        source: Name of the file.
        rows_missing: Rows that are not in it although their numbers were given.
    """
    blocks: list[Block] = [Sentence(verdict(report), "finding"), *missing_rows(rows_missing), _stop_table(report)]
    for number, stop in enumerate(report.stops, 1):
        blocks += [Sentence(text, "finding") for text in stop_sentences(stop, number, len(report.stops))]
        blocks.append(_fate_table(stop, number))
        blocks.append(Facts(f"Stop {number}: when", tuple(_when(stop))))
        if stop.longest:
            blocks.append(_longest_table(stop, number))
    blocks.append(Facts("Checkpoints while the job ran", tuple(_barrier(report))))
    blocks.append(_lineage_table(report))
    return Document(f"What the stops of {source} cost", tuple(blocks))


def brief_document(report: RestoreReport, source: str) -> Document:
    """The verdict, and the fate of every rollout of each stop.

    Args:
        report: From the analysis.
        source: Name of the file.
    """
    tables = (_fate_table(stop, number) for number, stop in enumerate(report.stops, 1))
    return Document(f"What the stops of {source} cost", (Sentence(verdict(report), "finding"), *tables))


def restore_json(report: RestoreReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "stops": [_stop_json(stop) for stop in report.stops],
        "totals": {fate.value: _amount_json(amount) for fate, amount in report.totals.items()},
        "lineage": [asdict(run) for run in report.lineage.runs],
        "checkpoints": asdict(report.barrier),
        "rows_lost": report.rows_lost,
        "verdict": verdict(report),
    }


def _stop_json(stop: Stop) -> dict[str, Any]:
    data = asdict(stop)
    data["in_flight"] = _amount_json(stop.in_flight)
    data["forgotten"] = _amount_json(stop.forgotten)
    data["fates"] = {fate.value: _amount_json(amount) for fate, amount in stop.fates.items()}
    data["totals"] = _amount_json(stop.total)
    data["lost"] = _amount_json(stop.lost)
    data["interval"] = {
        name: _amount_json(value) if isinstance(value := getattr(stop.interval, name), Amount) else value
        for name in Interval.__slots__
    }
    return data


def _amount_json(amount: Amount) -> dict[str, Any]:
    return {**asdict(amount), "tokens_lost": amount.tokens_lost}


def _stop_table(report: RestoreReport) -> Table:
    short = shortener(run.run for run in report.lineage.runs)

    def show(run: Any) -> str:
        return printable(short(run))

    columns = (
        Column("number", "stop"),
        Column("run", "run", show, "left"),
        Column("ended_how", "ended", printable, "left", rank=6),
        Column("restored_run", "restored by", show, "left", rank=7),
        Column("checkpoint_id", "checkpoint", printable, "left", rank=8),
        Column("dead_s", "dead", seconds),
        Column("first_dispatch_s", "to dispatch", seconds, rank=9),
        Column("first_seal_s", "to seal", seconds, rank=10),
        Column("first_train_step_s", "to step", seconds, rank=2),
        Column("throughput_back_s", "to pace", seconds, rank=11),
        Column("steps_lost", "steps lost", lambda steps: steps or "none", rank=12),
        Column("in_flight", "in flight", count, rank=3),
        *(Column(fate.value, fate.value.replace("_", " "), count, rank=13, usual=0) for fate in Fate),
        Column("lost_rollouts", "rollouts lost", count),
        Column("lost_exact", "", _at_least, "left", usual=True),
        Column("lost_tokens", "tokens lost", count),
    )
    return Table("Stops", columns, [_stop_record(stop, n) for n, stop in enumerate(report.stops, 1)])


_PLAIN = (
    *("run", "ended_how", "restored_run", "checkpoint_id", "killed_at", "dead_s", "first_dispatch_s"),
    *("first_seal_s", "first_train_step_s", "throughput_back_s"),
)


def _stop_record(stop: Stop, number: int) -> Mapping[str, Any]:
    return {
        "number": number,
        **{name: getattr(stop, name) for name in _PLAIN},
        "steps_lost": ranges(stop.steps_lost),
        "in_flight": stop.in_flight.rollouts,
        **{fate.value: amount.rollouts for fate, amount in stop.fates.items()},
        "lost_rollouts": stop.lost.rollouts,
        "lost_tokens": stop.lost.tokens_lost,
        "lost_exact": stop.lost.tokens_exact,
    }


def _fate_table(stop: Stop, number: int) -> Table:
    columns = (
        Column("fate", "fate", lambda name: str(name).replace("_", " "), "left"),
        Column("rollouts", "rollouts", count),
        Column("tokens_exact", "", _at_least, "left", usual=True),
        Column("tokens", "tokens", count),
        Column("tokens_kept", "kept", count),
        Column("tokens_lost", "lost", count),
        Column("attempt_seconds", "attempt time", seconds, rank=1),
    )
    records = [{"fate": fate.value, **_amount_json(amount)} for fate, amount in stop.fates.items() if amount.rollouts]
    records.append({"fate": "all", **_amount_json(stop.total)})
    return Table(f"Stop {number}: what became of every rollout", columns, records)


def _longest_table(stop: Stop, number: int) -> Table:
    short = shortener(loss.attempt_id for loss in stop.longest)
    columns = (
        Column("prompt_id", "prompt", printable, "left"),
        Column("generation", "generation", printable, rank=2),
        Column("attempt_id", "attempt", lambda value: printable(short(value)), "left", rank=1),
        Column("fate", "fate", lambda name: str(name).replace("_", " "), "left"),
        Column("tokens_exact", "", _at_least, "left", usual=True),
        Column("tokens", "tokens lost", count),
        Column("attempt_seconds", "attempt time", seconds, rank=3),
    )
    return Table(f"Stop {number}: dearest losses", columns, [asdict(loss) for loss in stop.longest])


def _when(stop: Stop) -> Iterator[tuple[str, str]]:
    if stop.killed_at is not None:
        yield "last sign of life", f"{moment(stop.killed_at)} UTC"
    yield "nothing ran for", seconds(stop.dead_s)
    yield "the restore took", seconds(stop.restore_s)
    yield "first dispatch after", seconds(stop.first_dispatch_s)
    yield "first sealed attempt after", seconds(stop.first_seal_s)
    yield "first step after", seconds(stop.first_train_step_s)
    yield "90 % of the pace before after", seconds(stop.throughput_back_s)
    yield "steps lost", _steps(stop.steps_lost)
    yield "of them trained again", _steps(stop.steps_trained_again)
    yield "in flight at the stop", _amount_words(stop.in_flight)
    interval = stop.interval
    if interval.age_s is not None:
        yield "age of the checkpoint", seconds(interval.age_s)
    if interval.sealed_since is not None:
        yield "sealed since it was taken", _amount_words(interval.sealed_since)
    if interval.if_half is not None:
        yield f"if taken every {seconds((interval.interval_s or 0) / 2)}", _amount_words(interval.if_half)
    if interval.if_twice is not None:
        yield f"if taken every {seconds((interval.interval_s or 0) * 2)}", _amount_words(interval.if_twice)


def _steps(steps: tuple[int, ...]) -> str:
    return f"{'step' if len(steps) == 1 else 'steps'} {ranges(steps)}" if steps else "no step"


def _amount_words(amount: Amount) -> str:
    least = "" if amount.tokens_exact else "at least "
    time = seconds(amount.attempt_seconds)
    return f"{plural(amount.rollouts, 'rollout')}, {least}{plural(amount.tokens, 'token')}, {time} of attempt time"


def _barrier(report: RestoreReport) -> Iterator[tuple[str, str]]:
    barrier = report.barrier
    took = (
        f", in {seconds(barrier.seconds)} together" if barrier.seconds is not None else "; no row says how long it took"
    )
    yield "published", count(barrier.published) + (took if barrier.published else "")
    yield "dispatches refused", f"{count(barrier.refusals)}, {count(barrier.redispatched)} of them dispatched again"
    if barrier.redispatched:
        mean = seconds(barrier.delay_s / barrier.redispatched)
        yield "their delay", f"{mean} on average, {seconds(barrier.longest_delay_s)} at most"


def _lineage_table(report: RestoreReport) -> Table:
    short = shortener(run.run for run in report.lineage.runs)

    def show(run: Any) -> str:
        return printable(short(run))

    several_jobs = len({run.job for run in report.lineage.runs}) > 1
    columns = (
        Column("run", "run", show, "left"),
        *((Column("job", "job"),) if several_jobs else ()),
        Column("ended_how", "ended", printable, "left", rank=1),
        Column("took_over_from", "took over from", show, "left", rank=2),
        Column("checkpoint_id", "checkpoint", printable, "left"),
        Column("steps_surviving", "steps that count", _stretches, "left"),
        Column("steps_given_up", "steps given up", _stretches, "left"),
    )
    return Table("Lineage", columns, [_lineage_record(run) for run in report.lineage.runs])


def _lineage_record(run: LineageRun) -> Mapping[str, Any]:
    return asdict(run)


def _stretches(stretches: Any) -> str:
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in stretches]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "") or "-"


def _at_least(exact: Any) -> str:
    return "" if exact else "at least"
