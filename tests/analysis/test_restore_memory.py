"""A long history takes no more memory than its last part, and what lies too far back is said to be forgotten."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.waste import WasteFold
from rtrace_otel.events import Row
from rtrace_otel.report.restore_words import verdict
from rtrace_otel.testing import SimulationSettings, Stop, simulate
from tests.report.history import restored, started, trace

JOB = SimulationSettings(
    prompts=100_000, generations=4, groups_per_step=8, open_groups=16, checkpoint_every=2, stops=0, tokens=20.0
)


def held() -> int:
    """Bytes in use, rollouts and groups that refer to one another and to nothing else set aside."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def grown(rows: Iterator[Row], first: int) -> tuple[int, int]:
    """Rows in all, and bytes that the analysis holds more after all of them than after the first ones."""
    restores = RestoreFold(remembered=2_000)
    waste = WasteFold(restores)
    number, early = 0, 0
    tracemalloc.start()
    try:
        for number, row in enumerate(rows, 1):
            restores.add(row)
            waste.add(row)
            if number == first:
                early = held()
        late = held()
    finally:
        tracemalloc.stop()
    restores.result().self_check()
    waste.result().self_check()
    return number, late - early


def groups(steps: int) -> Iterator[Row]:
    """Rows of a run that trains 10 groups of 10 rollouts a step, and saves a checkpoint only before the first."""
    yield {"event": "checkpoint_published", "run": "a", "seq": 0, "t": 0.0, "checkpoint_id": "ckpt-0", "step": 0}
    for step in range(1, steps + 1):
        names = [f"{step}-{group}" for group in range(10)]
        for name in names:
            for attempt in range(10):
                where = {"run": "a", "seq": 0, "t": float(step), "attempt_id": f"{name}-{attempt}"}
                prompt = {"group_id": name, "prompt_id": name, "generation_index": attempt}
                yield {"event": "attempt_dispatched", **where, **prompt}
                yield {"event": "attempt_sealed", "tokens": 2, **where}
        yield {"event": "train_step", "run": "a", "seq": 0, "t": float(step), "step": step, "group_ids": names}


def test_memory_does_not_grow_with_the_file() -> None:
    """Each further step costs its books and half a checkpoint, 200 bytes; its 32 rollouts are forgotten."""
    steps = 1_000
    number, more = grown(simulate(replace(JOB, steps=steps)).iter_rows(), 30_000)

    assert number > 100_000
    assert more < 300 * steps


def test_a_checkpoint_too_far_back() -> None:
    """More rollouts than are remembered were trained since: the others are known as an amount, and unknown in fate.

    11 steps train 1,100 rollouts of 2 tokens in 110 groups. A group takes 11 of the 440 places: 40 are remembered.
    """
    restores = RestoreFold(remembered=440)
    waste = WasteFold(restores)
    for row in (*groups(11), *trace(started("b"), restored("b", 0))):
        restores.add(row)
        waste.add(row)
    report = restores.result()

    report.self_check()
    waste.result().self_check()
    (stop,) = report.stops
    assert Amount(700, 1_400) == stop.forgotten
    assert Amount(1_100, 2_200) == stop.fates[Fate.UNKNOWN]
    assert tuple(range(1, 12)) == stop.steps_lost
    assert (
        "This stop cost no rollout and no token; cannot tell what becomes of 400 rollouts, because the file ends "
        "before the job does; cannot tell what became of 700 rollouts, because training them lay too far back to be "
        "remembered one by one."
    ) == verdict(report)
    assert {("lost", "unknown"): 1_100} == {
        (account.name, account.reason): account.amount.rollouts for account in waste.result().accounts
    }


def test_a_stop_that_lost_nothing_forgets_nothing() -> None:
    """The restored checkpoint is the latest one: what was forgotten before it is safe."""
    settings = replace(JOB, steps=40, stops=(Stop(at_step=30, after_rows=10),))
    restores = RestoreFold()
    for row in simulate(settings).iter_rows():
        restores.add(row)

    assert Amount() == restores.result().stops[0].forgotten
