"""SQL over tables, answered by DuckDB in memory. Needs duckdb and pyarrow."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Final, Self

import duckdb

from rtrace_otel.columns.registry import TABLES
from rtrace_otel.errors import RTraceError

_CHUNK: Final = 10_000
_WORD: Final = re.compile(rf"\b(?:{'|'.join(TABLES)})\b", re.IGNORECASE)

_TABLE_OF_TREE: Final = re.compile(r'"table_name": ?"(\w+)"')


_FILE_AS_TABLE: Final = re.compile(r"Table with name \S*[./]\S* does not exist!")


class QueryError(RTraceError):
    """DuckDB does not take a query; the text is its own, in lines, with a mark under the place."""

    @property
    def wants_files(self) -> bool:
        """Whether DuckDB would take it, as far as its words tell, if it were allowed to reach files."""
        return isinstance(self.__cause__, duckdb.PermissionException) or _FILE_AS_TABLE.search(str(self)) is not None


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query gives.

    Attributes:
        names: Of its columns.
        types: Their types in SQL.
        rows: Its first rows.
        total: How many rows it has.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int


class Database:
    """A database in memory that holds tables and answers queries; close it, or use it as a context.

    Names in a query are never variables of this program.

    Args:
        allow_files: Whether queries may read and write files, and reach the network.
    """

    def __init__(self, *, allow_files: bool = False) -> None:
        """Begin without a table."""
        allowed = "true" if allow_files else "false"
        self._connection = duckdb.connect(
            config={
                "enable_external_access": allowed,
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": allowed,
                "python_enable_replacements": "false",
            }
        )
        with suppress(duckdb.Error):  # without the extension for time zones, times are in UTC anyway
            self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET lock_configuration = true")

    def __enter__(self) -> Self:
        """The database itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of everything in it."""
        self._connection.close()

    def tables_in(self, query: str) -> frozenset[str]:
        """The tables that a query can need; to be asked before any table is there.

        They are those that its text has as names of tables; of a statement that is more than a SELECT, those that it
        has as words.

        Raises:
            QueryError: It is empty, or not SQL.
        """
        with _told():
            statements = self._connection.extract_statements(query)
        if not statements:
            raise QueryError("the query is empty")
        found = {name for statement in statements for name in self._named(statement.query)}
        return frozenset(found & TABLES.keys())

    def _named(self, statement: str) -> set[str]:
        """Names of tables. A name too many costs time; with one too few, the answer would be wrong."""
        words = {word.lower() for word in _WORD.findall(statement)}
        if not words or "query_table" in statement.lower():
            return words
        with suppress(duckdb.Error):
            tree = self._connection.execute("SELECT json_serialize_sql(?)", [statement]).fetchall()
            named = {name.lower() for name in _TABLE_OF_TREE.findall(str(tree))}
            return words & named if named else words
        return words

    def hold(self, tables: Mapping[str, Any]) -> None:
        """Take tables (``pyarrow.Table`` by name); they are not copied."""
        for name, table in tables.items():
            self._connection.register(name, table)

    def answer(self, query: str, limit: int | None = None) -> QueryResult:
        """The answer to a query; of several statements, to the last one.

        Args:
            query: SQL as DuckDB speaks it.
            limit: Rows to give at most; ``None`` for all.

        Raises:
            QueryError: DuckDB does not take it.
        """
        with _told(), _interruptible(self._connection):
            answer = self._connection.execute(query)
            columns = answer.description or []
            rows, total = _fetched(answer, limit) if columns else ([], 0)
        names, types = ([str(column[place]) for column in columns] for place in (0, 1))
        return QueryResult(tuple(names), tuple(types), tuple(rows), total)

    def answer_as_arrow(self, query: str) -> Any:
        """The same as a ``pyarrow.Table``.

        Raises:
            QueryError: DuckDB does not take it.
        """
        with _told(), _interruptible(self._connection):
            return self._connection.sql(query).to_arrow_table()


@contextmanager
def _told() -> Iterator[None]:
    """What DuckDB does not take is an error of ours; what the user interrupts is an interruption."""
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.Error as error:
        raise QueryError(str(error)) from error
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None


@contextmanager
def _interruptible(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Ctrl-C also ends DuckDB's own threads: without that it waits for what they have begun, which can be hours."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    then = before

    def interrupt(number: int, frame: FrameType | None) -> None:
        connection.interrupt()
        then(number, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _fetched(answer: duckdb.DuckDBPyConnection, limit: int | None) -> tuple[list[tuple[Any, ...]], int]:
    """The first rows, and how many there are."""
    rows: list[tuple[Any, ...]] = []
    total = 0
    while chunk := answer.fetchmany(_CHUNK):
        total += len(chunk)
        rows += chunk if limit is None else chunk[: max(limit - len(rows), 0)]
    return rows, total
