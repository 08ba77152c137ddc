"""Everything that the metrics are read from, for one side of a comparison, in one pass over its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.analysis.age.histogram import add_histograms, histogram_of
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.restore_results import RestoreReport
from rtrace_otel.analysis.step_results import StepsReport
from rtrace_otel.analysis.steps import StepsFold
from rtrace_otel.analysis.summary import SummaryFold
from rtrace_otel.analysis.summary_results import Summary
from rtrace_otel.analysis.waste import WasteFold, WasteReport
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class Measures:
    """The results of the analyses for one side of a comparison.

    Attributes:
        source: Name of the file.
        run: The run whose rows alone were taken; ``None`` if all were.
        summary: From ``rtrace summary``.
        token_ages: Trained tokens by age in versions, each step as it was trained last.
        restore: From ``rtrace restore``.
        waste: From ``rtrace waste``.
        steps: From ``rtrace steps``.
        gap_rows: Rows missing by sequence number; ``None`` if the reader did not keep every gap, or nobody asked it.
    """

    source: str
    run: str | None
    summary: Summary
    token_ages: Mapping[int, int]
    restore: RestoreReport
    waste: WasteReport
    steps: StepsReport
    gap_rows: int | None

    def self_check(self) -> None:
        """Conservation: each of the analyses adds up, and they agree on the number of steps.

        Raises:
            AssertionError: They do not.
        """
        for result in (self.summary, self.restore, self.waste, self.steps):
            result.self_check()
        assert sum(self.token_ages.values()) <= self.summary.ages.tokens, self.token_ages


def measure(events: Iterable[Row], source: str) -> Measures:
    """Measure one side of a comparison.

    Args:
        events: Rows in file order, of all runs; for memory see :func:`rtrace_otel.analysis.restore.restore_report`.
        source: Name of the file.
    """
    fold = MeasureFold()
    for row in events:
        fold.add(row)
    return fold.result(source)


class MeasureFold:
    """Builds :class:`Measures` row by row."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._token_ages: dict[int, dict[int, int]] = {}
        self._summary = SummaryFold(self._trained)
        self._restores = RestoreFold()
        self._waste = WasteFold(self._restores)
        self._steps = StepsFold()

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        self._restores.add(row)
        self._waste.add(row)
        self._summary.add(row)
        self._steps.add(row)

    def result(self, source: str, run: str | None = None, read: ReadReport | None = None) -> Measures:
        """The measures of the rows so far.

        Args:
            source: Name of the file.
            run: The run that the rows are of, if they are of one that was chosen.
            read: What the reader met.
        """
        return Measures(
            source=source,
            run=run,
            summary=self._summary.result(),
            token_ages=add_histograms(self._token_ages.values()),
            restore=self._restores.result(),
            waste=self._waste.result(),
            steps=self._steps.result(),
            gap_rows=None if read is None else _gap_rows(read, run),
        )

    def _trained(self, step: TrainedStep) -> None:
        self._token_ages[step.age.step] = histogram_of(step)


class ChosenRun:
    """Takes the rows of one run only.

    Args:
        head: Its id, or the head of it. The whole id of a run never means another one that begins alike.
    """

    def __init__(self, head: str) -> None:
        """Begin with no row seen."""
        self._head = head
        self._run: str | None = None
        self._other: str | None = None
        self._fold = MeasureFold()

    def add(self, row: Row) -> None:
        """Take the next row of the file, if it is of the run."""
        run = str(row["run"])
        if run != self._run:
            if not self._is_it(run):
                return
            self._run, self._fold = run, MeasureFold()
        self._fold.add(row)

    def result(self, read: ReadReport) -> Measures:
        """The measures of the run.

        Args:
            read: What the reader met, once it is exhausted.

        Raises:
            TraceFileError: No run, or more than one, has such an id.
        """
        if self._run is None:
            raise TraceFileError(read.source, f"no run has an id that begins with {self._head!r}", hint=_runs_of(read))
        if self._other is not None and self._run != self._head:
            problem = f"more than one run has an id that begins with {self._head!r}: {self._run}, {self._other}"
            raise TraceFileError(read.source, problem, hint="Give more of the id")
        return self._fold.result(read.source, self._run, read)

    def _is_it(self, run: str) -> bool:
        if run == self._head:
            return True
        if not run.startswith(self._head) or self._run == self._head:
            return False
        if self._run is not None:
            self._other = run
        return self._run is None


_NAMED = 5
"""Runs that a message names."""


def _runs_of(read: ReadReport) -> str:
    runs = list(read.runs)
    more = f" and {len(runs) - _NAMED:,} more" if len(runs) > _NAMED else ""
    return f"Its runs: {', '.join(runs[:_NAMED])}{more}"


def _gap_rows(read: ReadReport, run: str | None) -> int | None:
    if run is None:
        return read.rows_missing
    return sum(gap.missing for gap in read.gaps if gap.run == run) if read.gap_count == len(read.gaps) else None
