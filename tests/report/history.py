"""Rows of small hand-made traces, for the tests of the analyses and of their reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rtrace_otel.analysis.age.ages import AgeReport
from rtrace_otel.events import Row

START = 1_000.0
"""Time of a trace's first row; each further row comes a second later."""


def event(run: str, name: str, /, **fields: Any) -> Row:
    """An event without its time and number."""
    return {"event": name, "run": run, **fields}


def trace(*events: Row) -> list[Row]:
    """The events as rows, numbered per run and timed in file order."""
    numbers: Counter[str] = Counter()
    rows: list[Row] = []
    for place, given in enumerate(events):
        head = {"event": given["event"], "t": START + place, "run": given["run"], "seq": numbers[given["run"]]}
        rows.append(head | given)
        numbers[given["run"]] += 1
    return rows


def started(run: str, **fields: Any) -> Row:
    """A run begins."""
    return event(run, "run_started", **{"schema": 1, "host": "node1", "pid": 7} | fields)


def ended(run: str, reason: str = "closed") -> Row:
    """A run ends cleanly."""
    return event(run, "run_ended", reason=reason)


def restored(run: str, step: int, **fields: Any) -> Row:
    """A run goes on from a checkpoint."""
    return event(run, "checkpoint_restored", checkpoint_id=f"ckpt-{step}", step=step, **fields)


def refit(run: str, replaced: int, new: int, *calls: Sequence[Any], **fields: Any) -> Row:
    """A weight sync that paused these calls, each ``(id, tokens so far)``."""
    return event(
        run, "weight_sync", replaced_version=replaced, new_version=new, calls=[list(c) for c in calls], **fields
    )


def published(run: str, group: str, counts: Mapping[Any, Any] | None = None, *calls: Sequence[Any]) -> Row:
    """A group is published with token counts and calls, each ``(id, version at its begin, tokens)``, where given."""
    optional: dict[str, Any] = {}
    if counts is not None:
        optional["tokens_by_version"] = dict(counts)
    if calls:
        optional["call_versions"] = [list(call) for call in calls]
    return event(run, "group_published", group_id=group, **optional)


def trained(run: str, step: int, version: int | None, *groups: str, logged: Any = None) -> Row:
    """A step is trained on groups; it updates this version."""
    optional = {} if version is None else {"trained_version": version}
    optional |= {} if logged is None else {"batch_age": logged}
    return event(run, "train_step", step=step, group_ids=list(groups), **optional)


def reserved(run: str, group: str, **fields: Any) -> Row:
    """A group is reserved."""
    return event(run, "group_reserved", group_id=group, prompt_id="17", **fields)


def dispatched(run: str, attempt: str, group: str = "g") -> Row:
    """An attempt is sent out."""
    return event(run, "attempt_dispatched", group_id=group, attempt_id=attempt, prompt_id="17", generation_index=0)


def refused(run: str, attempt: str) -> Row:
    """A dispatch is refused."""
    return event(run, "attempt_refused", attempt_id=attempt, reason="checkpoint")


def resumed(run: str, attempt: str, level: str, previous: str | None = None) -> Row:
    """Work from before a restore goes on or is kept."""
    return event(run, "attempt_resumed", attempt_id=attempt, level=level, previous_attempt_id=previous)


def sealed(run: str, attempt: str, *, masked: bool | None = None) -> Row:
    """An attempt has its result."""
    return event(run, "attempt_sealed", attempt_id=attempt, **({} if masked is None else {"masked": masked}))


def abandoned(run: str, attempt: str, reason: str = "timeout") -> Row:
    """An attempt ends without a result."""
    return event(run, "attempt_abandoned", attempt_id=attempt, reason=reason)


def rounded(report: AgeReport) -> AgeReport:
    """The report with its floats rounded to nine digits, as they can be written down by hand."""
    steps = tuple(
        replace(
            step,
            logged=_round(step.logged),
            published=_round(step.published),
            recomputed=_round(step.recomputed),
            cut_share=_round(step.cut_share),
        )
        for step in report.steps
    )
    differences = tuple(
        replace(difference, smallest=round(difference.smallest, 9), largest=round(difference.largest, 9))
        for difference in report.differences
    )
    return AgeReport(steps, differences, report.tokens, _round(report.batch_age))


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 9)
