"""A small job with times, for the tests of steps, groups and attempts, all of whose answers are worked out by hand."""

from __future__ import annotations

from typing import Any, Final

from rtrace_otel.events import Row
from tests.report.history import event, restored, resumed, started, trace


def at(time: float, row: Row, **fields: Any) -> Row:
    """The event at a time, in seconds."""
    return row | {"t": time} | fields


def dispatch(time: float, run: str, attempt: str, group: str = "g", generation: int = 0, **fields: Any) -> Row:
    """An attempt is sent out."""
    where = {"group_id": group, "attempt_id": attempt, "prompt_id": "17", "generation_index": generation}
    return event(run, "attempt_dispatched", **where, t=time, **fields)


def seal(time: float, run: str, attempt: str, tokens: int | None = None, **fields: Any) -> Row:
    """An attempt has its result."""
    return event(run, "attempt_sealed", attempt_id=attempt, tokens=tokens, t=time, **fields)


def abandon(time: float, run: str, attempt: str, reason: str = "timeout") -> Row:
    """An attempt ends without one."""
    return event(run, "attempt_abandoned", attempt_id=attempt, reason=reason, t=time)


def refuse(time: float, run: str, attempt: str) -> Row:
    """A dispatch is refused."""
    return event(run, "attempt_refused", attempt_id=attempt, reason="checkpoint", t=time)


def group(time: float, run: str, what: str, group_id: str = "g", **fields: Any) -> Row:
    """A group is reserved, admitted, sealed, published or discarded."""
    prompt = {"prompt_id": "17", "generations": 2} if what == "reserved" else {}
    return event(run, f"group_{what}", group_id=group_id, t=time, **prompt | fields)


def step(time: float, run: str, number: int, *groups: str, **fields: Any) -> Row:
    """A training step ends."""
    return event(run, "train_step", step=number, trained_version=number, group_ids=list(groups), t=time, **fields)


def sync(time: float, run: str, new: int, *calls: Any, **fields: Any) -> Row:
    """A refit ends."""
    pair = {"replaced_version": new - 1, "new_version": new}
    return event(run, "weight_sync", **pair, calls=list(calls), t=time, **fields)


JOB: Final = trace(
    at(0.0, started("a", weight_version=4)),
    group(1.0, "a", "reserved", epoch=0),
    group(1.5, "a", "admitted"),
    dispatch(2.0, "a", "x", generation=0, attempt_index=0, instance="s0"),
    dispatch(2.5, "a", "y", generation=1, weight_version=3),
    refuse(3.0, "a", "y"),
    dispatch(5.0, "a", "y", generation=1),
    seal(6.0, "a", "x", 100, reward=0.5, masked=False),
    sync(7.0, "a", 5, ["y:0", 40], seconds=0.5),
    seal(10.0, "a", "y", 60, masked=True),
    group(10.25, "a", "sealed"),
    group(10.5, "a", "published", tokens_by_version={"4": 100, "5": 50}),
    group(11.0, "a", "reserved", "h"),
    dispatch(11.5, "a", "u", "h", 0),
    dispatch(11.5, "a", "v", "h", 1),
    event("a", "train_step_started", step=5, t=12.0),
    step(15.0, "a", 5, "g", tokens=150),
    sync(16.0, "a", 6, ["v", 7], seconds=1.0),
    seal(17.0, "a", "u", 30),
    refuse(18.0, "a", "v"),
    event("a", "mark", t=20.0),
    at(30.0, started("b", weight_version=6)),
    at(31.0, restored("b", 5, groups=["h"], from_run="a")),
    group(31.0, "b", "reserved", "h", origin_run="a"),
    at(31.0, resumed("b", "u", "sibling"), tokens_kept=30, group_id="h", generation_index=0),
    dispatch(32.0, "b", "w", "h", 1, attempt_index=1),
    abandon(33.0, "b", "w", "server error"),
    dispatch(33.5, "b", "z", "h", 1, attempt_index=2),
    sync(34.0, "b", 7, ["z:1", 5], ["z:2", 6], seconds=0.5),
    event("b", "mark", t=36.0),
)  # fmt: skip
"""Run a trains group g in step 5 and is killed while v of group h waits; run b brings h back and keeps u's result."""
