"""The timeline equals what a simulated job knows, over random histories."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

from rtrace_otel.analysis.timeline.fold import timeline
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.testing import SimulationSettings, Truth, simulate
from rtrace_otel.testing.truth import AttemptTruth
from tests.analysis.ledger.histories import histories, tells_enough

CAREFUL = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def fates_of(truth: Truth) -> dict[str, str]:
    """What became of each attempt that a stop took; the last stop counts."""
    return {rollout.attempt_id: rollout.fate.value for stop in truth.stops for rollout in stop.rollouts}


def expected_states(attempt: AttemptTruth, fate: str | None, kept: bool, discarded: bool) -> set[str]:
    """The states that an attempt can have, by what happened to it.

    A run that is drained discards its groups, and a checkpoint may bring them back: such a result is discarded in its
    run, and no row need tell that a later run trained it.
    """
    if attempt.outcome == "abandoned":
        return {"abandoned"}
    if fate is not None:
        gone = "lost" if attempt.outcome == "sealed" else "interrupted"
        return {{"reused": "kept", "resumed": "resumed"}.get(fate, gone)}
    if attempt.outcome != "sealed":
        return {"open", "interrupted"}
    if kept:
        return {"kept"}
    if attempt.trained_in is not None:
        return {"discarded"} if discarded else {"trained"}
    return {"sealed", "discarded", "trained"} if attempt.masked else {"sealed", "discarded"}


def rows_by_attempt(found: Timeline) -> dict[tuple[str, str], int]:
    """The row of each attempt, by run and id."""
    columns = found.attempts
    return {(found.tables.runs[columns.run[row]], columns.attempt_id[row]): row for row in range(len(columns))}


@given(histories())
@CAREFUL
def test_times_and_states_are_true(given_settings: SimulationSettings) -> None:
    """Every attempt is there once, from its dispatch to its end or its run's last row, in its true state."""
    simulation = simulate(given_settings)
    assume(tells_enough(simulation.rows, simulation.truth))
    found, fates = timeline(simulation.rows), fates_of(simulation.truth)
    found.self_check()
    rows = rows_by_attempt(found)
    last = {band.run: band.end for band in found.bands.runs}
    discarded = {(row["run"], row["group_id"]) for row in simulation.rows if row["event"] == "group_discarded"}
    kept = {
        row["attempt_id"] for row in simulation.rows if row["event"] == "attempt_resumed" and row["level"] == "sibling"
    }

    assert {(attempt.run, attempt.attempt_id) for attempt in simulation.truth.attempts} == rows.keys()
    for attempt in simulation.truth.attempts:
        row = rows[attempt.run, attempt.attempt_id]
        ended = last[attempt.run] if attempt.ended_at is None else attempt.ended_at
        assert attempt.dispatched_at == pytest.approx(found.attempts.start[row], abs=1e-3)
        assert ended == pytest.approx(found.attempts.end[row], abs=1e-3)
        fate, was_kept = fates.get(attempt.attempt_id), attempt.attempt_id in kept
        states = expected_states(attempt, fate, was_kept, (attempt.run, attempt.group_id) in discarded)
        assert str(found.state(row)) in states, (attempt, fate)


@given(histories())
@CAREFUL
def test_bands_are_true(given_settings: SimulationSettings) -> None:
    """Every step that was trained, whether it survives, and every stop."""
    simulation = simulate(given_settings)
    assume(tells_enough(simulation.rows, simulation.truth))
    truth, bands = simulation.truth, timeline(simulation.rows).bands
    trained = [(band.step, band.run, not band.given_up) for band in bands.steps if band.finished]

    assert sorted((step.step, step.run, step.survives) for step in truth.steps) == sorted(trained, key=str)
    assert [(stop.stopped_run, stop.restored_run) for stop in truth.stops] == [
        (band.run, band.restored_run) for band in bands.stops
    ]
