"""The part of ``rtrace export`` that writes tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from rtrace_otel.analysis.reading.source import is_one_of
from rtrace_otel.cli.common import opened
from rtrace_otel.columns.extra import require
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.errors import TraceFileError
from rtrace_otel.report.numbers import count, listed, plural

TABLE_FORMATS: Final = ("parquet", "duckdb", "csv")


def chosen_tables(names: str | None) -> list[str]:
    """The tables of a list with commas, in the order of the documentation; all without a list.

    Raises:
        click.UsageError: One of them does not exist.
    """
    if names is None:
        return list(TABLES)
    chosen = {name.strip() for name in names.split(",")} - {""}
    unknown = sorted(chosen - TABLES.keys())
    if unknown or not chosen:
        wrong = f"no table {listed(unknown)}" if unknown else "no table is named"
        raise click.UsageError(f"--tables: {wrong}; there are {listed(list(TABLES))}")
    return [name for name in TABLES if name in chosen]


def export_tables(file: str, form: str, output: Path | None, wanted: list[str], *, quiet: bool) -> None:
    """Write tables of a trace.

    Args:
        file: The trace.
        form: One of :data:`TABLE_FORMATS`.
        output: The database, or the folder for a file of each table.
        wanted: Names of the tables.
        quiet: Whether to say nothing of what was written.

    Raises:
        TraceFileError: The trace cannot be read, or the output cannot be written.
        MissingExtraError: A package is missing.
    """
    if output is None or str(output) == "-":
        what = "the file of the database" if form == "duckdb" else "a folder, which gets a file for each table"
        raise click.UsageError(f"--to {form} needs -o: {what}")
    require(f"rtrace export --to {form}", "pyarrow", *(["duckdb"] if form == "duckdb" else []))
    if is_one_of(output, [file]):
        raise TraceFileError(str(output), "is the trace itself", hint="Give -o another name")
    from rtrace_otel.columns.arrow import read_batches
    from rtrace_otel.columns.files import writing

    rows = dict.fromkeys(wanted, 0)
    with writing(form, output, wanted) as (writer, spool), opened(file, strict=False, quiet=quiet) as reader:

        def take(name: str, batch: Any) -> None:
            rows[name] += batch.num_rows
            writer.take(name, batch)

        read_batches(reader, wanted, take, spool)
    if not quiet:
        counts = ", ".join(f"{name} {count(number)}" for name, number in rows.items())
        click.echo(f"{plural(len(rows), 'table')} written to {output} (rows: {counts})", err=True)
