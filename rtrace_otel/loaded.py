"""A trace in a notebook: its tables as attributes, and what it holds at a glance."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.summary import SummaryFold
from rtrace_otel.analysis.summary_results import Summary
from rtrace_otel.columns.extra import require
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.errors import RTraceError
from rtrace_otel.report.document import Column, Document, Sentence, Table
from rtrace_otel.report.numbers import count
from rtrace_otel.report.plain_text import to_html, to_text
from rtrace_otel.report.summary import summary_document

if TYPE_CHECKING:
    import pyarrow as pa


def load(path: str | os.PathLike[str]) -> Trace:
    """A trace file as tables.

    Args:
        path: A trace file, a gzip or a zstd of one, or a folder that holds ``rollout_trace.jsonl``.

    Returns:
        A trace whose tables are read when they are first asked for. ``.attempts.to_pandas()`` makes a data frame of
        one, and so does ``polars.from_arrow(trace.attempts)``.

    Raises:
        TraceFileError: The file cannot be opened.
        MissingExtraError: pyarrow is not installed: ``pip install "rtrace-otel[sql]"``.
        ValueError: The path is ``-``; standard input can be read only once.
    """
    require("rtrace_otel.load", "pyarrow")
    name = os.fspath(path)
    if name == "-":
        raise ValueError("load(path): '-' can be read only once; save standard input to a file first")
    read_events(name).close()
    return Trace(name)


@dataclass(slots=True)
class _Pass:
    """What one pass over the file has given."""

    summary: Summary
    report: ReadReport
    tables: dict[str, pa.Table]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Trace:
    """A trace file; :func:`load` makes one.

    The tables are ``pyarrow.Table``; the page on SQL has their columns. All but ``events`` are made together, in one
    pass over the file, when the first of them is asked for, and kept. Rows that are added to the file later are not
    seen by tables that have been made; load it again.

    Attributes:
        path: The file, as it was named.
    """

    path: str
    _passes: list[_Pass] = field(default_factory=list)
    _events: list[pa.Table] = field(default_factory=list)

    @property
    def events(self) -> pa.Table:
        """One row per row of the file."""
        if not self._events:
            from rtrace_otel.columns.arrow import read_tables

            with read_events(self.path) as reader:
                self._events.append(read_tables(reader, ["events"])["events"])
        return self._events[0]

    @property
    def runs(self) -> pa.Table:
        """One row per run."""
        return self._pass().tables["runs"]

    @property
    def attempts(self) -> pa.Table:
        """One row per rollout attempt in one run."""
        return self._pass().tables["attempts"]

    @property
    def groups(self) -> pa.Table:
        """One row per prompt group in one run."""
        return self._pass().tables["groups"]

    @property
    def steps(self) -> pa.Table:
        """One row per training of a step, with its batch age."""
        return self._pass().tables["steps"]

    @property
    def token_ages(self) -> pa.Table:
        """One row per step and weight version, with its tokens."""
        return self._pass().tables["token_ages"]

    @property
    def refits(self) -> pa.Table:
        """One row per weight sync."""
        return self._pass().tables["refits"]

    @property
    def checkpoints(self) -> pa.Table:
        """One row per checkpoint published."""
        return self._pass().tables["checkpoints"]

    @property
    def restores(self) -> pa.Table:
        """One row per stop that a later run went on from, with what it cost."""
        return self._pass().tables["restores"]

    @property
    def losses(self) -> pa.Table:
        """One row per rollout that a stop took, with its fate."""
        return self._pass().tables["losses"]

    @property
    def accounts(self) -> pa.Table:
        """One row per account of tokens: trained, masked, abandoned, discarded, lost, waiting, open."""
        return self._pass().tables["accounts"]

    @property
    def step_accounts(self) -> pa.Table:
        """One row per step: the tokens of what ended since the step before."""
        return self._pass().tables["step_accounts"]

    @property
    def summary(self) -> Summary:
        """What ``rtrace summary`` says."""
        return self._pass().summary

    @property
    def report(self) -> ReadReport:
        """What was wrong with the file, if anything was."""
        return self._pass().report

    def sql(self, query: str) -> pa.Table:
        """The answer to a query over the tables.

        Args:
            query: SQL as DuckDB speaks it. It reaches no file and no variable of the program.

        Returns:
            A ``pyarrow.Table``.

        Raises:
            RTraceError: DuckDB does not take the query; the message is DuckDB's.
            MissingExtraError: DuckDB is not installed: ``pip install "rtrace-otel[sql]"``.
        """
        require("Trace.sql", "duckdb")
        from rtrace_otel.columns.arrow import empty
        from rtrace_otel.columns.query import Database

        with Database() as database:
            wanted = database.tables_in(query)
            database.hold({name: getattr(self, name) if name in wanted else empty(name) for name in TABLES})
            return database.answer_as_arrow(query)

    def __repr__(self) -> str:
        """What ``rtrace summary`` says, and the tables; this reads the file if no table has been asked for yet."""
        return to_text(self._document())

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return to_html(self._document())

    def _document(self) -> Document:
        try:
            summary = summary_document(self.summary, self.report)
        except RTraceError as error:  # a debugger that shows a value must not fail on it
            return Document(f"Trace {self.path}", (Sentence(str(error), "finding"),))
        rows = [{"name": "events", "rows": self.summary.rows, "row": TABLES["events"].row}]
        rows += [
            {"name": name, "rows": table.num_rows, "row": TABLES[name].row}
            for name, table in self._pass().tables.items()
        ]
        columns = (
            Column("name", "table", align="left"),
            Column("rows", "rows", count),
            Column("row", "one row is", lambda text: str(text).replace("`", ""), "left"),
        )
        return Document(f"Trace {self.path}", (*summary.blocks, Table("Tables", columns, rows)))

    def _pass(self) -> _Pass:
        if not self._passes:
            self._passes.append(_read(self.path))
        return self._passes[0]


def _read(path: str) -> _Pass:
    from rtrace_otel.columns.arrow import ArrowTables, Gathered

    wanted = [name for name in TABLES if name != "events"]
    summary, gathered = SummaryFold(), Gathered(wanted)
    tables = ArrowTables(wanted, gathered.take)
    with read_events(path) as reader:
        for row in reader:
            summary.add(row)
            tables.add(row, reader.line)
        tables.finish()
        return _Pass(summary.result(), reader.report, gathered.tables())
