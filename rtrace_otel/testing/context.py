"""What the parts of one simulated run share."""

from __future__ import annotations

import random
from dataclasses import dataclass

from rtrace_otel.testing.observer import Observer
from rtrace_otel.testing.rows import Ids, RowWriter
from rtrace_otel.testing.servers import Agenda, Servers
from rtrace_otel.testing.settings import SimulationSettings


@dataclass(frozen=True, slots=True)
class Context:
    """One run's surroundings.

    Attributes:
        settings: The job.
        rng: Where all chance comes from.
        ids: New ids.
        observer: Is told of what happens.
        writer: The run's rows.
        agenda: The clock.
        servers: Run the calls.
    """

    settings: SimulationSettings
    rng: random.Random
    ids: Ids
    observer: Observer
    writer: RowWriter
    agenda: Agenda
    servers: Servers

    def about(self, seconds: float) -> float:
        """A time that varies by 30 % around this one."""
        return seconds * self.rng.uniform(0.7, 1.3)

    def write(self, event: str, /, **fields: object) -> None:
        """Write one event that happens now."""
        self.writer.write(event, self.agenda.now, **fields)
