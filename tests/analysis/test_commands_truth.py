"""What the other commands say equals what a simulated job knows, over random histories."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings

from rtrace_otel.analysis.age.ages import recomputed_batch_age_by_step
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.testing import SimulationSettings, simulate
from tests.analysis.ledger.histories import LATE_STEP, histories

CAREFUL = settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(histories())
@example(LATE_STEP)
@CAREFUL
def test_summary_and_attempts_count_what_happened(given_settings: SimulationSettings) -> None:
    """Attempts by outcome; every attempt that was dispatched or resumed is there once."""
    simulation = simulate(given_settings)
    outcomes = Counter(attempt.outcome for attempt in simulation.truth.attempts)
    summary, listed = summarise(simulation.rows), attempts(simulation.rows, Choice(limit=0))
    summary.self_check()
    found = Counter(record.outcome.value for record in listed.attempts)

    assert len(simulation.truth.attempts) == summary.attempts.begun
    assert (outcomes["sealed"], outcomes["abandoned"]) == (
        summary.attempts.sealed,
        sum(summary.attempts.abandoned.values()),
    )
    assert (outcomes["sealed"], outcomes["abandoned"]) == (found["sealed"], found["abandoned"])
    assert len(simulation.truth.attempts) == found.total() - found["kept"]
    assert len(simulation.truth.steps) == summary.steps_trained


@given(histories())
@example(LATE_STEP)
@CAREFUL
def test_attempts_ran_as_long_as_they_did(given_settings: SimulationSettings) -> None:
    """Running time and tokens of every sealed attempt."""
    simulation = simulate(given_settings)
    true = {(a.run, a.attempt_id): a for a in simulation.truth.attempts if a.outcome == "sealed"}
    records = attempts(simulation.rows, Choice(limit=0)).attempts
    found = {(r.run, r.attempt_id): r for r in records if r.outcome.value == "sealed"}

    assert true.keys() == found.keys()
    for key, attempt in true.items():
        assert attempt.tokens == found[key].tokens
        assert attempt.seconds == pytest.approx(found[key].seconds, abs=1e-3)


@given(histories())
@example(LATE_STEP)
@CAREFUL
def test_ages_and_steps_are_true(given_settings: SimulationSettings) -> None:
    """Batch age of every step as trained last, its parts add up, and each step is listed with its groups and tokens.

    Where version numbers begin anew in each run, rows do not say which of two equal numbers is meant.
    """
    simulation = simulate(replace(given_settings, version_restarts=False))
    last = {step.step: step for step in simulation.truth.steps}
    ages = recomputed_batch_age_by_step(simulation.rows)
    report = train_steps(simulation.rows)
    report.self_check()
    staleness(simulation.rows).self_check()
    listed = [(s.run, s.step, s.groups, s.tokens) for s in report.steps if s.ended is not None]

    assert {s: step.batch_age for s, step in last.items() if step.batch_age is not None} == pytest.approx(ages)
    assert Counter((s.run, s.step, len(s.group_ids), s.tokens) for s in simulation.truth.steps) == Counter(listed)


@given(histories())
@example(LATE_STEP)
@CAREFUL
def test_groups_are_trained_where_they_were(given_settings: SimulationSettings) -> None:
    """The groups that steps trained are those that the list calls trained."""
    simulation = simulate(given_settings)
    true = Counter((step.run, step.step, group) for step in simulation.truth.steps for group in step.group_ids)
    records = groups(simulation.rows, Choice(limit=0)).groups
    found = Counter((r.trained_run, r.trained_step, r.group_id) for r in records if r.trained_step is not None)

    assert true == found


@given(histories())
@example(LATE_STEP)
@CAREFUL
def test_a_true_history_has_no_error(given_settings: SimulationSettings) -> None:
    """The check finds nothing wrong, except a batch age below 0 where version numbers begin anew in each run.

    Nor does it say anything of calls.
    """
    simulation = simulate(given_settings)
    fold = CheckFold()
    for line, row in enumerate(simulation.rows, 1):
        fold.add(row, line)
    tally = Tally("simulated", lines=len(simulation.rows), rows=len(simulation.rows))
    report = fold.result(tally.report())
    report.self_check()
    errors = {finding.code for finding in report.findings if finding.severity.value == "error"}

    assert errors <= ({"RT501"} if given_settings.version_restarts else set())
    assert {"RT303", "RT304", "RT305", "RT306", "RT307"}.isdisjoint(report.counts)
    assert report.ledger is not None
    assert len(simulation.truth.attempts) == report.ledger.rollouts.generated
