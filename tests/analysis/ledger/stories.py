"""Rows of small jobs with stops, and what is said of them, as short as it can be written down by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from rtrace_otel.analysis.ledger.work import Ended, Fate
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.waste import WasteFold, WasteReport
from rtrace_otel.events import Row
from tests.report.history import ended, event, refit, refused, started, trace
from tests.report.timed import at

Taking = tuple[str, str, str | None]
"""A stop: the run that stopped, the run that went on, and the checkpoint that this one restored."""

Stretches = tuple[tuple[int, int], ...]

RunTold = tuple[str, Stretches, Stretches]
"""A run, its steps that count, and those given up."""


def reserve(run: str, group: str, prompt: str, **fields: Any) -> Row:
    """A group is reserved for a prompt."""
    return event(run, "group_reserved", group_id=group, prompt_id=prompt, **fields)


def send(run: str, attempt: str, group: str, prompt: str | None = None, generation: int = 0, **fields: Any) -> Row:
    """An attempt is dispatched."""
    where = {"group_id": group, "attempt_id": attempt, "prompt_id": prompt, "generation_index": generation}
    return event(run, "attempt_dispatched", **where, **fields)


def seal(run: str, attempt: str, tokens: int | None = 10, **fields: Any) -> Row:
    """An attempt has its result, of 10 tokens where nothing else is said."""
    return event(run, "attempt_sealed", attempt_id=attempt, tokens=tokens, **fields)


def keep(run: str, attempt: str, group: str, level: str = "sibling", generation: int = 0, **fields: Any) -> Row:
    """A restore kept an attempt's result, or goes on with its work."""
    where = {"attempt_id": attempt, "group_id": group, "generation_index": generation}
    return event(run, "attempt_resumed", level=level, **where, **fields)


def drop(run: str, group: str, reason: str = "stale") -> Row:
    """A group is discarded."""
    return event(run, "group_discarded", group_id=group, reason=reason)


def train(run: str, step: int, *groups: str, **fields: Any) -> Row:
    """A step is trained."""
    return event(run, "train_step", step=step, trained_version=step, group_ids=list(groups), **fields)


def save(run: str, step: int, **fields: Any) -> Row:
    """A checkpoint is complete; without further fields it holds what there is now."""
    return event(run, "checkpoint_published", **{"checkpoint_id": f"c{step}", "step": step} | fields)


def back(run: str, step: int | None, **fields: Any) -> Row:
    """A run restores a checkpoint."""
    return event(run, "checkpoint_restored", **{"checkpoint_id": f"c{step}", "step": step} | fields)


def once(run: str, step: int, name: str, **fields: Any) -> tuple[Row, ...]:
    """A step of one group of one rollout, from reservation to training: prompt ``p<name>``, group ``g<name>``."""
    return (
        reserve(run, f"g{name}", f"p{name}", **fields),
        send(run, f"a{name}", f"g{name}", f"p{name}"),
        seal(run, f"a{name}"),
        train(run, step, f"g{name}"),
    )


@dataclass(frozen=True)
class Story:
    """What is said of a file.

    Attributes:
        stops: Who took over from whom, and from which checkpoint.
        fates: Of each stop, the fate of each attempt.
        lost: Of each stop, the steps lost, and those trained again.
        lineage: Each run's steps that count, and those given up.
        accounts: Rollouts by account and reason.
    """

    stops: list[Taking] = field(default_factory=list)
    fates: list[dict[str, str]] = field(default_factory=list)
    lost: list[tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    lineage: list[RunTold] = field(default_factory=list)
    accounts: dict[str, int] = field(default_factory=dict)


def followed(rows: Iterable[Row]) -> tuple[RestoreFold, RestoreReport, WasteReport]:
    """What the fold followed, and both reports, checked against their own laws."""
    restores = RestoreFold()
    waste = WasteFold(restores)
    for row in rows:
        restores.add(row)
        waste.add(row)
    report, wasted = restores.result(), waste.result()
    report.self_check()
    wasted.self_check()
    return restores, report, wasted


def fates_said(fold: RestoreFold, place: int) -> dict[str, str]:
    """Fate by attempt at a stop, as the rows tell it."""
    stop = fold.follower.stops[place]
    finished = fold.follower.job_ended(stop)
    losses = (loss for loss in stop.losses if loss.rollout.ended is not Ended.ABANDONED)
    return {loss.rollout.attempt_id: loss.fate_if(finished).value for loss in losses}


def told(rows: Iterable[Row]) -> Story:
    """The story of some rows."""
    fold, report, wasted = followed(rows)
    fates = [fates_said(fold, place) for place in range(len(fold.follower.stops))]
    for stop, by_attempt in zip(report.stops, fates, strict=True):
        counted = {fate: list(by_attempt.values()).count(fate.value) for fate in Fate}
        assert counted == {fate: amount.rollouts for fate, amount in stop.fates.items()}
    return Story(
        stops=[(stop.run, stop.restored_run, stop.checkpoint_id) for stop in report.stops],
        fates=fates,
        lost=[(stop.steps_lost, stop.steps_trained_again) for stop in report.stops],
        lineage=[(run.run, run.steps_surviving, run.steps_given_up) for run in report.lineage.runs],
        accounts={
            account.name if account.reason is None else f"{account.name} {account.reason}": account.amount.rollouts
            for account in wasted.accounts
        },
    )


ONE_STOP: Final = trace(
    at(0.0, started("a")),
    at(2.0, save("a", 0)),
    at(10.0, save("a", 1)),
    at(11.0, send("a", "a1", "g1", "p1")),
    at(12.0, send("a", "x", "g2", "p2")),
    at(13.0, seal("a", "a1")),
    at(13.0, send("a", "y", "g2", "p2", 1)),
    at(14.0, train("a", 2, "g1")),
    at(15.0, refit("a", 1, 2, ("y:0", 7))),
    at(16.0, seal("a", "x", 30)),
    at(18.0, send("a", "z", "g2", "p2", 2)),
    at(20.0, refused("a", "q")),
    at(50.0, started("b")),
    at(52.0, back("b", 1, seconds=1.5)),
    at(52.0, keep("b", "x", "g2", tokens_kept=30)),
    at(53.0, keep("b", "y1", "g2", "turn", 1, previous_attempt_id="y", tokens_kept=5)),
    at(54.0, send("b", "z1", "g2", "p2", 2)),
    at(55.0, send("b", "a2", "g1", "p1")),
    at(57.0, seal("b", "a2")),
    at(58.0, train("b", 2, "g1")),
    at(59.0, ended("b")),
)
"""Run a is killed with a step lost, one result sealed and two attempts open; run b keeps some and does some again."""
