"""``rtrace export --to parquet|csv|duckdb``: what is written is what there is, whole or not at all."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rtrace_otel.columns import arrow, files
from rtrace_otel.columns.arrow import schema_of
from rtrace_otel.columns.registry import TABLES
from tests.cli.program import Run, write
from tests.columns.tables import DEMO, demo_rows, tables_of


def test_parquet_holds_the_tables(run: Run, tmp_path: Path) -> None:
    """Values, types, and what the columns mean."""
    result = run("export", DEMO, "--to", "parquet", "-o", tmp_path / "out")
    expected = tables_of(demo_rows())

    assert (0, "") == (result.code, result.out)
    assert {f"{name}.parquet" for name in TABLES} == {path.name for path in (tmp_path / "out").iterdir()}
    for name, spec in TABLES.items():
        table = pq.read_table(tmp_path / "out" / f"{name}.parquet")
        assert expected[name].equals(table)
        assert schema_of(spec).equals(table.schema, check_metadata=True)
    assert {b"meaning": b"Tokens.", b"unit": b"tokens"} == pq.read_schema(
        tmp_path / "out" / "token_ages.parquet"
    ).field("tokens").metadata


def test_a_database_holds_the_tables(run: Run, tmp_path: Path) -> None:
    """Values, types, and comments."""
    assert 0 == run("export", DEMO, "--to", "duckdb", "-o", tmp_path / "trace.duckdb").code
    expected = tables_of(demo_rows())

    with duckdb.connect(str(tmp_path / "trace.duckdb"), read_only=True) as database:
        for name, spec in TABLES.items():
            assert expected[name].to_pylist() == database.sql(f"FROM {name}").to_arrow_table().to_pylist()
            described = database.execute(
                f"SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = '{name}'"
            ).fetchall()
            assert [(one.name, one.type.value, one.meaning) for one in spec.columns] == described


def _from_text(text: str, kind: Any) -> Any:
    if text == "":
        return None
    if pa.types.is_boolean(kind):
        return text == "true"
    if pa.types.is_list(kind):
        return json.loads(text)
    return {pa.int64(): int, pa.float64(): float}.get(kind, str)(text)


def test_csv_holds_the_tables(run: Run, tmp_path: Path) -> None:
    """Null is nothing between two commas; lists are JSON."""
    assert 0 == run("export", DEMO, "--to", "csv", "-o", tmp_path / "out").code
    for name, table in tables_of(demo_rows()).items():
        with (tmp_path / "out" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        kinds = [field.type for field in table.schema]
        read = [[_from_text(text, kind) for text, kind in zip(row, kinds, strict=True)] for row in rows[1:]]

        assert table.schema.names == rows[0]
        assert [list(row.values()) for row in table.to_pylist()] == read


def test_only_the_tables_that_are_named(run: Run, job: Path, tmp_path: Path) -> None:
    """Other files in the folder stay; what was there under a table's name is replaced."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    (out / "steps.csv").write_text("old")
    result = run("export", job, "--to", "csv", "-o", out, "--tables", "steps, runs")

    assert f"2 tables written to {out} (rows: runs 2, steps 2)\n" == result.err
    assert ["mine.txt", "runs.csv", "steps.csv"] == sorted(path.name for path in out.iterdir())
    assert ("kept", 3) == ((out / "mine.txt").read_text(), len((out / "steps.csv").read_text().splitlines()))


