"""Jobs without faults, for tests of one setting at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from rtrace_otel.events import Row
from rtrace_otel.testing.settings import SimulationSettings, Stop
from rtrace_otel.testing.simulate import Simulation, simulate

CALM: Final = SimulationSettings(stops=0, refusal_rate=0, error_rate=0, masked_rate=0)
"""A job without a stop or a fault."""

STOPPED: Final = replace(CALM, stops=(Stop(at_step=6, after_rows=10),), checkpoint_every=4)
"""The same, killed after step 6; the checkpoint of step 4 is restored."""


def job(base: SimulationSettings = CALM, **values: Any) -> Simulation:
    """A job with these settings changed."""
    return simulate(replace(base, **values))


def rows_of(simulation: Simulation, event: str) -> list[Row]:
    """The rows of one event."""
    return [row for row in simulation.rows if row["event"] == event]
