"""``rtrace sql``: files and queries in, answers in four formats out, and nothing else reached."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from rtrace_otel.columns.registry import TABLES
from tests.cli.conftest import RUN_A, RUN_B
from tests.cli.program import Run, strict_json, write
from tests.report.history import reserved, started, trace

BY_OUTCOME = "SELECT outcome, count(*) AS n FROM attempts GROUP BY outcome ORDER BY outcome"


def test_the_answer_as_a_table(run: Run, job: Path) -> None:
    """Attempts x and y were sealed, w was abandoned, z was open when its run was killed."""
    result = run("sql", job, BY_OUTCOME)

    assert (0, "") == (result.code, result.err)
    assert [
        f"Query of {job}",
        "",
        "Rows",
        "outcome       n",
        "───────────────",
        "abandoned     1",
        "interrupted   1",
        "sealed        2",
    ] == result.out.splitlines()


def test_the_answer_as_csv(run: Run, job: Path) -> None:
    """Raw values under their names."""
    assert "outcome,n\nabandoned,1\ninterrupted,1\nsealed,2\n" == run("sql", job, BY_OUTCOME, "--format", "csv").out


def test_the_answer_as_markdown(run: Run, job: Path) -> None:
    """Numbers stand at the right."""
    result = run("sql", job, "SELECT step, batch_age FROM steps ORDER BY step LIMIT 1", "--format", "md")

    assert ["| step | batch_age |", "| ---: | ---: |", "| 5 | 0 |"] == result.out.splitlines()[-3:]


def test_the_answer_as_json(run: Run, job: Path) -> None:
    """Columns with their types, rows as objects, and what the reader met in each file."""
    result = strict_json(run("sql", job, BY_OUTCOME, "--format", "json").out)

    assert (1, "sql", 3) == (result["schema_version"], result["command"], result["total"])
    assert [{"name": "outcome", "type": "VARCHAR"}, {"name": "n", "type": "BIGINT"}] == result["columns"]
    assert {"outcome": "sealed", "n": 2} == result["rows"][-1]
    assert [(str(job), 20, True)] == [
        (file["file"], file["read"]["rows"], file["read"]["intact"]) for file in result["files"]
    ]


def test_values_of_other_types_are_json_values(run: Run, job: Path) -> None:
    """Times, intervals, decimals, lists, bytes; numbers that are none are null; equal names are told apart."""
    query = """SELECT to_timestamp(0) AS a, INTERVAL 90 SECOND AS b, 1.5::DECIMAL(4, 2) AS c, [1, NULL] AS d,
        'x'::BLOB AS e, 'nan'::DOUBLE AS f, 1 AS g, 2 AS g, DATE '2026-01-02' AS h, {'k': 1} AS i, true AS j"""
    (row,) = strict_json(run("sql", job, query, "--format", "json").out)["rows"]

    assert {
        "a": "1970-01-01T00:00:00+00:00", "b": 90.0, "c": 1.5, "d": [1, None], "e": "78", "f": None, "g": 1, "g_2": 2,
        "h": "2026-01-02", "i": {"k": 1}, "j": True,
    } == row  # fmt: skip
    assert 'd\n"[1, null]"\n' == run("sql", job, "SELECT [1, NULL] AS d", "--format", "csv").out


def test_several_files_have_a_column_with_their_names(run: Run, job: Path, tmp_path: Path) -> None:
    """Rows of the first file come first."""
    other = write(tmp_path, trace(started("c"), reserved("c", "g")), "other.jsonl")
    result = run("sql", job, other, "SELECT * FROM runs", "--format", "json")

    assert [(str(job), RUN_A), (str(job), RUN_B), (str(other), "c")] == [
        (row["file"], row["run"]) for row in strict_json(result.out)["rows"]
    ]


def test_a_file_that_is_named_twice_is_read_once(run: Run, job: Path, tmp_path: Path) -> None:
    """Under whatever name: as itself, by its folder, by a link."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(job)
    query = "SELECT count(*) AS n FROM events"
    assert run("sql", job, query, "--format", "csv").out == run("sql", job, link, job, query, "--format", "csv").out


def test_people_see_a_hundred_rows_and_how_many_there_are(run: Run, job: Path) -> None:
    """Files for machines have all; a limit holds for both."""
    many = "SELECT range AS n FROM range(250)"

    assert "100 of 250 rows are shown; --limit 0 shows all." == run("sql", job, many).out.splitlines()[-1]
    assert 251 == len(run("sql", job, many, "--format", "csv").out.splitlines())
    assert "249" == run("sql", job, many, "--limit", "0").out.splitlines()[-1].strip()
    limited = strict_json(run("sql", job, many, "--limit", "2", "--format", "json").out)
    assert ([{"n": 0}, {"n": 1}], 250) == (limited["rows"], limited["total"])


def test_a_few_wide_rows_stand_upright(run: Run, job: Path) -> None:
    """One value a line, for people; machines have a table."""
    text = run("sql", job, "FROM restores").out.splitlines()
    machine = run("sql", job, "FROM restores", "--format", "csv").out.splitlines()

    assert ["", "Row 1", "  stop                         0", f"  run                          {RUN_A}"] == text[1:5]
    assert (2, "stop") == (len(machine), machine[0].split(",")[0])
    assert "Rows" in run("sql", job, "SELECT * FROM restores UNION ALL BY NAME SELECT range AS stop FROM range(6)").out


