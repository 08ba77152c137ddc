"""Two small jobs that differ, every metric of them worked out by hand."""

from __future__ import annotations

from typing import Any, Final

from rtrace_otel.events import Row
from tests.report.history import event, trace


def job(run: str, tokens: int, *, version: int = 5, wait: float = 2.0, refused: int = 0) -> list[Row]:
    """One group of one rollout is generated on version 4 and trained, and one rollout is abandoned.

    It begins at 100 and ends at 110 + ``wait``. The first step starts at 104 + ``wait`` and takes 2 s, 2 + ``wait``
    seconds after the refit that ended at 102 and took 1.

    Args:
        run: Id of the run.
        tokens: Tokens of the rollout that is trained; the abandoned one has 20.
        version: Version that the step updates.
        wait: Seconds by which everything after the refit comes later.
        refused: Dispatches that are refused.
    """

    def at(t: float, name: str, /, **fields: Any) -> Row:
        return event(run, name, t=t, **fields)

    def dispatch(t: float, attempt: str, generation: int) -> Row:
        return at(t, "attempt_dispatched", group_id="g", attempt_id=attempt, prompt_id="1", generation_index=generation)

    return trace(
        at(100.0, "run_started", schema=1, host="n", pid=1),
        at(102.0, "weight_sync", replaced_version=3, new_version=4, calls=[], seconds=1.0),
        at(102.0, "group_reserved", group_id="g", prompt_id="1"),
        dispatch(102.0, "x", 0),
        dispatch(102.0, "y", 1),
        *(at(102.0, "attempt_refused", attempt_id="y") for _ in range(refused)),
        at(103.0 + wait, "attempt_sealed", attempt_id="x", tokens=tokens),
        at(103.0 + wait, "attempt_abandoned", attempt_id="y", reason="timeout", tokens=20),
        at(103.5 + wait, "group_published", group_id="g", tokens_by_version={4: tokens}),
        at(104.0 + wait, "train_step_started", step=1),
        at(106.0 + wait, "train_step", step=1, trained_version=version, group_ids=["g"], seconds=2.0),
        at(110.0 + wait, "run_ended", reason="closed"),
    )


A: Final = job("a", 80, wait=0.0)
B: Final = job("b", 30, version=7, wait=2.0, refused=1)


def _killed() -> list[Row]:
    """Two rollouts are in flight or sealed when run k is killed at 110; run l begins at 130 and does both again.

    Lost are the 50 tokens of x, and 7 of y that a refit had seen: y is not known to the end.
    """

    def both(run: str, t: float, one: str, other: str) -> list[Row]:
        ids = {"group_id": "g", "prompt_id": "1"}
        return [
            event(run, "run_started", schema=1, host="n", pid=1, t=t),
            event(run, "group_reserved", **ids, t=t + 1),
            event(run, "attempt_dispatched", **ids, attempt_id=one, generation_index=0, t=t + 1),
            event(run, "attempt_dispatched", **ids, attempt_id=other, generation_index=1, t=t + 1),
        ]

    return trace(
        *both("k", 100.0, "x", "y"),
        event("k", "attempt_sealed", attempt_id="x", tokens=50, t=104.0),
        event("k", "weight_sync", replaced_version=0, new_version=1, calls=[["y", 7]], seconds=0.5, t=110.0),
        *both("l", 130.0, "v", "w"),
        event("l", "attempt_sealed", attempt_id="v", tokens=40, t=135.0),
        event("l", "attempt_sealed", attempt_id="w", tokens=60, t=135.0),
        event("l", "group_published", group_id="g", tokens_by_version={1: 100}, t=136.0),
        event("l", "train_step", step=1, trained_version=1, group_ids=["g"], seconds=2.0, t=140.0),
        event("l", "run_ended", reason="closed", t=141.0),
    )


KILLED: Final = _killed()
