"""Everything that a report of a whole file shows, in one pass over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.attempts import AttemptsFold, AttemptsReport
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.choice import Choice
from rtrace_otel.analysis.damage import ReadReport
from rtrace_otel.analysis.groups import GroupsFold, GroupsReport
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.staleness import Staleness, StalenessFold
from rtrace_otel.analysis.step_results import StepsReport
from rtrace_otel.analysis.steps import StepsFold
from rtrace_otel.analysis.summary import Summary, SummaryFold
from rtrace_otel.analysis.waste import WasteFold, WasteReport
from rtrace_otel.events import Row

SLOWEST_ATTEMPTS: Final = Choice(sort="seconds", descending=True, limit=50)
STRAGGLERS: Final = Choice(sort="straggler", descending=True, limit=50)


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of a file.

    Attributes:
        summary: What it holds.
        restores: What each stop cost.
        waste: Every rollout in one account.
        staleness: Batch age, and what stands behind it.
        steps: Training steps, and where the wall time went.
        attempts: The slowest attempts, and how long attempts take.
        groups: The groups with the worst stragglers.
        check: Whether the numbers add up; ``None`` if that was not asked.
    """

    summary: Summary
    restores: RestoreReport
    waste: WasteReport
    staleness: Staleness
    steps: StepsReport
    attempts: AttemptsReport
    groups: GroupsReport
    check: CheckReport | None

    def self_check(self) -> None:
        """Conservation: that of each part.

        Raises:
            AssertionError: A part does not add up.
        """
        for part in (self.summary, self.restores, self.waste, self.staleness, self.steps, self.attempts, self.groups):
            part.self_check()


class OverviewFold:
    """Builds an :class:`Overview` row by row; its memory is that of its parts together.

    Args:
        check: Whether to judge the rules of ``rtrace check`` too.
    """

    def __init__(self, *, check: bool = True) -> None:
        """Begin with no row seen."""
        self._summary = SummaryFold()
        self._restores = RestoreFold()
        self._waste = WasteFold(self._restores)
        self._staleness = StalenessFold()
        self._steps = StepsFold()
        self._attempts = AttemptsFold(SLOWEST_ATTEMPTS)
        self._groups = GroupsFold(STRAGGLERS)
        self._check = CheckFold() if check else None

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Its physical line, from 1.
        """
        self._summary.add(row)
        self._restores.add(row)
        self._waste.add(row)
        self._staleness.add(row)
        self._steps.add(row)
        self._attempts.add(row)
        self._groups.add(row)
        if self._check is not None:
            self._check.add(row, line)

    def result(self, read: ReadReport) -> Overview:
        """What is known of the rows so far; with ``check``, call it once.

        Args:
            read: What the reader met.
        """
        return Overview(
            summary=self._summary.result(),
            restores=self._restores.result(),
            waste=self._waste.result(),
            staleness=self._staleness.result(),
            steps=self._steps.result(),
            attempts=self._attempts.result(),
            groups=self._groups.result(),
            check=None if self._check is None else self._check.result(read),
        )
