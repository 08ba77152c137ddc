"""What is said of stops and waste equals what a simulated job knows of itself, over random histories."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, example, given, settings

from rtrace_otel.analysis.ledger.work import Fate
from rtrace_otel.analysis.restore_results import Stop
from rtrace_otel.testing import RolloutFate, Simulation, SimulationSettings, StopTruth, Truth, simulate
from tests.analysis.ledger.histories import LATE_STEP, histories, tells_enough
from tests.analysis.ledger.stories import fates_said, followed


def job(given_settings: SimulationSettings) -> Simulation:
    """A history whose rows tell enough."""
    simulation = simulate(given_settings)
    assume(tells_enough(simulation.rows, simulation.truth))
    return simulation


@given(histories())
@example(LATE_STEP)
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_restore_says_what_is_true(given_settings: SimulationSettings) -> None:
    """Every stop: who stopped, when, what came first after it, which steps were lost, and the fate of every rollout."""
    simulation = job(given_settings)
    fold, report, _ = followed(simulation.rows)
    truth = simulation.truth

    assert len(truth.stops) == len(report.stops)
    for place, (true, said) in enumerate(zip(truth.stops, report.stops, strict=True)):
        assert_same_stop(truth, true, said)
        assert fates_of(true) == fates_said(fold, place)
        for fate, amount in said.fates.items():
            rollouts = [rollout.work for rollout in true.rollouts if rollout.fate.value == fate.value]
            tokens = sum(work.tokens for work in rollouts)
            assert tokens == amount.tokens if amount.tokens_exact else tokens >= amount.tokens
            assert sum(work.attempt_seconds for work in rollouts) == pytest.approx(amount.attempt_seconds, abs=1e-3)
            kept = sum(min(work.tokens, work.tokens_kept) for work in rollouts)
            assert fate is Fate.DISCARDED or kept >= amount.tokens_kept
            assert fate is not Fate.REUSED or amount.tokens == amount.tokens_kept


def assert_same_stop(truth: Truth, true: StopTruth, said: Stop) -> None:
    """The facts of a stop besides its fates."""
    assert (true.stopped_run, true.restored_run, true.checkpoint_id) == (
        said.run,
        said.restored_run,
        said.checkpoint_id,
    )
    assert (true.steps_lost, true.steps_trained_again) == (said.steps_lost, said.steps_trained_again)
    assert true.in_flight.rollouts == said.in_flight.rollouts
    began = [attempt.dispatched_at for attempt in truth.attempts if attempt.run == true.restored_run]
    first = min(began) - (true.killed_at + true.dead_s) if began else None
    for expected, found in (
        (true.killed_at, said.killed_at),
        (true.dead_s, said.dead_s),
        (first, said.first_dispatch_s),
        (true.first_seal_s, said.first_seal_s),
        (true.first_train_step_s, said.first_train_step_s),
    ):
        assert (expected is None) == (found is None)
        assert expected is None or expected == pytest.approx(found, abs=1e-4)


def fates_of(stop: StopTruth) -> dict[str, str]:
    """Fate by attempt, as the simulator knows it."""
    rollouts: tuple[RolloutFate, ...] = stop.rollouts
    return {rollout.attempt_id: rollout.fate.value for rollout in rollouts}


@given(histories())
@example(LATE_STEP)
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_waste_says_what_is_true(given_settings: SimulationSettings) -> None:
    """Every attempt is in one account; what was trained is what the surviving steps trained."""
    simulation = job(given_settings)
    _, _, report = followed(simulation.rows)
    truth = simulation.truth
    rollouts = Counter[str]()
    for account in report.accounts:
        rollouts[account.name] += account.amount.rollouts

    assert len(truth.attempts) == report.begun
    assert sum(step.tokens for step in truth.steps if step.survives) == sum(
        account.amount.tokens for account in report.accounts if account.name == "trained"
    )
    abandoned = sum(attempt.outcome == "abandoned" for attempt in truth.attempts)
    assert abandoned == rollouts["abandoned"]


@given(histories())
@example(LATE_STEP)
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_the_lineage_is_true(given_settings: SimulationSettings) -> None:
    """Which steps count in the end, and which were given up, run by run."""
    simulation = job(given_settings)
    _, report, _ = followed(simulation.rows)
    survived, given_up = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for step in simulation.truth.steps:
        (survived if step.survives else given_up)[step.run, step.step] += 1
    said_survived = {
        (run.run, step) for run in report.lineage.runs for a, b in run.steps_surviving for step in range(a, b + 1)
    }
    said_given_up = {
        (run.run, step) for run in report.lineage.runs for a, b in run.steps_given_up for step in range(a, b + 1)
    }

    assert set(survived) == said_survived
    assert set(given_up) == said_given_up
