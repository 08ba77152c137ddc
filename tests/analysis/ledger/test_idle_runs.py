"""Runs that come up and die before they do anything belong to the stop that they stand in."""

from __future__ import annotations

from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.report.restore_words import stop_sentences
from rtrace_otel.testing import SimulationSettings, Stop, simulate


def test_a_loop_of_crashes_is_one_stop() -> None:
    """Two runs die while they load: the stop lasts until the run that works, and names them."""
    dies = Stop(at_step=0, down_s=10.0)
    simulation = simulate(SimulationSettings(steps=8, stops=(Stop(at_step=5, down_s=10.0), dies, dies)))
    first, second, third, last = simulation.truth.runs
    (stop,) = restore_report(simulation.rows).stops
    times = {run: [row["t"] for row in simulation.rows if row["run"] == run] for run in simulation.truth.runs}

    assert (first, last, (second, third)) == (stop.run, stop.restored_run, stop.idle_runs)
    assert times[last][0] - times[first][-1] == stop.dead_s
    assert f"2 runs began before the one that went on, and did no work: {second} and {third}." in (
        stop_sentences(stop, 1, 1)
    )


def test_runs_that_work_are_not_idle() -> None:
    """Each of two stops has its own run that went on, and nothing in between."""
    simulation = simulate(SimulationSettings(steps=12, stops=2))

    assert [(), ()] == [stop.idle_runs for stop in restore_report(simulation.rows).stops]
