"""Everything that a report of a whole file shows, in one pass over it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rtrace_otel.analysis.age.ages import AgeFold
from rtrace_otel.analysis.age.staleness import Staleness
from rtrace_otel.analysis.apart import Apart, ApartFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.flow.slow import Slow, SlowFold
from rtrace_otel.analysis.flow.tap import FlowTap
from rtrace_otel.analysis.pauses import Pauses
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.analysis.step_results import StepsReport
from rtrace_otel.analysis.summary_results import Summary
from rtrace_otel.analysis.timeline.columns import Drawn
from rtrace_otel.analysis.timeline.fold import TimelineFold
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.analysis.waste import WasteFold, WasteReport
from rtrace_otel.analysis.waste_steps import WasteSteps, waste_steps
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of a file.

    Attributes:
        summary: What it holds.
        restores: What each stop cost.
        waste: Every rollout in one account.
        staleness: Batch age, and what stands behind it.
        steps: Training steps, and where the wall time went.
        slow: The slowest attempts and groups, and how long they take.
        pauses: Refits and checkpoints one by one.
        waste_steps: Tokens that ended between one step and the next.
        timeline: The job over time.
        check: Whether the numbers add up; ``None`` if that was not asked.
    """

    summary: Summary
    restores: RestoreReport
    waste: WasteReport
    staleness: Staleness
    steps: StepsReport
    slow: Slow
    pauses: Pauses
    waste_steps: WasteSteps
    timeline: Timeline
    check: CheckReport | None

    def self_check(self) -> None:
        """Conservation: that of each part.

        Raises:
            AssertionError: A part does not add up.
        """
        for part in (self.summary, self.restores, self.waste, self.staleness, self.steps, self.slow, self.waste_steps):
            part.self_check()
        self.timeline.self_check()
        assert self.summary.refits == len(self.pauses.refits), self.summary.refits
        assert self.summary.checkpoints == len(self.pauses.checkpoints), self.summary.checkpoints


class OverviewFold:
    """Builds an :class:`Overview` row by row; its memory is that of its parts together.

    Args:
        check: Whether to judge the rules of ``rtrace check`` too.
        selection: Which attempts the timeline holds, and how many.
        apart: Whether :class:`ApartFold` does its part elsewhere; its result is then needed for this one's.
    """

    def __init__(self, *, check: bool = True, selection: Selection | None = None, apart: bool = False) -> None:
        """Begin with no row seen."""
        self._apart = None if apart else ApartFold(check=check)
        self._runs = RunFold() if self._apart is None else self._apart.runs
        self._ages = AgeFold(keep_steps=False) if self._apart is None else self._apart.ages
        self._restores = RestoreFold(runs=self._runs)
        self._waste = WasteFold(self._restores)
        self._flow = FlowTap(self._runs)
        self._slow = SlowFold(self._flow)
        self._timeline = TimelineFold(selection, self._restores.follower, self._flow, self._ages)

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Its physical line, from 1.
        """
        if self._apart is None:
            self._runs.add(row)
            self._ages.add(row)
        else:
            self._apart.add(row, line)
        self._restores.add(row)
        self._waste.add(row)
        self._flow.advance(row)
        self._slow.add(row)
        self._timeline.add(row)

    def result(self, read: ReadReport, elsewhere: Callable[[], Apart] | None = None) -> Overview:
        """What is known of the rows so far.

        Args:
            read: What the reader met.
            elsewhere: Gives the result of the part that was done elsewhere; asked for last.
        """
        return self._overview(read, self._timeline.result(), elsewhere)

    def drawn(self, read: ReadReport) -> tuple[Drawn, Overview]:
        """The attempts of the timeline, and the rest without them in its columns; see :meth:`TimelineFold.drawn`."""
        drawn, found = self._timeline.drawn()
        return drawn, self._overview(read, found, None)

    def _overview(self, read: ReadReport, timeline: Timeline, elsewhere: Callable[[], Apart] | None) -> Overview:
        restores, waste, slow = self._restores.result(), self._waste.result(), self._slow.result()
        ended = waste_steps(self._restores.follower.books.intervals())
        if self._apart is not None:
            apart = self._apart.result(read)
        else:
            assert elsewhere is not None, "a part was done elsewhere"
            apart = elsewhere()
        return Overview(
            summary=apart.summary,
            restores=restores,
            waste=waste,
            staleness=apart.staleness,
            steps=apart.steps,
            slow=slow,
            pauses=apart.pauses,
            waste_steps=ended,
            timeline=timeline,
            check=apart.check,
        )
