"""Each kind of stop, and each kind of restart after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from rtrace_otel.testing.settings import HowStopped, SimulationSettings, Stop
from rtrace_otel.testing.simulate import Simulation, simulate
from rtrace_otel.testing.truth import Fate, StopTruth

CALM: Final = SimulationSettings(refusal_rate=0, error_rate=0, masked_rate=0, checkpoint_every=2, checkpoint_s=0.5)


def stopped(*stops: Stop, **values: Any) -> tuple[Simulation, tuple[StopTruth, ...]]:
    """A job with these stops, whose truth adds up."""
    simulation = simulate(replace(CALM, stops=stops, **values))
    simulation.truth.self_check()
    return simulation, simulation.truth.stops


def events_of(simulation: Simulation, run: str) -> list[str]:
    """The events of one run, in order."""
    return [row["event"] for row in simulation.rows if row["run"] == run]


def test_no_stop() -> None:
    """One run, no stop, nothing restored, every step survives."""
    simulation, stops = stopped()

    assert ((), 1) == (stops, len(simulation.truth.runs))
    assert all(step.survives for step in simulation.truth.steps)


def test_a_number_of_kills() -> None:
    """Three kills are four runs, each after the first restoring the one checkpoint that was latest."""
    simulation = simulate(replace(CALM, stops=3))

    assert ["kill", "kill", "kill"] == [stop.how for stop in simulation.truth.stops]
    assert 4 == len(simulation.truth.runs)
    assert 12 == max(step.step for step in simulation.truth.steps if step.survives)


def test_the_latest_checkpoint_is_restored() -> None:
    """Killed after step 7, restored from step 6: step 7 is lost, and trained again by the second run."""
    simulation, (stop,) = stopped(Stop(at_step=7))
    restored = next(row for row in simulation.rows if row["event"] == "checkpoint_restored")

    assert ("step-0006", (7,), (7,)) == (stop.checkpoint_id, stop.steps_lost, stop.steps_trained_again)
    assert ("step-0006", 6, stop.stopped_run) == (restored["checkpoint_id"], restored["step"], restored["from_run"])
    assert [False] == [step.survives for step in simulation.truth.steps if step.run == stop.stopped_run][6:]


def test_an_older_checkpoint_can_be_restored() -> None:
    """Two before the latest, step 2: five steps are lost."""
    _, (stop,) = stopped(Stop(at_step=7, checkpoint=2))

    assert ("step-0002", (3, 4, 5, 6, 7)) == (stop.checkpoint_id, stop.steps_lost)


def test_further_back_than_there_are_checkpoints_is_the_oldest() -> None:
    """There are three, none of them ten before the latest."""
    _, (stop,) = stopped(Stop(at_step=7, checkpoint=10))

    assert "step-0002" == stop.checkpoint_id


def test_a_checkpoint_can_be_restored_twice() -> None:
    """The second run is killed after 40 rows, before it has a checkpoint of its own."""
    simulation, stops = stopped(Stop(at_step=7), Stop(at_step=0, after_rows=40))

    assert ["step-0006", "step-0006"] == [stop.checkpoint_id for stop in stops]
    assert [(7,), ()] == [stop.steps_lost for stop in stops]
    restored = [row for row in simulation.rows if row["event"] == "checkpoint_restored"]
    assert 1 == len({tuple(row["groups"]) for row in restored})
    assert {stops[0].stopped_run} == {row["from_run"] for row in restored}


def test_a_restart_without_a_checkpoint_starts_over() -> None:
    """All seven steps are lost; the next run begins with prompt 0, version 0 and step 1."""
    simulation, (stop,) = stopped(Stop(at_step=7, checkpoint=None))
    second = [row for row in simulation.rows if row["run"] == stop.restored_run]

    assert (None, tuple(range(1, 8))) == (stop.checkpoint_id, stop.steps_lost)
    assert "checkpoint_restored" not in events_of(simulation, stop.restored_run)
    assert "0" == next(row["prompt_id"] for row in second if row["event"] == "group_reserved")
    assert 1 == next(row["step"] for row in second if row["event"] == "train_step")


def test_without_a_published_checkpoint_the_job_starts_over() -> None:
    """A checkpoint whose row did not come before the kill cannot be restored."""
    simulation, (stop,) = stopped(Stop(at_step=3), checkpoint_s=100.0)

    assert "checkpoint_started" in events_of(simulation, stop.stopped_run)
    assert (None, (1, 2, 3)) == (stop.checkpoint_id, stop.steps_lost)


@pytest.mark.parametrize(("how", "last"), [("kill", "train_step"), ("clean", "run_ended"), ("drained", "run_ended")])
def test_how_it_is_stopped(how: HowStopped, last: str) -> None:
    """A killed run writes nothing more; a clean one ``run_ended``; a drained one has nothing in flight then."""
    simulation, (stop,) = stopped(Stop(at_step=7, how=how))
    events = events_of(simulation, stop.stopped_run)

    assert how == stop.how
    assert events[-1] == ("weight_sync_started" if how == "kill" else last)
    assert (how == "drained") == (stop.in_flight.rollouts == 0)
    assert (how == "drained") == (events[-2] == "group_discarded")


def test_what_was_drained_is_not_given_up_by_the_stop() -> None:
    """Only the rollouts of step 7 are, 16 of them: the rest was abandoned or discarded before."""
    _, (stop,) = stopped(Stop(at_step=7, how="drained"))

    assert 4 * 4 == stop.given_up.rollouts


def test_after_rows() -> None:
    """The stop waits for so many rows after those of the step that it is for."""
    rows = {}
    for after in (0, 25):
        simulation, (stop,) = stopped(Stop(at_step=7, after_rows=after))
        events = events_of(simulation, stop.stopped_run)
        rows[after] = len(events) - max(place for place, event in enumerate(events) if event == "train_step")

    assert 2 == rows[0]
    assert rows[25] >= 25


def test_a_run_can_be_stopped_before_it_has_loaded() -> None:
    """It has one row, the next run restores the same checkpoint, and nothing more is given up."""
    simulation, (first, second) = stopped(Stop(at_step=7), Stop(at_step=0))

    assert ["run_started"] == events_of(simulation, second.stopped_run)
    assert (False, True) == (first.is_restored, second.is_restored)
    assert (None, None, None) == (first.first_dispatch_s, first.first_seal_s, first.first_train_step_s)
    assert (0, "step-0006") == (second.given_up.rollouts, second.checkpoint_id)
    assert {Fate.REUSED, Fate.REDONE} <= {rollout.fate for rollout in first.rollouts}


@pytest.mark.parametrize("down_s", [0.0, 3_600.0])
def test_down_s(down_s: float) -> None:
    """The time between the last row of a run and the first of the next."""
    _, (stop,) = stopped(Stop(at_step=7, down_s=down_s))

    assert pytest.approx(down_s, abs=1e-6) == stop.dead_s


def test_a_late_row_comes_after_the_next_run_has_begun() -> None:
    """Three rows of the second run, then the last of the first, with the time and number that it has."""
    simulation, (stop,) = stopped(Stop(at_step=7, late_row=True))
    on_time, (same,) = stopped(Stop(at_step=7))
    place = max(place for place, row in enumerate(simulation.rows) if row["run"] == stop.stopped_run)

    assert [stop.restored_run] * 3 == [row["run"] for row in simulation.rows[place - 3 : place]]
    assert stop.stopped_run == simulation.rows[place - 4]["run"]
    assert stop.killed_at == simulation.rows[place]["t"]
    assert (stop, on_time.rows) == (same, sorted(simulation.rows, key=on_time.rows.index))


def test_a_late_row_never_completes_a_checkpoint() -> None:
    """Of stops at 30 moments after a step, one is right after a checkpoint, the row of which stays where it was."""
    is_late: dict[str, set[bool]] = {}
    for after in range(30):
        simulation, (stop,) = stopped(Stop(at_step=2, late_row=True, after_rows=after))
        runs = [row["run"] for row in simulation.rows]
        last = events_of(simulation, stop.stopped_run)[-1]
        is_late.setdefault(last, set()).add(sorted(runs, key=simulation.truth.runs.index) != runs)

    assert {False} == is_late.pop("checkpoint_published")
    assert {True} == set().union(*is_late.values())


def test_a_stop_that_is_not_reached_does_not_happen() -> None:
    """The dataset is used up after three steps of four groups."""
    simulation, stops = stopped(Stop(at_step=8), prompts=12, epochs=1)

    assert (3, ()) == (len(simulation.truth.steps), stops)


def test_restored_groups_name_the_run_that_reserved_them() -> None:
    """Through two restores of one checkpoint it stays the first run, and also through a checkpoint of the second."""
    simulation, stops = stopped(Stop(at_step=3), Stop(at_step=0, after_rows=40))
    origins = {row["run"]: row.get("origin_run") for row in simulation.rows if row["event"] == "group_reserved"}
    named = {
        (row["run"], row["origin_run"])
        for row in simulation.rows
        if row["event"] == "group_reserved" and "origin_run" in row
    }

    assert {(stop.restored_run, stops[0].stopped_run) for stop in stops} == named
    assert simulation.truth.runs == tuple(origins)
    simulation, _ = stopped(Stop(at_step=3), Stop(at_step=5), open_groups=40)
    first, second, third = simulation.truth.runs
    assert {first, second} == {
        row["origin_run"] for row in simulation.rows if row["run"] == third and "origin_run" in row
    }


def test_a_restored_controller_has_lost_its_cuts() -> None:
    """Some step after the restore is logged older than it is; before the stop each is logged as it is."""
    simulation, (stop,) = stopped(Stop(at_step=7), keeps="prefix")
    true = {(step.run, step.step): step.batch_age for step in simulation.truth.steps}
    too_old = {
        run: [
            row["batch_age"] - age
            for row in simulation.rows
            if row["event"] == "train_step" and row["run"] == run and (age := true[run, row["step"]]) is not None
        ]
        for run in simulation.truth.runs
    }

    assert pytest.approx(0.0) == max(map(abs, too_old[stop.stopped_run]))
    assert max(too_old[stop.restored_run]) > 0.01
