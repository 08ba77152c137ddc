"""Tables as files: Parquet, CSV, or one DuckDB database. Needs pyarrow, and duckdb for a database.

Nobody ever sees half a file: everything is written beside its place and moved there when it is whole.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from rtrace_otel.columns.arrow import schema_of
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.spool import Spool
from rtrace_otel.errors import TraceFileError


class TableWriter(Protocol):
    """Writes batches of tables."""

    def take(self, name: str, batch: Any) -> None:
        """Write a batch (``pyarrow.RecordBatch``) of a table."""

    def close(self) -> None:
        """Everything has been written."""


ROW_GROUP_ROWS: Final = 65_536
"""Rows of a table that Parquet keeps together: with fewer, files grow and readers slow down."""


class ParquetWriter:
    """Writes ``NAME.parquet`` for each table; meanings and units of the columns are in the files' schema.

    Args:
        folder: Where to.
        wanted: Names of the tables; each has a file, also without rows.
    """

    def __init__(self, folder: Path, wanted: Collection[str]) -> None:
        """Begin the files."""
        self._writers = {
            name: pa.parquet.ParquetWriter(folder / f"{name}.parquet", schema_of(TABLES[name]), compression="zstd")
            for name in wanted
        }
        self._waiting: dict[str, list[Any]] = {name: [] for name in wanted}

    def take(self, name: str, batch: Any) -> None:
        """Write a batch of a table, together with those after it."""
        waiting = self._waiting[name]
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= ROW_GROUP_ROWS:
            self._write(name)

    def close(self) -> None:
        """End the files."""
        for name, writer in self._writers.items():
            self._write(name)
            writer.close()

    def _write(self, name: str) -> None:
        waiting, self._waiting[name] = self._waiting[name], []
        if waiting:
            self._writers[name].write_table(pa.Table.from_batches(waiting), ROW_GROUP_ROWS)


class CsvWriter:
    """Writes ``NAME.csv`` for each table: UTF-8, a line of names first, null as nothing, lists as JSON.

    Args:
        folder: Where to.
        wanted: Names of the tables; each has a file, also without rows.
    """

    def __init__(self, folder: Path, wanted: Collection[str]) -> None:
        """Begin the files."""
        self._schemas = {name: _flat_schema(schema_of(TABLES[name])) for name in wanted}
        self._writers = {
            name: pa.csv.CSVWriter(folder / f"{name}.csv", schema) for name, schema in self._schemas.items()
        }

    def take(self, name: str, batch: Any) -> None:
        """Write a batch of a table."""
        arrays = [
            _as_json(column) if pa.types.is_list(column.type) else column for column in batch.columns
        ]  # fmt: skip
        self._writers[name].write_batch(pa.RecordBatch.from_arrays(arrays, schema=self._schemas[name]))

    def close(self) -> None:
        """End the files."""
        for writer in self._writers.values():
            writer.close()


def _flat_schema(schema: Any) -> Any:
    return pa.schema([pa.field(f.name, pa.string() if pa.types.is_list(f.type) else f.type) for f in schema])


def _as_json(column: Any) -> Any:
    texts = [None if value is None else json.dumps(value, ensure_ascii=False) for value in column.to_pylist()]
    return pa.array(texts, pa.string())


class DuckDbWriter:
    """Writes a DuckDB database with a table for each; meanings are comments on the columns.

    Args:
        path: Its file, which is not there yet.
        wanted: Names of the tables.
    """

    def __init__(self, path: Path, wanted: Collection[str]) -> None:
        """Make empty tables."""
        import duckdb

        self._connection = duckdb.connect(str(path))
        for name in wanted:
            columns = TABLES[name].columns
            listed = ", ".join(f'"{column.name}" {column.type.value}' for column in columns)
            self._connection.execute(f'CREATE TABLE "{name}" ({listed})')
            for column in columns:
                meaning = column.meaning.replace("'", "''")
                self._connection.execute(f'COMMENT ON COLUMN "{name}"."{column.name}" IS \'{meaning}\'')

    def take(self, name: str, batch: Any) -> None:
        """Write a batch of a table."""
        self._connection.register("batch", pa.Table.from_batches([batch]))
        self._connection.execute(f'INSERT INTO "{name}" SELECT * FROM batch')  # noqa: S608 - a name of ours
        self._connection.unregister("batch")

    def close(self) -> None:
        """End the database."""
        self._connection.close()


FORMATS: Final[Mapping[str, Callable[[Path, Collection[str]], TableWriter]]] = {
    "parquet": ParquetWriter,
    "csv": CsvWriter,
    "duckdb": DuckDbWriter,
}
"""What tables can be written as. A database is one file; the others are a folder with a file for each table."""


_NAME: Final = 60
"""Characters of the target's name in the name of the folder beside it: a file system has a limit, in bytes."""


@contextmanager
def writing(form: str, target: Path, wanted: Collection[str]) -> Iterator[tuple[TableWriter, Spool]]:
    """A writer whose files are in their place when the block ends; if it fails, nothing has changed.

    The spool beside it is for batches that have to wait.

    Args:
        form: A key of :data:`FORMATS`.
        target: The database, or the folder, which is made if it is not there; other files in it stay. A link is
            followed. Until they are whole, the files of a folder that is there are in a folder of their own in it: it
            can be another file system than its parent.
        wanted: Names of the tables.

    Raises:
        TraceFileError: It cannot be written.
    """
    try:
        if form == "duckdb" and target.is_dir():
            raise TraceFileError(str(target), "is a folder", hint="A DuckDB database is one file")
        if form != "duckdb" and target.exists() and not target.is_dir():
            raise TraceFileError(str(target), "is a file", hint="-o names a folder, with a file for each table")
        if form == "duckdb" and target.exists() and not target.is_file():
            raise TraceFileError(str(target), "is not a file but a device or a pipe", hint="Give -o another name")
        goal = Path(os.path.realpath(target))
        beside = goal if goal.is_dir() else goal.parent
        with tempfile.TemporaryDirectory(prefix=f".{goal.name[:_NAME]}.", dir=beside) as work:
            place = Path(work) / ("tables" if form != "duckdb" else "tables.duckdb")
            if form != "duckdb":
                place.mkdir()
            writer = FORMATS[form](place, wanted)
            try:
                with Spool(Path(work) / "waiting") as spool:
                    yield writer, spool
            finally:
                writer.close()
            _move(place, goal)
    except _errors(form) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise TraceFileError(str(target), f"cannot be written: {why or error}") from error


def _errors(form: str) -> tuple[type[Exception], ...]:
    """What a disk that is full raises, for example."""
    if form != "duckdb":
        return OSError, pa.ArrowException
    import duckdb

    return OSError, duckdb.Error


def _move(place: Path, target: Path) -> None:
    if not place.is_dir() or not target.exists():
        place.replace(target)
        return
    for path in sorted(place.iterdir()):
        path.replace(target / path.name)
