"""A simulated asynchronous RL job that knows the truth of every rollout, for tests of what reads a trace.

Nothing here touches a file, a clock or the network. Start with :func:`simulate` and :class:`SimulationSettings`.
"""

from rtrace_otel.testing.settings import SimulationSettings, Stop
from rtrace_otel.testing.simulate import Simulation, simulate
from rtrace_otel.testing.truth import AttemptTruth, Fate, RolloutFate, StepTruth, StopTruth, Truth, Work
from rtrace_otel.testing.varied import varied_settings

__all__ = [
    "AttemptTruth",
    "Fate",
    "RolloutFate",
    "Simulation",
    "SimulationSettings",
    "StepTruth",
    "Stop",
    "StopTruth",
    "Truth",
    "Work",
    "simulate",
    "varied_settings",
]
