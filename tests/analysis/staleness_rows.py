"""Rows and checks for the tests of what stands behind a batch age."""

from __future__ import annotations

from typing import Any

from rtrace_otel.analysis.age.split import AgeSplit
from rtrace_otel.analysis.age.staleness import Staleness, staleness
from rtrace_otel.events import Row
from tests.report.history import event, published, trace


def step_began(run: str, step: int) -> Row:
    """A step begins."""
    return event(run, "train_step_started", step=step)


GROUP = published("a", "g", None, ("c", 3, 10))
BEGAN = step_began("a", 1)


def found(*events: Row) -> Staleness:
    """The staleness of a trace; its laws hold."""
    result = staleness(trace(*events))
    result.self_check()
    return result


def parts(split: AgeSplit | None) -> Any:
    """In call, in group, in queue, train lag, rounded; ``None`` if there is no split."""
    if split is None:
        return None
    return tuple(round(part, 9) for part in (split.in_call, split.in_group, split.in_queue, split.train_lag))


def only_parts(*events: Row) -> Any:
    """The parts of the only step, or why there are none."""
    (step,) = found(*events).steps
    return parts(step.split) if step.split is not None else step.split_missing