def test_an_answer_without_rows_says_so(run: Run, job: Path) -> None:
    """An empty table could mean anything."""
    assert ["", "No rows."] == run("sql", job, "SELECT * FROM attempts WHERE false").out.splitlines()[-2:]


def test_control_characters_of_the_file_are_shown_not_obeyed(run: Run, tmp_path: Path) -> None:
    """Also those in names of columns."""
    path = write(tmp_path, trace(started("a"), reserved("a", "g\x1b[31m")))
    result = run("sql", path, 'SELECT group_id AS "x\x1b[0m" FROM groups')

    assert "\x1b" not in result.out
    assert "g\\x1b[31m" == result.out.splitlines()[-1]


def test_the_query_from_a_file_or_from_standard_input(
    run: Run, job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``-f``."""
    (tmp_path / "q.sql").write_text("SELECT count(*) AS n FROM runs -- two\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO("SELECT count(*) AS n FROM runs"))

    assert "n\n2\n" == run("sql", job, "-f", tmp_path / "q.sql", "--format", "csv").out
    assert "n\n2\n" == run("sql", job, "-f", "-", "--format", "csv").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.jsonl"], "give one FILE or more and then the query, or the query's file with -f"),
        (["-f", "q.sql"], "give one FILE or more"),
        (["-", "-f", "-"], "standard input can be read once: FILE and -f are both '-'"),
    ],
)
def test_a_wrong_command_line(run: Run, arguments: list[str], message: str) -> None:
    """What is missing is said."""
    result = run("sql", *arguments)

    assert (2, f"Error: {message}") == (result.code, result.err.splitlines()[-1])


def test_a_file_in_the_place_of_the_query(run: Run, job: Path) -> None:
    """It would be SQL that nobody understands; a query may be longer than any name of a file."""
    result = run("sql", job, job)

    assert (2, f"Error: the last argument, {job}, is a file; the query comes last") == (
        result.code, result.err.splitlines()[-1],
    )  # fmt: skip
    assert 0 == run("sql", job, f"SELECT '{'x' * 5000}'").code


def test_a_query_file_that_is_not_there(run: Run, job: Path, tmp_path: Path) -> None:
    """The name is in the message."""
    result = run("sql", job, "-f", tmp_path / "none.sql")

    assert 1 == result.code
    assert str(tmp_path / "none.sql") in result.err


def test_the_trace_is_never_replaced(run: Run, job: Path) -> None:
    """``-o`` names another file."""
    before = job.read_bytes()
    result = run("sql", job, BY_OUTCOME, "-o", job)

    assert (1, before) == (result.code, job.read_bytes())


def test_a_missing_package_is_named(run: Run, job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    monkeypatch.setattr("rtrace_otel.columns.extra.find_spec", lambda _: None)
    result = run("sql", job, "SELECT 1")

    assert 1 == result.code
    assert "error: rtrace sql needs duckdb. Install it with: pip install 'rtrace-otel[sql]'\n" == result.err


def test_the_tables_are_described(run: Run) -> None:
    """Each column, without a file."""
    table, machine = run("sql", "--tables"), strict_json(run("sql", "--tables", "--format", "json").out)

    assert 0 == table.code
    assert [(name, len(spec.columns)) for name, spec in TABLES.items()] == [
        (one["name"], len(one["columns"])) for one in machine["tables"]
    ]
    for spec in TABLES.values():
        assert all(any(column.name in line for line in table.out.splitlines()) for column in spec.columns)


def test_damage_is_told_beside_the_answer(run: Run, tmp_path: Path) -> None:
    """On standard error, as by every command."""
    path = write(tmp_path, trace(started("a")), after=b'{"event": "run_en')
    result = run("sql", path, "SELECT count(*) AS n FROM runs", "--format", "csv")

    assert "n\n1\n" == result.out
    assert result.err.startswith(f"note: {path}: 1 x ")


@pytest.mark.parametrize("query", ["SELECT 1", "SELECT * FROM runs"])
def test_a_file_that_is_not_there_is_an_error(run: Run, tmp_path: Path, query: str) -> None:
    """Also where the query needs nothing of it."""
    result = run("sql", tmp_path / "none.jsonl", query)

    assert (1, "") == (result.code, result.out)
    assert f"error: {tmp_path / 'none.jsonl'}: no such file" in result.err


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT count(*) FROM attempts JOIN groups USING (group_id, run)", 4),
        ("WITH runs AS (SELECT 1 AS x) SELECT count(*) FROM runs", 1),
        ("SELECT count(*) FROM query_table('steps')", 2),
        ('SELECT count(*) FROM main."RUNS"', 2),
        ("CREATE TABLE kept AS FROM runs; SELECT count(*) FROM kept", 2),
        ("SELECT (SELECT count(*) FROM refits WHERE is_refit)", 1),
    ],
)
def test_the_tables_that_a_query_needs_are_there(run: Run, job: Path, query: str, rows: int) -> None:
    """However it names them."""
    assert str(rows) == run("sql", job, query, "--format", "csv").out.splitlines()[1]
