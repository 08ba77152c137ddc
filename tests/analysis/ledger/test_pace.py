"""How fast a run comes to life, and when it is back to the pace of the one before."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from rtrace_otel.analysis.ledger.pace import MIN_SEALS, PACE_SEALS, RunPace


def sealing(times: Iterable[float | None], after: RunPace | None = None) -> RunPace:
    """A run that began at 0 and sealed at these times."""
    pace = RunPace()
    pace.saw(0.0)
    if after is not None:
        pace.wants(after)
    for time in times:
        pace.saw(time)
        pace.sealed(time)
    return pace


def test_first_and_last_times() -> None:
    """The first of each kind counts; the last sign of life is the latest time, in whatever order rows come."""
    pace = RunPace()
    for time in (None, 10.0, 30.0, 20.0):
        pace.saw(time)
    for time in (None, 11.0, 12.0):
        pace.dispatched(time)
        pace.sealed(time)
        pace.trained(time)

    assert (10.0, 30.0) == (pace.started, pace.last)
    assert (11.0, 11.0, 11.0) == (pace.first_dispatch, pace.first_seal, pace.first_train_step)
    assert (1.0, None, None) == (pace.since_start(11.0), pace.since_start(9.0), pace.since_start(None))
    assert RunPace().since_start(1.0) is None


def test_back_to_nine_tenths() -> None:
    """Ten seals in 9 s before: 1 a second. Ten seals in 10 s are 0.9 a second, and that is enough; in 10.1 s not."""
    before = sealing(map(float, range(10)))

    assert 109.0 == sealing([100.0 + number * 1.0 for number in range(10)], before).back_at
    assert 110.0 == sealing([100.0 + number * 10 / 9 for number in range(10)], before).back_at
    assert sealing([100.0 + number * 10.1 / 9 for number in range(10)], before).back_at is None


def test_a_slow_start_does_not_count_for_ever() -> None:
    """Ten seals that crawl, then ten at the old pace: the last ten are as fast at 209."""
    before = sealing(map(float, range(10)))
    times = [100.0 + 10 * number for number in range(10)] + [200.0 + number for number in range(10)]

    assert 209.0 == sealing(times, before).back_at


@pytest.mark.parametrize(("seals", "known"), [(MIN_SEALS - 1, False), (MIN_SEALS, True)])
def test_few_seals_make_no_pace(seals: int, known: bool) -> None:
    """Below eight nothing is said."""
    before = sealing(map(float, range(seals)))

    assert known == (sealing(map(float, range(100)), before).back_at is not None)


def test_only_the_last_seals_count() -> None:
    """The run was slow at first and sealed once a second in the end: that is what the next one is measured by."""
    before = sealing([1000.0 * number for number in range(100)] + [1e6 + number for number in range(PACE_SEALS)])

    assert sealing([2.0 * number for number in range(PACE_SEALS)], before).back_at is None
    assert float(PACE_SEALS - 1) == sealing(map(float, range(PACE_SEALS)), before).back_at


def test_seals_of_one_moment() -> None:
    """All at once is as fast as can be: only the same is as fast."""
    before = sealing([5.0] * MIN_SEALS)

    assert sealing(map(float, range(100)), before).back_at is None
    assert 7.0 == sealing([7.0] * MIN_SEALS, before).back_at
