"""Each second of a run's wall time counts once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.wall_time import MAX_GAPS, Part, WallClock

TRAIN, SYNC, OTHER = Part.TRAINING, Part.SYNCING, Part.OTHER


def parts(clock: WallClock) -> dict[str, float]:
    """The parts that are not zero."""
    return {str(part): seconds for part, seconds in clock.seconds().items() if seconds}


def test_work_and_what_lies_between() -> None:
    """Before the first work nothing waits; 10 to 13 is a wait."""
    clock = WallClock(0.0)
    clock.work(SYNC, 2.0, 3.0)
    clock.work(TRAIN, 3.0, 10.0)
    clock.work(TRAIN, 13.0, 15.0)

    assert {"other": 2.0, "syncing": 1.0, "training": 9.0, "waiting": 3.0} == parts(clock)
    assert 15.0 == clock.settled


def test_work_that_is_told_of_late_claims_the_wait() -> None:
    """A sync from 4 to 5 within a step from 2 to 8, told of first, is a sync; the rest of the step is training."""
    clock = WallClock(0.0)
    clock.work(TRAIN, 0.0, 1.0)
    clock.work(SYNC, 4.0, 5.0)
    clock.work(TRAIN, 2.0, 8.0)

    assert {"training": 1.0 + 2.0 + 3.0, "waiting": 1.0, "syncing": 1.0} == parts(clock)


@pytest.mark.parametrize("announced", [True, False])
def test_a_checkpoint_claims_waiting_only(announced: bool) -> None:
    """From 1 to 6, with a step from 3 to 4: the waits 1 to 3 and 4 to 6 are the checkpoint's, 6 to 7 is none."""
    clock = WallClock(0.0)
    clock.work(TRAIN, 0.0, 1.0)
    if announced:
        clock.checkpoint_started(1.0)
    clock.work(TRAIN, 3.0, 4.0)
    clock.checkpoint_ended(1.0, 6.0)
    clock.work(TRAIN, 7.0, 8.0)

    assert {"training": 3.0, "checkpointing": 4.0, "waiting": 1.0} == parts(clock)


def test_a_checkpoint_that_never_ends_has_the_waits_since_it_began() -> None:
    """It began at 2."""
    clock = WallClock(0.0)
    clock.work(TRAIN, 0.0, 1.0)
    clock.checkpoint_started(2.0)
    clock.work(TRAIN, 4.0, 5.0)

    assert {"training": 2.0, "checkpointing": 2.0, "waiting": 1.0} == parts(clock)


def test_old_waits_are_settled() -> None:
    """What is told of very late no longer changes them, and they are not lost."""
    clock = WallClock(0.0)
    for n in range(2 * MAX_GAPS):
        clock.work(TRAIN, 2.0 * n, 2.0 * n + 1)
    clock.checkpoint_ended(0.0, 4.0 * MAX_GAPS)

    assert {"training": 2.0 * MAX_GAPS, "waiting": MAX_GAPS - 1.0, "checkpointing": MAX_GAPS} == parts(clock)
    assert len(clock._gaps) <= MAX_GAPS


_MOMENT = st.integers(0, 60).map(float)
_WORK = st.tuples(st.sampled_from([TRAIN, SYNC, OTHER, None, "begin"]), _MOMENT, _MOMENT)


@given(st.lists(_WORK, max_size=40))
def test_the_parts_are_the_whole(works: list[tuple[Part | str | None, float, float]]) -> None:
    """In any order, with any overlap: no second is lost, none counts twice, no part is negative."""
    clock = WallClock(0.0)
    for part, start, end in works:
        if part is None:
            clock.checkpoint_ended(min(start, end), end)
        elif part == "begin":
            clock.checkpoint_started(start)
        else:
            clock.work(Part(part), start, end)
    seconds = clock.seconds()

    assert clock.settled == sum(seconds.values())
    assert min(seconds.values()) >= 0


@given(st.lists(st.tuples(_MOMENT, _MOMENT), min_size=1, max_size=12))
def test_training_is_the_union_of_the_steps(spans: list[tuple[float, float]]) -> None:
    """Told of in the order of their ends, as rows are; second by second."""
    clock = WallClock(0.0)
    clock.work(OTHER, 0.0, 0.0)
    for start, end in sorted(((min(span), max(span)) for span in spans), key=lambda span: span[1]):
        clock.work(TRAIN, start, end)
    trained = {second for span in spans for second in range(int(min(span)), int(max(span)))}

    assert len(trained) == clock.seconds()[TRAIN]
