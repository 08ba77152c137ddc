"""Which sources give the tables that are wanted, in one pass over the rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from rtrace_otel.analysis.steps import StepsFold
from rtrace_otel.columns.from_flow import FlowRecords
from rtrace_otel.columns.from_rows import EventRecords, SyncRecords
from rtrace_otel.columns.from_runs import RunRecords
from rtrace_otel.columns.from_steps import StepRecords
from rtrace_otel.columns.from_stops import StopRecords
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.source import Sink, TableSource
from rtrace_otel.columns.types import Record
from rtrace_otel.events import Row

_BY_STEPS: Final = frozenset({"runs", "steps", "token_ages"})
_BY_STOPS: Final = frozenset({"attempts", "restores", "losses", "accounts", "step_accounts"})


class TableRecords:
    """Gives the records of the tables that are wanted.

    Attempts are given when they end; what is known of them only at the end of the file is then in ``fates``.

    Args:
        wanted: Names of tables.
        sink: Takes their records; those of other tables are left out.
    """

    def __init__(self, wanted: Collection[str], sink: Sink) -> None:
        """Begin with no row seen."""
        self._wanted = frozenset(wanted)
        assert self._wanted <= TABLES.keys(), self._wanted
        self._sink = sink
        self._steps = StepsFold() if self._wanted & _BY_STEPS else None
        self._flow = FlowRecords(self._give) if self._wanted & {"attempts", "groups"} else None
        self._stops = StopRecords(self._give) if self._wanted & _BY_STOPS else None
        self._sources: list[TableSource] = [source for source in (self._flow, self._stops) if source is not None]
        if "events" in self._wanted:
            self._sources.append(EventRecords(self._give))
        if self._wanted & {"refits", "checkpoints"}:
            self._sources.append(SyncRecords(self._give))
        if self._steps is not None:
            if "runs" in self._wanted:
                self._sources.append(RunRecords(self._give, self._steps))
            if self._wanted & {"steps", "token_ages"}:
                self._sources.append(StepRecords(self._give, self._steps))

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Physical line that it stands in, from 1.
        """
        if self._steps is not None:
            self._steps.add(row)
        for source in self._sources:
            source.add(row, line)

    def finish(self) -> None:
        """The file is at its end: give what is still to come."""
        for source in self._sources:
            source.finish()

    @property
    def calls_name_attempts(self) -> bool:
        """Whether ``refits_cut`` of the attempts says anything."""
        return self._flow is not None and self._flow.calls_name_attempts

    def fates(self) -> dict[tuple[str, str], Record]:
        """``stop``, ``fate`` and ``fate_tokens_kept`` of attempts that a stop took, by run and attempt id."""
        return {} if self._stops is None else self._stops.fates()

    def _give(self, table: str, record: Record) -> None:
        if table in self._wanted:
            self._sink(table, record)
