"""The truth adds up, and the rows say the same: read without the simulator, they give the same numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import recomputed_batch_age_by_step
from rtrace_otel.events import Row
from rtrace_otel.testing.settings import SimulationSettings
from rtrace_otel.testing.simulate import simulate
from rtrace_otel.testing.truth import AttemptTruth, Fate, Truth
from rtrace_otel.testing.varied import varied_settings
from tests.testing.oracle import Oracle

SEEDS = st.integers(0, 100_000)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_the_truth_adds_up(seed: int) -> None:
    """Segments are tokens; what was given up has one fate each; what was in flight is what the stop interrupted."""
    truth = simulate(varied_settings(seed)).truth
    truth.self_check()

    for stop in truth.stops:
        assert len({rollout.key for rollout in stop.rollouts}) == len(stop.rollouts)
        assert stop.fates[Fate.REUSED].tokens_kept == stop.fates[Fate.REUSED].tokens
        anew = (Fate.TRAINED_AGAIN, Fate.REDONE, Fate.NEVER_CAME_BACK, Fate.UNKNOWN)
        assert [0, 0, 0, 0] == [stop.fates[fate].tokens_kept for fate in anew]
        assert stop.in_flight.rollouts <= stop.given_up.rollouts
    ended = [run for run in truth.runs if run not in {stop.stopped_run for stop in truth.stops}]
    assert [truth.runs[-1]] == ended
    in_last = {a.outcome for a in truth.attempts if a.run == ended[0]}
    assert {"clean": set(), "killed": {"interrupted"}, "running": {"open"}}[truth.ending] >= in_last - {
        "sealed",
        "abandoned",
    }


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_batch_ages_are_those_that_the_file_gives(seed: int) -> None:
    """Recomputed from the refits of all runs, the age of every surviving step is the true one."""
    simulation = simulate(replace(varied_settings(seed), version_restarts=False, derived_attempt_ids=False))
    recomputed = recomputed_batch_age_by_step(simulation.rows)

    for step in simulation.truth.steps:
        if step.survives:
            assert pytest.approx(step.batch_age) == recomputed[step.step]


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_attempts_are_those_of_the_rows(seed: int) -> None:
    """Beginning, end, tokens and running time of every attempt, found from its rows alone."""
    simulation = simulate(varied_settings(seed))
    by_attempt: dict[tuple[str, str], list[Row]] = defaultdict(list)
    last: dict[str, float] = {}
    for row in simulation.rows:
        last[row["run"]] = row["t"]
        if row.get("level") != "sibling" and "attempt_id" in row:
            by_attempt[row["run"], row["attempt_id"]].append(row)

    assert by_attempt.keys() == {(a.run, a.attempt_id) for a in simulation.truth.attempts}
    for attempt in simulation.truth.attempts:
        _check_attempt(attempt, by_attempt[attempt.run, attempt.attempt_id], last[attempt.run])


def _check_attempt(attempt: AttemptTruth, rows: list[Row], last: float) -> None:
    begin, end = rows[0], rows[-1]
    assert {attempt.run} == {row["run"] for row in rows}
    assert (begin["t"], begin["prompt_id"], begin["generation_index"], begin["group_id"]) == (
        attempt.dispatched_at, attempt.prompt_id, attempt.generation_index, attempt.group_id,
    )  # fmt: skip
    assert (begin.get("previous_attempt_id"), begin.get("tokens_kept", 0)) == (
        attempt.previous_attempt_id, attempt.tokens_kept,
    )  # fmt: skip
    if end["event"] in {"attempt_sealed", "attempt_abandoned"}:
        assert (end["event"], end["t"], end["tokens"]) == (
            f"attempt_{attempt.outcome}", attempt.ended_at, attempt.tokens,
        )  # fmt: skip
        assert end.get("masked", False) == attempt.masked
    else:
        assert attempt.ended_at is None
    seconds, since = 0.0, None
    for row in rows:
        if row["event"] in {"attempt_dispatched", "attempt_resumed"}:
            since = row["t"] if since is None else since
        elif since is not None:
            seconds += row["t"] - since
            since = None
    seconds += last - since if since is not None else 0.0
    assert math.isclose(seconds, attempt.seconds, abs_tol=1e-5)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_steps_are_those_of_the_rows(seed: int) -> None:
    """Number, run, version, groups and tokens; a step survives if no later run goes on from before it."""
    simulation = simulate(varied_settings(seed))
    rows = [row for run in simulation.truth.runs for row in simulation.rows if row["run"] == run]
    trained = [row for row in rows if row["event"] == "train_step"]

    assert [
        (row["step"], row["run"], row["trained_version"], tuple(row["group_ids"]), row["tokens"]) for row in trained
    ] == [(s.step, s.run, s.trained_version, s.group_ids, s.tokens) for s in simulation.truth.steps]
    surviving = [step.step for step in simulation.truth.steps if step.survives]
    assert list(range(1, len(surviving) + 1)) == surviving


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_stops_and_fates_are_those_of_the_rows(seed: int) -> None:
    """Times, steps and the fate of every rollout, found by a plain reader of the rows."""
    simulation = simulate(replace(varied_settings(seed), writes_epoch=True))
    truth = simulation.truth
    assume(all(stop.is_restored for stop in truth.stops))
    oracle = Oracle(simulation.rows)

    assert len(truth.stops) == len(oracle.stops)
    for stop, found in zip(truth.stops, oracle.stops, strict=True):
        assert oracle.fates(found) == {rollout.key: (rollout.attempt_id, rollout.fate) for rollout in stop.rollouts}
        assert (found.stopped_run, tuple(found.steps_lost)) == (stop.stopped_run, stop.steps_lost)
        assert sorted(found.trained_again) == list(stop.steps_trained_again)
        assert found.in_flight == _interrupted(truth, stop.stopped_run)
        firsts = (stop.first_dispatch_s, stop.first_seal_s, stop.first_train_step_s)
        assert list(found.firsts.values()) == [-1.0 if first is None else first for first in firsts]


def _interrupted(truth: Truth, run: str) -> set[str]:
    return {a.attempt_id for a in truth.attempts if a.run == run and a.outcome == "interrupted"}


def test_times_of_a_stop() -> None:
    """The stop is at the last row of the stopped run, and the gap is what was asked for."""
    simulation = simulate(SimulationSettings(stops=1))
    (stop,) = simulation.truth.stops
    times = {run: [row["t"] for row in simulation.rows if row["run"] == run] for run in simulation.truth.runs}
    (planned,) = simulation.settings.planned_stops()

    assert times[stop.stopped_run][-1] == stop.killed_at
    assert times[stop.restored_run][0] == pytest.approx(stop.killed_at + stop.dead_s)
    assert pytest.approx(planned.down_s, abs=1e-6) == stop.dead_s


def test_counting_versions_from_zero_changes_no_truth() -> None:
    """The rows of each run then count from 0, so their ages are wrong; the true ages are the same as before."""
    goes_on, restarts = (simulate(SimulationSettings(stops=2, version_restarts=restarts)) for restarts in (False, True))

    assert [(s.step, s.batch_age, s.survives) for s in goes_on.truth.steps] == [
        (s.step, s.batch_age, s.survives) for s in restarts.truth.steps
    ]
    assert goes_on.truth.attempts == restarts.truth.attempts
    assert goes_on.truth.stops == restarts.truth.stops
    assert goes_on.truth.steps != restarts.truth.steps
