"""Stops with few numbers, for the tests of what is said of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore_results import Interval, Stop

NONE = Amount()
FATES = dict.fromkeys(Fate, NONE)
TEN = Amount(2, 10)
"""Two rollouts of 10 tokens together, all of them lost."""

STOP = Stop(
    run="a",
    ended_how="killed",
    restored_run="b",
    checkpoint_restored=True,
    checkpoint_id="c1",
    checkpoint_step=1,
    checkpoint_in_file=True,
    killed_at=20.0,
    dead_s=30.0,
    restore_s=1.0,
    first_dispatch_s=1.0,
    first_seal_s=2.0,
    first_train_step_s=3.0,
    throughput_back_s=4.0,
    steps_lost=(),
    steps_trained_again=(),
    in_flight=NONE,
    fates=FATES,
    forgotten=NONE,
    longest=(),
    interval=Interval(None, None, None, None, None),
    length_bias=None,
)
FROM_NOTHING: dict[str, Any] = {
    "checkpoint_restored": False, "checkpoint_id": None, "checkpoint_step": None, "checkpoint_in_file": False,
}  # fmt: skip


def stop(forgotten: Amount = NONE, *, changes: dict[str, Any] | None = None, **fates: Amount) -> Stop:
    """A stop with these fates and nothing else to tell."""
    fates_by = FATES | {Fate(name): amount for name, amount in fates.items()}
    return replace(STOP, fates=fates_by, forgotten=forgotten, **(changes or {}))
