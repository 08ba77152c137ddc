"""``rtrace sql``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from rtrace_otel.analysis.reading.source import each_once
from rtrace_otel.cli.common import TRACE, answer, answer_options, check_readable, opened
from rtrace_otel.columns.extra import require
from rtrace_otel.errors import TraceFileError
from rtrace_otel.report.damage import damage_json
from rtrace_otel.report.document import printable
from rtrace_otel.report.sql import query_document, query_json, tables_document, tables_json

if TYPE_CHECKING:
    from rtrace_otel.analysis.reading.damage import ReadReport

SHOWN: Final = 100
"""Rows that people see unless they ask for more."""

PEOPLE: Final = frozenset({"table", "md"})
"""Formats that people read."""

EXIT_NOT_SQL: Final = 1


@click.command()
@click.argument("arguments", metavar="FILE... QUERY", type=TRACE, nargs=-1)
@answer_options
@click.option("-f", "--query-file", type=click.Path(dir_okay=False, allow_dash=True), help="Read the query from here.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help=f"Rows to show, 0 for all.  [default: {SHOWN} for table and md, all for json and csv]",
)
@click.option("--tables", "describe", is_flag=True, help="Describe the tables and their columns; needs no FILE.")
@click.option("--allow-files", is_flag=True, help="Let the query read and write files, with all rights that you have.")
def sql(
    arguments: tuple[str, ...],
    form: str,
    output: str | None,
    strict: bool,
    quiet: bool,
    query_file: str | None,
    limit: int | None,
    describe: bool,
    allow_files: bool,
) -> int:
    """Answer a question in SQL.

    The tables are events, runs, attempts, groups, steps, token_ages, refits, checkpoints, restores, losses,
    accounts and step_accounts; only those that the query names are built. With several files, each begins with a column
    file. The SQL is that of DuckDB, which runs in this process on tables in memory. Without --allow-files, the query
    reaches no file and no network.

    \b
    Examples:
      rtrace sql logs/ "SELECT outcome, count(*), sum(tokens) FROM attempts GROUP BY outcome"
      rtrace sql a/ b/ "SELECT file, avg(batch_age) FROM steps WHERE is_latest GROUP BY file"
      rtrace sql logs/ -f slow.sql --format csv -o slow.csv
      rtrace sql --tables
    """
    if describe:
        answer(form, output, arguments, "sql", tables_document(), tables_json(), None)
        return 0
    given, query = _files_and_query(arguments, query_file)
    files = tuple(each_once(given))
    require("rtrace sql", "duckdb", "pyarrow")
    from rtrace_otel.columns.query import Database, QueryError

    shown = SHOWN if limit is None and form in PEOPLE else limit
    try:
        with Database(allow_files=allow_files) as database:
            tables, reads = _tables(files, database.tables_in(query), strict=strict, quiet=quiet)
            database.hold(tables)
            result = database.answer(query, shown or None)
    except QueryError as error:
        click.echo("\n".join(map(printable, f"error: {error}".splitlines())), err=True)
        if error.wants_files and not allow_files:
            click.echo("A query reaches files and the network only with --allow-files.", err=True)
        return EXIT_NOT_SQL
    source = files[0] if len(files) == 1 else f"{len(files)} files"
    read = [{"file": file, "read": damage_json(report)} for file, report in reads]
    document = query_document(result, source, for_people=form in PEOPLE)
    answer(form, output, files, "sql", document, query_json(result) | {"files": read}, None)
    return 0


def _files_and_query(arguments: Sequence[str], query_file: str | None) -> tuple[Sequence[str], str]:
    if query_file is None:
        if len(arguments) < 2:
            raise click.UsageError("give one FILE or more and then the query, or the query's file with -f")
        if _is_file(arguments[-1]):
            raise click.UsageError(f"the last argument, {arguments[-1]}, is a file; the query comes last")
        return arguments[:-1], arguments[-1]
    if not arguments:
        raise click.UsageError("give one FILE or more")
    if query_file != "-":
        return arguments, _read_query(Path(query_file))
    if "-" in arguments:
        raise click.UsageError("standard input can be read once: FILE and -f are both '-'")
    return arguments, sys.stdin.read() if sys.stdin is not None else ""


def _is_file(argument: str) -> bool:
    try:
        return Path(argument).exists()
    except OSError:  # a query can be too long for a name
        return False


def _read_query(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TraceFileError(str(path), f"cannot be read as SQL: {error}") from error


def _tables(
    files: Sequence[str], wanted: frozenset[str], *, strict: bool, quiet: bool
) -> tuple[Mapping[str, Any], list[tuple[str, ReadReport]]]:
    """The tables that are wanted, with the rows of all files; the others are there without rows."""
    from rtrace_otel.columns.arrow import empty, read_tables
    from rtrace_otel.columns.registry import TABLES
    from rtrace_otel.columns.several import joined

    tables: dict[str, Any] = {name: empty(name) for name in TABLES}
    if not wanted:
        for file in files:
            check_readable(file)
        return tables, []
    found, reads = [], []
    for file in files:
        with opened(file, strict=strict, quiet=quiet) as reader:
            found.append(read_tables(reader, wanted))
        reads.append((file, reader.report))
    tables |= found[0] if len(files) == 1 else {name: joined(files, [each[name] for each in found]) for name in wanted}
    return tables, reads
