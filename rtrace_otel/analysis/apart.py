"""What of an overview follows from the rows, the runs and the batch ages alone: another process can do this part."""

from __future__ import annotations

from dataclasses import dataclass

from rtrace_otel.analysis.age.staleness import Staleness, StalenessFold
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.pauses import Pauses, PausesFold
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.analysis.share import Sharing
from rtrace_otel.analysis.step_results import StepsReport
from rtrace_otel.analysis.steps import StepsFold
from rtrace_otel.analysis.summary import SummaryFold
from rtrace_otel.analysis.summary_results import Summary
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class Apart:
    """The results; see :class:`rtrace_otel.analysis.overview.Overview`.

    Attributes:
        summary: What the file holds.
        staleness: Batch age, and what stands behind it.
        steps: Training steps, and where the wall time went.
        pauses: Refits and checkpoints one by one.
        check: Whether the numbers add up; ``None`` if that was not asked.
    """

    summary: Summary
    staleness: Staleness
    steps: StepsReport
    pauses: Pauses
    check: CheckReport | None


class ApartFold:
    """Builds an :class:`Apart` row by row; its memory is that of its parts together.

    Args:
        check: Whether to judge the rules of ``rtrace check`` too.

    Attributes:
        runs: The runs so far; other analyses of the same pass may read them.
        ages: The ages so far, likewise.
    """

    def __init__(self, *, check: bool = True) -> None:
        """Begin with no row seen."""
        self.runs = RunFold()
        self._staleness = StalenessFold()
        self.ages = self._staleness.ages
        self._summary = SummaryFold(runs=self.runs, ages=self.ages)
        self._steps = StepsFold()
        self._pauses = PausesFold()
        self._check = CheckFold(runs=self.runs, ages=self.ages) if check else None

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Its physical line, from 1.
        """
        self.runs.add(row)
        self._staleness.add(row)
        self._summary.add(row)
        self._steps.add(row)
        self._pauses.add(row)
        if self._check is not None:
            self._check.add(row, line)

    def result(self, read: ReadReport) -> Apart:
        """What is known of the rows so far.

        Args:
            read: What the reader met.
        """
        return Apart(
            summary=self._summary.result(),
            staleness=self._staleness.result(),
            steps=self._steps.result(),
            pauses=self._pauses.result(),
            check=None if self._check is None else self._check.result(read),
        )


def apart_of(reader: EventReader, secret: bytes | None = None) -> Apart:
    """This part of an overview, with the check.

    Args:
        reader: A reader that has given no row yet.
        secret: Key of the hashes, if the names are to be taken out of the rows first.
    """
    fold, sharing = ApartFold(), None if secret is None else Sharing(secret)
    for row in reader:
        fold.add(row if sharing is None else sharing.row(row), reader.line)
    return fold.result(reader.report if sharing is None else sharing.report(reader.report))
