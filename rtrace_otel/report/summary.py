"""The report of ``rtrace summary``."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.runs import RunSummary
from rtrace_otel.analysis.summary_results import Summary
from rtrace_otel.report.age import age_json, difference_sentences, headline
from rtrace_otel.report.damage import damage_sentences
from rtrace_otel.report.document import Block, Column, Document, Facts, Sentence, Table, printable
from rtrace_otel.report.numbers import count, moment, plural, seconds, shortener


def summary_document(summary: Summary, read: ReadReport, *, with_ages: bool = True) -> Document:
    """The summary as a document.

    Args:
        summary: From the analysis.
        read: What the reader met.
        with_ages: Whether to say how stale the steps were.
    """
    blocks: list[Block] = [
        Sentence(verdict(summary), "finding"),
        *_perhaps_two_jobs(summary),
        _run_table(summary),
        Facts("What happened", _facts(summary)),
    ]
    if with_ages:
        blocks.append(Sentence(headline(summary.ages)))
        blocks += [Sentence(text, "finding") for text in difference_sentences(summary.ages)]
    damage = damage_sentences(read)
    blocks.append(Facts("Damage and gaps", tuple(_damage_pairs(summary, damage))))
    return Document(f"Summary of {read.source}", tuple(blocks))


def next_blocks(source: str) -> tuple[Block, ...]:
    """What to type next; nothing after standard input, which cannot be read again."""
    if source == "-":
        return ()
    file = shlex.quote(source)
    commands = (
        f"rtrace restore {file}",
        f"rtrace age {file}",
        f"rtrace report {file}",
        f"rtrace summary {file} --format json",
    )
    return (Sentence("Next:"), *(Sentence(command, "command") for command in commands))


def verdict(summary: Summary) -> str:
    """The file in one sentence."""
    killed = sum(run.ended_how == "killed" for run in summary.runs)
    text = f"{plural(len(summary.runs), 'run')}"
    text += f", {killed} of them killed" if killed else ""
    text += f"; {plural(summary.steps_trained, 'step')} trained"
    text += f", {summary.steps_again} of them again after a restore" if summary.steps_again else ""
    interrupted = summary.attempts.interrupted
    text += f"; {plural(interrupted, 'attempt')} in flight at a kill" if interrupted else ""
    return f"{text}."


def _perhaps_two_jobs(summary: Summary) -> tuple[Sentence, ...]:
    if not summary.perhaps_two_jobs:
        return ()
    text = "A run went on after the next one had begun, which restored no checkpoint."
    return (Sentence(f"{text} These may be two jobs in one file.", "finding"),)


def summary_json(summary: Summary) -> dict[str, Any]:
    """The summary as JSON values."""
    data = asdict(summary)
    data["runs"] = [_run_record(run) for run in summary.runs]
    data["ages"] = age_json(summary.ages)
    return data


def _run_table(summary: Summary) -> Table:
    short = shortener(run.run for run in summary.runs)
    columns = (
        Column("run", "run", lambda run: printable(short(run)), "left"),
        Column("started", "started (UTC)", moment, "left", rank=3),
        Column("lasted_s", "lasted", seconds),
        Column("ended_how", "ended", printable, "left"),
        Column("reason", "reason", printable, "left", rank=4),
        Column("restored_from", "restored from", printable, "left", rank=1),
        Column("steps", "steps", printable, "left", rank=2),
        Column("rows", "rows", count, rank=5),
        Column("host", "host", printable, "left", rank=6),
        Column("pid", "pid", rank=7),
    )
    return Table("Runs", columns, [_run_record(run) for run in summary.runs])


def _run_record(run: RunSummary) -> dict[str, Any]:
    record = asdict(run)
    record["lasted_s"] = None if run.last_row is None or run.started is None else run.last_row - run.started
    steps = {run.first_step, run.last_step} - {None}
    record["steps"] = "-".join(str(step) for step in sorted(step for step in steps if step is not None)) or None
    return record


def _facts(summary: Summary) -> tuple[tuple[str, str], ...]:
    a, g = summary.attempts, summary.groups
    attempts = [f"{count(a.begun)} begun", f"{count(a.sealed)} sealed ({count(a.masked)} masked)"]
    attempts += _reasons("abandoned", a.abandoned)
    attempts += [f"{count(a.interrupted)} interrupted by a kill", f"{count(a.open)} open"]
    groups = [f"{count(g.reserved)} reserved", f"{count(g.trained)} trained", *_reasons("discarded", g.discarded)]
    if g.brought_back:
        groups.append(f"{count(g.brought_back)} brought back by a restore ({count(g.trained_again)} trained again)")
    groups += [f"{count(g.interrupted)} lost with a run", f"{count(g.open)} open"]
    refits = f"{count(summary.refits)} (paused {plural(summary.calls_cut, 'call')}, took {seconds(summary.refit_s)})"
    facts = [
        ("rows", count(summary.rows)),
        ("attempts", ", ".join(attempts)),
        ("refused", plural(a.refusals, "dispatch", "dispatches")),
        ("resumed", ", ".join(f"{count(n)} {level}" for level, n in sorted(a.resumed.items())) or "0"),
        ("groups", ", ".join(groups)),
        ("steps", f"{count(summary.steps_trained)} trained, {count(summary.steps_again)} of them again"),
        ("refits", refits),
        ("checkpoints", f"{count(summary.checkpoints)} published, {count(summary.restores)} restored"),
    ]
    if summary.other_events:
        other = ", ".join(f"{printable(name)} {count(number)}" for name, number in summary.other_events.items())
        facts.append(("other events", other))
    return tuple(facts)


def _reasons(outcome: str, reasons: Mapping[str, int]) -> list[str]:
    total = sum(reasons.values())
    parts = ", ".join(f"{printable(reason)} {count(number)}" for reason, number in reasons.items())
    return [f"{count(total)} {outcome}" + (f" ({parts})" if parts else "")]


def _damage_pairs(summary: Summary, damage: list[str]) -> list[tuple[str, str]]:
    pairs = [("file", "; ".join(damage) if damage else "intact: every line is one whole event, no row is missing")]
    if any(run.from_spans for run in summary.runs):
        pairs.append(("spans", "rebuilt from spans: calls, groups of checkpoints and the ends of runs are not known"))
    lost = sum(run.rows_lost for run in summary.runs)
    if lost:
        they = "it" if lost == 1 else "they"
        pairs.append(("recorder", f"{plural(lost, 'row')} lost before {they} could be written (trace_gap)"))
    steps = sum(run.clock_steps for run in summary.runs)
    if steps:
        pairs.append(("clock", f"the host's clock was stepped {plural(steps, 'time')}"))
    return pairs
