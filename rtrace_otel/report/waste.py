"""The report of ``rtrace waste``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rtrace_otel.analysis.waste import RUN_ENDED, Account, WasteReport
from rtrace_otel.report.damage import missing_rows
from rtrace_otel.report.document import Column, Document, Facts, Sentence, Table, printable
from rtrace_otel.report.numbers import count, listed, percent, plural, seconds, shortener
from rtrace_otel.report.records import flat


def waste_document(report: WasteReport, source: str, rows_missing: int = 0) -> Document:
    """The report as a document.

    Args:
        report: From the analysis.
        source: Name of the file.
        rows_missing: Rows that are not in it although their numbers were given.
    """
    return Document(
        f"Waste of {source}",
        (
            Sentence(waste_verdict(report), "finding"),
            *missing_rows(rows_missing),
            *_perhaps_two_jobs(report),
            _account_table(report),
            Facts("The job's time", tuple(_wall(report))),
            _step_table(report),
        ),
    )


def waste_verdict(report: WasteReport) -> str:
    """The answer in one sentence."""
    total = report.total
    if not total.rollouts:
        return "No rollout in this file."
    least = "" if total.tokens_exact else "at least "
    text = f"{plural(total.rollouts, 'rollout')} generated {least}{plural(total.tokens, 'token')}"
    if not total.tokens:
        return f"{text}."
    shares = [f"{percent(report.share(name))} {_words(report, name)}" for name in _NAMES if report.share(name)]
    of_known = "" if total.tokens_exact else "of those known, "
    return f"{text}: {of_known}{listed(shares)}."


def _words(report: WasteReport, name: str) -> str:
    """What became of an account; what waits or is open does so no more once its run has ended."""
    reasons = {account.reason for account in report.accounts if account.name == name}
    return _NAMES_OF_ENDED[name] if name in _NAMES_OF_ENDED and reasons == {RUN_ENDED} else _NAMES[name]


def _perhaps_two_jobs(report: WasteReport) -> Iterator[Sentence]:
    if report.perhaps_two_jobs:
        yield Sentence(
            "A run went on after the next one had begun, which restored no checkpoint. These may be two jobs in one "
            "file; then what is lost and what is not cannot be told (rtrace restore).",
            "finding",
        )


def waste_json(report: WasteReport) -> dict[str, Any]:
    """The report as JSON values."""
    return {
        "accounts": [_account_record(account, report) for account in report.accounts],
        "total": {**asdict(report.total), "begun": report.begun, "unseen": report.unseen},
        "steps": [asdict(step) for step in report.steps],
        "wall": asdict(report.wall),
        "perhaps_two_jobs": report.perhaps_two_jobs,
        "verdict": waste_verdict(report),
    }


_NAMES: Mapping[str, str] = {
    "trained": "were trained",
    "masked": "were masked",
    "abandoned": "were abandoned",
    "discarded": "were discarded",
    "lost": "were lost with a run",
    "waiting": "wait for training",
    "open": "are open",
}

_NAMES_OF_ENDED: Mapping[str, str] = {"waiting": "were never trained", "open": "were left open"}


def _account_table(report: WasteReport) -> Table:
    columns = (
        Column("name", "account", printable, "left"),
        Column("reason", "reason", lambda reason: printable(reason).replace("_", " "), "left"),
        Column("bucket", "bucket", printable, "left", rank=3),
        Column("rollouts", "rollouts", count),
        Column("tokens_exact", "", lambda exact: "" if exact else "at least", "left", usual=True),
        Column("tokens", "tokens", count),
        Column("share", "share", percent, rank=1),
        Column("attempt_seconds", "attempt time", seconds, rank=2),
    )
    return Table("Accounts", columns, [_account_record(account, report) for account in report.accounts])


def _account_record(account: Account, report: WasteReport) -> Mapping[str, Any]:
    total = report.total.tokens
    amount = account.amount
    return {
        "name": account.name,
        "reason": account.reason,
        "bucket": account.bucket,
        "rollouts": amount.rollouts,
        "tokens": amount.tokens,
        "tokens_exact": amount.tokens_exact,
        "share": amount.tokens / total if total else None,
        "attempt_seconds": amount.attempt_seconds,
    }


def _wall(report: WasteReport) -> Iterator[tuple[str, str]]:
    wall = report.wall
    yield "from first to last row", seconds(wall.whole)
    yield "nothing ran", seconds(wall.stopped)
    yield "training steps", seconds(wall.training)
    yield "refits", seconds(wall.refits)
    yield "checkpoints", seconds(wall.checkpoints)
    yield "attempt time", f"{seconds(report.attempt_seconds)}, over all attempts: they run side by side"


def _step_table(report: WasteReport) -> Table:
    short = shortener(step.run for step in report.steps if step.run is not None)
    columns = (
        Column("step", "step", lambda step: "after" if step is None else str(step)),
        Column("run", "run", lambda run: printable(short(run)), "left"),
        *(Column(name, name, count) for name in ("trained", "masked", "abandoned", "discarded", "lost")),
    )
    return Table("Tokens that ended before each step", columns, [flat(step) for step in report.steps])
