"""How long attempts and groups take from one stage to the next."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord, Outcome
from rtrace_otel.analysis.percentiles import Distribution, Percentiles

PHASES: Final = {
    "reserved_to_admitted": "A group's reservation to its admission.",
    "admitted_to_dispatched": "A group's admission to its first dispatch.",
    "refused": "An attempt's refusals to its next dispatches.",
    "dispatched_to_sealed": "An attempt's running time, if it was sealed.",
    "sealed_to_published": "The last seal of a group to its publication.",
    "published_to_trained": "A group's publication to the end of its training step.",
    "straggler_gap": "The last seal of a group minus the median seal.",
}
"""Each phase and its meaning, in the order in which a rollout goes through them."""


@dataclass(frozen=True, slots=True)
class PhaseLatency:
    """How long a phase took.

    Attributes:
        phase: Its name.
        seconds: Percentiles in seconds.
    """

    phase: str
    seconds: Distribution


class Latencies:
    """Collects the durations of the phases."""

    def __init__(self) -> None:
        """Begin without durations."""
        self._phases = {phase: Percentiles() for phase in PHASES}

    def add_group(self, group: GroupRecord) -> None:
        """Take a group's phases."""
        self._phases["reserved_to_admitted"].add(group.admitted_s)
        self._phases["admitted_to_dispatched"].add(group.dispatch_s)
        self._phases["sealed_to_published"].add(group.publish_s)
        self._phases["published_to_trained"].add(group.queue_s)
        self._phases["straggler_gap"].add(group.straggler_s)

    def add_attempt(self, attempt: AttemptRecord) -> None:
        """Take an attempt's phases; it had no wait for a new dispatch if it was never refused."""
        if attempt.outcome == Outcome.SEALED:
            self._phases["dispatched_to_sealed"].add(attempt.seconds)
        if attempt.refusals and attempt.waiting_for is None:
            self._phases["refused"].add(attempt.refused_s)

    def copy(self) -> Latencies:
        """The same durations again, to go on separately."""
        return deepcopy(self)

    def result(self) -> tuple[PhaseLatency, ...]:
        """Every phase, also those of which nothing is known."""
        return tuple(PhaseLatency(phase, values.result()) for phase, values in self._phases.items())
