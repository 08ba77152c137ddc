"""What old stops took is added up: the report is the same, and the rollouts are gone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from rtrace_otel.analysis.ledger.settled import Settled
from rtrace_otel.analysis.ledger.work import Amount, Ended, Fate, Loss, Occurrence, PromptGroup, Rollout
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.waste import WasteFold, WasteReport
from rtrace_otel.events import Row
from rtrace_otel.testing import SimulationSettings, Stop, simulate
from tests.analysis.ledger.histories import histories

LOOP = SimulationSettings(
    steps=12, stops=tuple(Stop(step, 30) for step in range(1, 8)), checkpoint_every=1, keeps="turn", error_rate=0.1
)
"""Seven stops."""


def reports(rows: list[Row], taken: int) -> tuple[RestoreFold, RestoreReport, WasteReport]:
    """Both reports, with so many of the stops' rollouts remembered."""
    restores = RestoreFold(taken=taken)
    waste = WasteFold(restores)
    for row in rows:
        restores.add(row)
        waste.add(row)
    report, wasted = restores.result(), waste.result()
    report.self_check()
    wasted.self_check()
    return restores, report, wasted


def rounded(report: RestoreReport) -> list[object]:
    """What is said of each stop, without what the order of additions does to floats."""
    return [
        (
            replace(stop, fates={}, in_flight=Amount(), longest=(), length_bias=None),
            {fate: _rounded(amount) for fate, amount in stop.fates.items()},
            _rounded(stop.in_flight),
            sorted(loss.tokens for loss in stop.longest),
            None if stop.length_bias is None else round(stop.length_bias, 6),
        )
        for stop in report.stops
    ]


def _rounded(amount: Amount) -> Amount:
    return replace(amount, attempt_seconds=round(amount.attempt_seconds, 3))


def accounts(report: WasteReport) -> dict[tuple[str, str | None], Amount]:
    """The accounts by name and reason."""
    return {(account.name, account.reason): _rounded(account.amount) for account in report.accounts}


@given(histories())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_reports_are_the_same(given_settings: SimulationSettings) -> None:
    """Where every restore takes the latest checkpoint, what old stops took does not change any more."""
    stops = tuple(replace(stop, checkpoint=0) for stop in given_settings.planned_stops())
    rows = simulate(replace(given_settings, stops=stops)).rows
    _, whole, whole_waste = reports(rows, 10**9)
    _, short, short_waste = reports(rows, 0)

    assert rounded(whole) == rounded(short)
    assert accounts(whole_waste) == accounts(short_waste)


@given(histories())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_rollout_has_one_account_all_the_same(given_settings: SimulationSettings) -> None:
    """Also where a restore goes on from a checkpoint that lies behind what is settled."""
    _, report, _ = reports(simulate(given_settings).rows, 0)

    assert len(report.stops) <= len(given_settings.planned_stops())


def test_settled_rollouts_are_gone() -> None:
    """Of the first five of seven stops only what has not come back is held; their runs hold no group."""
    fold, report, _ = reports(simulate(LOOP).rows, 0)
    old = fold.follower.stops[:5]

    assert len(report.stops) == 7
    assert [] == [loss for stop in old for loss in stop.losses if loss.fate is not None]
    assert sum(stop.settled.rollouts for stop in old) > 50
    assert [] == [group for stop in old for group in stop.stopped.groups]
    assert [] == [window for stop in old for window in stop.windows]


def loss(tokens: int, fate: Fate | None, *, ended: Ended = Ended.SEALED, carried: int = 0, back: bool = False) -> Loss:
    """A rollout of so many tokens that ran 2 s."""
    rollout = Rollout(
        str(tokens), "a", "0", PromptGroup("g", Occurrence(0, 0, 0.0, "p", None)), ended=ended, tokens=tokens,
        exact=True, ran_s=2.0,
    )  # fmt: skip
    return Loss(rollout, fate=fate, tokens_carried=carried, lives_on=back)


def test_sums() -> None:
    """30 tokens redone, 50 of which 20 were carried over resumed, 70 reused whole, an abandoned one that is nothing."""
    first = Settled().plus([loss(30, Fate.REDONE), loss(9, None, ended=Ended.ABANDONED)], 1.0, finished=False)
    resumed = loss(50, Fate.RESUMED, ended=Ended.OPEN, carried=20)
    both = first.plus([resumed, loss(70, Fate.REUSED, carried=70, back=True)], 1.0, finished=False)

    assert {
        Fate.REDONE: Amount(1, 30, True, 0, 2.0),
        Fate.RESUMED: Amount(1, 50, True, 20, 2.0),
        Fate.REUSED: Amount(1, 70, True, 70, 2.0),
    } == both.fates
    assert {Fate.REDONE: Amount(1, 30, True, 0, 2.0), Fate.RESUMED: Amount(1, 30, True, 0, 2.0)} == both.lost
    assert (3, Amount(1, 50, True, 20, 2.0)) == (both.rollouts, both.in_flight)
    assert [("30", 30, Fate.REDONE), ("50", 30, Fate.RESUMED)] == [
        (one.attempt_id, one.tokens, one.fate) for one in both.longest
    ]
    assert (1, {Fate.REDONE}) == (first.rollouts, set(first.fates))


@pytest.mark.parametrize(("finished", "fate"), [(True, Fate.NEVER_CAME_BACK), (False, Fate.UNKNOWN)])
def test_what_has_no_fate(finished: bool, fate: Fate) -> None:
    """It never came back if the job ended; else nobody knows."""
    assert {fate: Amount(1, 5, True, 0, 2.0)} == Settled().plus([loss(5, None)], None, finished=finished).fates
