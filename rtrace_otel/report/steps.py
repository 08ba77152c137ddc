"""The report of ``rtrace steps``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from rtrace_otel.analysis.step_results import AHEAD, WAIT_SHARE, StepRecord, StepsReport, Verdict, WallTime
from rtrace_otel.report.document import Block, Column, Document, Sentence, Table, printable
from rtrace_otel.report.numbers import count, moment, percent, plural, seconds, shortener
from rtrace_otel.report.records import flat

SHOWN_SHARE: Final = 0.005
"""A smaller share of the time would be shown as 0 %."""


def steps_document(report: StepsReport, source: str) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        source: Name of the file.
    """
    blocks: list[Block] = [Sentence(text, "finding") for text in findings(report)]
    blocks += [_step_table(report), _time_table(report)]
    blocks += [Sentence(text) for text in _unfinished(report)]
    return Document(f"Training steps of {source}", tuple(blocks))


def findings(report: StepsReport) -> list[str]:
    """Where the time goes, and who waits for whom."""
    return [_shares(report), *_verdicts(report)]


def steps_json(report: StepsReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "steps": [_record(step) for step in report.steps],
        "runs": [{"run": run, **asdict(time)} for run, time in report.runs.items()],
        "all_runs": asdict(report.all_runs),
        "stopped_s": report.stopped_s,
        "verdicts": dict(report.verdicts),
    }


def _shares(report: StepsReport) -> str:
    time, total = report.all_runs, report.all_runs.total_s + report.stopped_s
    if not total:
        return "No time passes between the rows: where the time went is not known."
    parts = [
        (time.waiting_s, "waiting for groups"),
        (time.training_s, "training"),
        (time.syncing_s, "syncing weights"),
        (time.checkpointing_s, "waiting during a checkpoint"),
        (time.other_s, "other"),
        (report.stopped_s, "stopped between runs"),
    ]
    told = ", ".join(f"{percent(part / total)} {what}" for part, what in parts if part >= SHOWN_SHARE * total)
    return f"Of {seconds(total)}: {told}."


def _verdicts(report: StepsReport) -> list[str]:
    steps, get = len(report.steps), report.verdicts.get
    if not steps:
        return ["No training step in this file."]
    trainer, rollouts = get(Verdict.TRAINER_WAITS, 0), get(Verdict.ROLLOUTS_WAIT, 0)
    balanced, unknown = get(Verdict.BALANCED, 0), get(Verdict.UNKNOWN, 0)
    of_all = f"of {plural(steps, 'step')}"
    sentences = []
    if trainer:
        sentences.append(
            f"Trainer waits in {count(trainer)} {of_all}: more than {percent(WAIT_SHARE)} of the cycle went by in "
            f"waiting for groups, and none was left over."
        )
    if rollouts:
        sentences.append(
            f"Rollouts wait in {count(rollouts)} {of_all}: at least {AHEAD} times as many published groups were "
            f"waiting as the step took."
        )
    if balanced:
        sentences.append(f"Balanced in {count(balanced)} {of_all}.")
    if unknown:
        sentences.append(f"Unknown in {count(unknown)} {of_all}: rows or times that would tell are not in the file.")
    return [" ".join(sentences)]


def _unfinished(report: StepsReport) -> list[str]:
    short = shortener(step.run for step in report.steps)
    return [
        f"Step {printable(step.step)} of run {printable(short(step.run))} began, and the file does not have its end."
        for step in report.steps
        if step.ended is None and step.groups is None
    ]


def _step_table(report: StepsReport) -> Table:
    short = shortener(step.run for step in report.steps)
    columns = (
        Column("step", "step"),
        Column("run", "run", lambda run: printable(short(run)), "left", rank=5),
        Column("started", "started (UTC)", moment, "left", rank=9),
        Column("ended", "ended (UTC)", moment, "left", rank=10),
        Column("wait_s", "waited", seconds),
        Column("train_s", "trained", seconds),
        Column("sync_s", "synced", seconds, rank=4),
        Column("cycle_s", "cycle", seconds, rank=8),
        Column("groups", "groups", count, rank=3),
        Column("queue", "in queue", count, rank=1),
        Column("open_attempts", "attempts open", count, rank=6),
        Column("tokens", "tokens", count, rank=7),
        Column("tokens_per_s", "tokens/s", _rate, rank=2),
        Column("verdict", "verdict", printable, "left"),
    )
    return Table("Training steps", columns, [_record(step) for step in report.steps])


def _time_table(report: StepsReport) -> Table:
    short = shortener(report.runs)
    columns = (
        Column("run", "run", lambda run: printable(short(run)), "left"),
        Column("total_s", "wall time", seconds),
        Column("waiting_s", "waiting", seconds),
        Column("training_s", "training", seconds),
        Column("syncing_s", "syncing", seconds, rank=2),
        Column("checkpointing_s", "checkpoint", seconds, rank=1),
        Column("other_s", "other", seconds, rank=3),
    )
    return Table("Where the time of each run went", columns, [_times(run, time) for run, time in report.runs.items()])


def _times(run: str, time: WallTime) -> Mapping[str, Any]:
    return {"run": run, **asdict(time)}


def _record(step: StepRecord) -> dict[str, Any]:
    derived = {"cycle_s": step.cycle_s, "tokens_per_s": step.tokens_per_s, "verdict": str(step.verdict)}
    return flat(step) | derived


def _rate(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