@pytest.mark.parametrize("form", files.FORMATS)
def test_a_failure_leaves_what_was_there(
    run: Run, job: Path, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full in the middle: no half file, no leftover, the old answer untouched."""
    out = tmp_path / "out"
    assert 0 == run("export", job, "--to", form, "-o", out).code
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    written = []

    def full(_writer: object, name: str, _batch: object) -> None:
        written.append(name)
        if len(written) > 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.FORMATS[form], "take", full)
    result = run("export", job, "--to", form, "-o", out)

    assert (1, f"error: {out}: cannot be written: No space left on device\n") == (result.code, result.err)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("form", files.FORMATS)
def test_a_trace_that_holds_nothing_writes_nothing(run: Run, tmp_path: Path, form: str) -> None:
    """As for every command, that is an error."""
    path = write(tmp_path, [])
    result = run("export", path, "--to", form, "-o", tmp_path / "out")

    assert 1 == result.code
    assert [path] == list(tmp_path.iterdir())


def test_an_export_over_the_trace_itself_is_refused(run: Run, job: Path) -> None:
    """A database is one file, and could have the trace's name."""
    before = job.read_bytes()
    result = run("export", job, "--to", "duckdb", "-o", job)

    assert (1, before) == (result.code, job.read_bytes())
    assert f"error: {job}: is the trace itself. Give -o another name\n" == result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "csv"], "--to csv needs -o: a folder, which gets a file for each table"),
        (["--to", "duckdb", "-o", "-"], "--to duckdb needs -o: the file of the database"),
        (["--to", "csv", "-o", "x", "--step", "0"], "--step does not go with --to csv"),
        (["--to", "csv", "-o", "x", "--open"], "--open does not go with --to csv"),
        (["--to", "otlp-json", "--tables", "runs"], "--tables does not go with --to otlp-json"),
        (["--to", "csv", "-o", "x", "--tables", " ,"], "--tables: no table is named; there are "),
        (["--to", "csv", "-o", "x", "--tables", "run"], "--tables: no table run; there are "),
    ],
)
def test_a_wrong_command_line(run: Run, job: Path, arguments: list[str], message: str) -> None:
    """What is wrong is said, and nothing is written."""
    result = run("export", job, *arguments)

    assert 2 == result.code
    assert result.err.splitlines()[-1].startswith(f"Error: {message}")
    assert [job] == list(job.parent.iterdir())


@pytest.mark.parametrize(("form", "why"), [("duckdb", "is a folder"), ("parquet", "is a file"), ("csv", "is a file")])
def test_a_target_of_the_wrong_kind(run: Run, job: Path, tmp_path: Path, form: str, why: str) -> None:
    """A folder for a database, a file for a folder."""
    target = tmp_path / "target"
    if form == "duckdb":
        target.mkdir()
    else:
        target.write_text("mine")
    result = run("export", job, "--to", form, "-o", target)

    assert 1 == result.code
    assert result.err.startswith(f"error: {target}: {why}. ")
    assert {job, target} == set(tmp_path.iterdir())


def test_a_pipe_is_not_replaced_by_a_database(run: Run, job: Path, tmp_path: Path) -> None:
    """Nor a device such as /dev/null, which root could replace."""
    target = tmp_path / "target"
    os.mkfifo(target)
    result = run("export", job, "--to", "duckdb", "-o", target)

    assert f"error: {target}: is not a file but a device or a pipe. Give -o another name\n" == result.err
    assert target.is_fifo()


@pytest.mark.parametrize("form", files.FORMATS)
def test_a_link_is_followed(run: Run, job: Path, tmp_path: Path, form: str) -> None:
    """It stays a link, whether or not what it names is there."""
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for _ in range(2):
        assert 0 == run("export", job, "--to", form, "-o", link).code
        assert link.is_symlink()
        assert target.is_dir() == (form != "duckdb")
        assert {job, target, link} == set(tmp_path.iterdir())


def test_a_long_name(run: Run, job: Path, tmp_path: Path) -> None:
    """As long as the file system takes."""
    target = tmp_path / ("\N{SNOWMAN}" * 85)
    assert 0 == run("export", job, "--to", "csv", "-o", target, "--tables", "steps").code
    assert [target / "steps.csv"] == list(target.iterdir())


def test_a_folder_that_is_there_holds_the_files_from_the_start(tmp_path: Path) -> None:
    """Its parent can be another file system, from which a file cannot be moved in one stroke."""
    target = tmp_path / "target"
    target.mkdir()
    with files.writing("csv", target, ["steps"]):
        assert 1 == len(list(target.iterdir()))
        assert [target] == list(tmp_path.iterdir())
    assert [target / "steps.csv"] == list(target.iterdir())


def test_a_folder_whose_parent_is_missing(run: Run, job: Path, tmp_path: Path) -> None:
    """The message has the name that was given."""
    target = tmp_path / "no" / "out"

    assert (
        f"error: {target}: cannot be written: No such file or directory\n"
        == run("export", job, "--to", "csv", "-o", target).err
    )


def test_parquet_has_row_groups_of_several_batches(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,394 rows in batches of 100: groups of 500, 500 and the rest."""
    monkeypatch.setattr(arrow, "BATCH_ROWS", 100)
    monkeypatch.setattr(files, "ROW_GROUP_ROWS", 500)
    assert 0 == run("export", DEMO, "--to", "parquet", "-o", tmp_path / "out", "--tables", "events").code
    metadata = pq.read_metadata(tmp_path / "out" / "events.parquet")

    assert [500, 500, 394] == [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
    assert tables_of(demo_rows(), ["events"])["events"].equals(pq.read_table(tmp_path / "out" / "events.parquet"))
