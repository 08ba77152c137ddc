"""What the static pictures of a file show, in one pass over it."""

from __future__ import annotations

from dataclasses import dataclass

from rtrace_otel.analysis.age.staleness import Staleness, StalenessFold
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.timeline.fold import TimelineFold
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.analysis.waste import WasteFold, WasteReport
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class Plotted:
    """What is shown of a file.

    Attributes:
        timeline: Attempts in lanes, bands, and series over time.
        staleness: Batch age of each step.
        waste: Every rollout in one account.
        restores: What each stop cost.
    """

    timeline: Timeline
    staleness: Staleness
    waste: WasteReport
    restores: RestoreReport


class PlottedFold:
    """Builds a :class:`Plotted` row by row; its memory is that of its parts together."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._restores = RestoreFold()
        self._waste = WasteFold(self._restores)
        self._timeline = TimelineFold(follower=self._restores.follower)
        self._staleness = StalenessFold()

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        self._restores.add(row)
        self._waste.add(row)
        self._timeline.add(row)
        self._staleness.add(row)

    def result(self) -> Plotted:
        """What is known of the rows so far."""
        return Plotted(self._timeline.result(), self._staleness.result(), self._waste.result(), self._restores.result())
