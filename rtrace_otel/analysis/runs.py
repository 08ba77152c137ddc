"""The runs of a file: when each began and ended, how, and from which checkpoint it went on."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, TypeAlias

from rtrace_otel.analysis.checked import amount, time_of
from rtrace_otel.events import EVENTS_BY_NAME, Row

MANY_LATE_ROWS: Final = 20
"""A run that was killed does not write as many rows after the next one began."""

HowEnded: TypeAlias = Literal["clean", "killed", "unknown"]
"""``clean``: it wrote ``run_ended``. ``killed``: it did not, and a run began after its last row. ``unknown``: else."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run.

    Attributes:
        run: Its id.
        started: Time of its first row with a sensible time, in Unix seconds.
        last_row: Latest time of its rows, in Unix seconds.
        ended_how: How it ended.
        reason: The reason in ``run_ended``, if it ended cleanly.
        rows: Its rows.
        host: Host name, if it says.
        pid: Process id, if it says.
        parent_run: The run that it was forked from.
        restored_from: The checkpoint that it restored.
        restored_step: That checkpoint's step.
        first_step: First step that it trained.
        last_step: Last step that it trained.
        rows_lost: Rows that it knows to have lost (``trace_gap``).
        clock_steps: How often the host's clock was stepped.
        from_spans: Whether its rows were rebuilt from spans, which do not carry everything.
    """

    run: str
    started: float | None
    last_row: float | None
    ended_how: HowEnded
    reason: str | None
    rows: int
    host: str | None
    pid: int | None
    parent_run: str | None
    restored_from: str | None
    restored_step: int | None
    first_step: int | None
    last_step: int | None
    rows_lost: int
    clock_steps: int
    from_spans: bool = False


@dataclass(slots=True)
class _Run:
    run: str
    first_place: int
    last_place: int = 0
    started: float | None = None
    last_row: float | None = None
    rows: int = 0
    started_row: Row = field(default_factory=dict)
    ended_row: Row | None = None
    restored_row: Row = field(default_factory=dict)
    first_step: int | None = None
    last_step: int | None = None
    rows_lost: int = 0
    clock_steps: int = 0
    before: _Run | None = None
    rows_before: int = 0

    def take(self, event: str, row: Row) -> None:
        """A row of ``_OF_RUNS``."""
        if event == "run_started":
            self.started_row = row
        elif event == "run_ended":
            self.ended_row = row
        elif event == "checkpoint_restored":
            self.restored_row = row
        elif event == "train_step" and type(row.get("step")) is int:
            self.first_step = row["step"] if self.first_step is None else self.first_step
            self.last_step = row["step"]
        elif event == "trace_gap":
            self.rows_lost += amount(row.get("lost")) or 0
        elif event == "clock_adjusted":
            self.clock_steps += 1

    def beside(self) -> bool:
        """Whether the run before went on for long, and nothing tells that this one goes on with its job."""
        if self.before is None or self.restored_row or self.rows <= 2:  # it began and ended, and did no work
            return False
        return self.before.rows - self.rows_before >= MANY_LATE_ROWS


_OF_RUNS: Final = frozenset(
    {"run_started", "run_ended", "checkpoint_restored", "train_step", "trace_gap", "clock_adjusted"}
)
"""Events that say something of their run, beyond that it went on."""


class RunFold:
    """Builds the run summaries row by row."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._runs: dict[str, _Run] = {}
        self._newest: _Run | None = None
        self._rows = 0

    def add(self, row: Row) -> bool:
        """Take the next row of the file; True if its event belongs to the vocabulary."""
        event, time = row["event"], time_of(row)
        run = self._runs.get(row["run"])
        if run is None:
            run = self._runs[row["run"]] = self._begin(row)
        run.last_place = self._rows
        self._rows += 1
        run.rows += 1
        if time is not None:
            if run.last_row is None:
                run.started = run.last_row = time
            elif time > run.last_row:
                run.last_row = time
        if event in _OF_RUNS:
            run.take(event, row)
        return event in EVENTS_BY_NAME

    def _begin(self, row: Row) -> _Run:
        run = _Run(row["run"], self._rows)
        if row.get("parent_run") is None:
            if self._newest is not None:
                run.before, run.rows_before = self._newest, self._newest.rows
            self._newest = run
        return run

    def side_by_side(self) -> int:
        """Runs that began, and restored nothing, while the run before them still wrote: perhaps of another job."""
        return sum(run.beside() for run in self._runs.values())

    def result(self) -> tuple[RunSummary, ...]:
        """The runs so far."""
        return self.latest(len(self._runs))

    def latest(self, most: int) -> tuple[RunSummary, ...]:
        """The runs that began last, at most so many; the work does not grow with the number of all runs."""
        runs = list(islice(reversed(self._runs.values()), most))[::-1]
        processes = (run.first_place for run in runs if run.started_row.get("parent_run") is None)
        newest = max(processes, default=-1)
        return tuple(self._summary(run, newest) for run in runs)

    def __len__(self) -> int:
        """How many runs there are so far."""
        return len(self._runs)

    @staticmethod
    def _summary(run: _Run, newest: int) -> RunSummary:
        """One run; ``newest`` is the place of the first row of the newest run that is no fork."""
        ended_how: HowEnded = "clean"
        if run.ended_row is None:
            ended_how = "killed" if newest > run.last_place else "unknown"
        return RunSummary(
            run=run.run,
            started=run.started,
            last_row=run.last_row,
            ended_how=ended_how,
            reason=run.ended_row.get("reason") if run.ended_row else None,
            rows=run.rows,
            host=run.started_row.get("host"),
            pid=run.started_row.get("pid"),
            parent_run=run.started_row.get("parent_run"),
            restored_from=run.restored_row.get("checkpoint_id"),
            restored_step=run.restored_row.get("step"),
            first_step=run.first_step,
            last_step=run.last_step,
            rows_lost=run.rows_lost,
            clock_steps=run.clock_steps,
            from_spans=run.started_row.get("from_spans") is True,
        )
