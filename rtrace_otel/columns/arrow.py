"""Tables as Arrow: schemas, and batches of records made from the rows of a file. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol, TypeAlias

import pyarrow as pa
from pyarrow import compute

from rtrace_otel.analysis.checked import MAX_INT, integer, number
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.sources import TableRecords
from rtrace_otel.columns.types import ColumnType, Record, TableSpec
from rtrace_otel.events import Row
from rtrace_otel.text import without_surrogates

BATCH_ROWS: Final = 8192
"""Records of a table that are gathered before they become a batch."""

Take: TypeAlias = Callable[[str, Any], None]
"""Takes a batch (``pyarrow.RecordBatch``) of a table, given by name."""


class Waiting(Protocol):
    """Batches of one table that wait for something, in their order."""

    def append(self, batch: Any, /) -> None:
        """Let one wait."""

    def __iter__(self) -> Iterator[Any]:
        """Those that wait."""


_LATE: Final = ("stop", "fate", "fate_tokens_kept")
"""Columns of ``attempts`` that are known at the end of the file."""


def _text(value: Any) -> str | None:
    return None if value is None else without_surrogates(str(value))


def _truth(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _texts(value: Any) -> list[str | None] | None:
    return [_text(item) for item in value] if isinstance(value, (list, tuple)) else None


def _integers(value: Any) -> list[int | None] | None:
    return [integer(item) for item in value] if isinstance(value, (list, tuple)) else None


_TYPES: Final[Mapping[ColumnType, tuple[Any, Callable[[Any], Any]]]] = {
    ColumnType.TEXT: (pa.string(), _text),
    ColumnType.INT: (pa.int64(), integer),
    ColumnType.FLOAT: (pa.float64(), number),
    ColumnType.BOOL: (pa.bool_(), _truth),
    ColumnType.TEXTS: (pa.list_(pa.field("element", pa.string())), _texts),
    ColumnType.INTS: (pa.list_(pa.field("element", pa.int64())), _integers),
}

_PLAIN: Final = {pa.string(): str, pa.int64(): int, pa.float64(): float}
"""Types of values that Arrow takes as they are, nearly always."""


def schema_of(table: TableSpec) -> Any:
    """The table's Arrow schema (``pyarrow.Schema``); meanings and units are in the fields' metadata."""
    return pa.schema(
        [
            pa.field(
                column.name,
                _TYPES[column.type][0],
                metadata={"meaning": column.meaning} | ({"unit": column.unit} if column.unit else {}),
            )
            for column in table.columns
        ]
    )


def empty(name: str) -> Any:
    """A table (``pyarrow.Table``) without rows."""
    return schema_of(TABLES[name]).empty_table()


class ArrowTables:
    """Makes batches of the tables that are wanted, row by row.

    Memory holds what the analyses hold, and less than a batch of each table. The batches of ``attempts`` wait for the
    end of the file, because a later stop can settle the fate of an attempt that has ended.

    Args:
        wanted: Names of tables.
        take: Called with each batch as it is full, and at the end.
        waiting: Where batches wait; in memory if left out.
    """

    def __init__(self, wanted: Collection[str], take: Take, waiting: Waiting | None = None) -> None:
        """Begin with no row seen."""
        self._take = take
        self._waiting: Waiting = [] if waiting is None else waiting
        self._gathering = {name: _Gathering(TABLES[name]) for name in wanted}
        self._records = TableRecords(wanted, self._add_record)

    def add(self, row: Row, line: int) -> None:
        """Take the next row of the file.

        Args:
            row: The row.
            line: Physical line that it stands in, from 1.
        """
        self._records.add(row, line)

    def finish(self) -> None:
        """The file is at its end: give what is still to come."""
        self._records.finish()
        for name in self._gathering:
            self._give(name)
        fates, known = self._records.fates(), self._records.calls_name_attempts
        for batch in self._waiting:
            self._take("attempts", _completed(batch, fates, refits_cut_known=known))

    def _add_record(self, name: str, record: Record) -> None:
        if self._gathering[name].add(record):
            self._give(name)

    def _give(self, name: str) -> None:
        batch = self._gathering[name].batch()
        if batch is not None and name == "attempts":
            self._waiting.append(batch)
        elif batch is not None:
            self._take(name, batch)


class _Gathering:
    """Records of a table, until they are a batch."""

    def __init__(self, table: TableSpec) -> None:
        self._schema = schema_of(table)
        self._columns = [(column.name, column.type) for column in table.columns]
        self._records: list[Record] = []

    def add(self, record: Record) -> bool:
        """Whether they are enough for a batch."""
        self._records.append(record)
        return len(self._records) >= BATCH_ROWS

    def batch(self) -> Any:
        """They as a batch; ``None`` without any."""
        records, self._records = self._records, []
        if not records:
            return None
        arrays = [column_of([record.get(name) for record in records], kind) for name, kind in self._columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def column_of(values: list[Any], kind: ColumnType) -> Any:
    """Values as a column (``pyarrow.Array``); what does not fit its type is null.

    Args:
        values: As the records have them.
        kind: The column's type.
    """
    arrow_type, read = _TYPES[kind]
    plain = _PLAIN.get(arrow_type)
    if plain is not None and set(map(type, values)) <= {plain, type(None)}:
        try:
            found = pa.array(values, arrow_type)
        except (UnicodeEncodeError, OverflowError):  # half a surrogate, an integer of more bits
            pass
        else:
            if plain is str or _as_checked(found):
                return found
    return pa.array([None if value is None else read(value) for value in values], arrow_type)


def _as_checked(numbers: Any) -> bool:
    """Whether no number of an array is one that ``integer`` or ``number`` takes for none: -2**63, NaN, infinity."""
    if pa.types.is_integer(numbers.type):
        least = compute.min(numbers).as_py()
        return least is None or least > -MAX_INT
    return compute.all(compute.is_finite(numbers)).as_py() is not False


def _completed(batch: Any, fates: Mapping[tuple[str, str], Record], *, refits_cut_known: bool) -> Any:
    """A batch of attempts with what is known of them only at the end."""
    schema = batch.schema
    late: dict[str, list[Any]] = {name: [] for name in _LATE}
    for run, attempt_id in zip(batch.column("run").to_pylist(), batch.column("attempt_id").to_pylist(), strict=True):
        fate = fates.get((run, attempt_id), {})
        for name, values in late.items():
            values.append(fate.get(name))
    if not refits_cut_known:
        late["refits_cut"] = [None] * batch.num_rows
    arrays = [
        pa.array(late[field.name], field.type) if field.name in late else batch.column(place)
        for place, field in enumerate(schema)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def read_batches(reader: EventReader, wanted: Collection[str], take: Take, waiting: Waiting | None = None) -> None:
    """Make batches of the tables that are wanted from a file, in one pass.

    Args:
        reader: The file's events, from the first one on.
        wanted: Names of tables.
        take: Takes the batches.
        waiting: Where batches wait that are complete only at the end of the file; in memory if left out.
    """
    tables = ArrowTables(wanted, take, waiting)
    for row in reader:
        tables.add(row, reader.line)
    tables.finish()


def read_tables(reader: EventReader, wanted: Collection[str]) -> dict[str, Any]:
    """The tables that are wanted (``pyarrow.Table`` by name), whole in memory.

    Args:
        reader: The file's events, from the first one on.
        wanted: Names of tables.
    """
    gathered = Gathered(wanted)
    read_batches(reader, wanted, gathered.take)
    return gathered.tables()


class Gathered:
    """Keeps the batches of tables.

    Args:
        wanted: Names of tables.
    """

    def __init__(self, wanted: Iterable[str]) -> None:
        """Begin without a batch."""
        self._batches: dict[str, list[Any]] = {name: [] for name in wanted}

    def take(self, name: str, batch: Any) -> None:
        """Keep a batch."""
        self._batches[name].append(batch)

    def tables(self) -> dict[str, Any]:
        """The tables so far (``pyarrow.Table``), also those without a batch."""
        return {
            name: pa.Table.from_batches(batches, schema_of(TABLES[name])) for name, batches in self._batches.items()
        }
