"""Which tables a query needs, and what DuckDB says of it."""

from __future__ import annotations

import signal
import threading

import pytest

from rtrace_otel.columns.arrow import empty
from rtrace_otel.columns.query import Database, QueryError
from rtrace_otel.columns.registry import TABLES


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("SELECT 1", ""),
        ("SELECT groups FROM steps", "steps"),
        ("SELECT steps.groups AS runs FROM steps -- and not the attempts", "steps"),
        ("SELECT 'events' FROM RUNS", "runs"),
        ('FROM main."Runs"', "runs"),
        ("FROM memory.main.runs", "runs"),
        ("SELECT * FROM attempts a JOIN groups USING (group_id) WHERE run IN (SELECT run FROM runs)",
         "attempts groups runs"),
        ("WITH attempts AS (SELECT * FROM attempts) FROM attempts", "attempts"),
        ("WITH a AS (FROM losses), b AS (SELECT * FROM a) FROM b", "losses"),
        ("SELECT (SELECT max(step) FROM steps) - (SELECT count(*) FROM refits)", "steps refits"),
        ("FROM runs UNION ALL (FROM runs EXCEPT FROM runs) ORDER BY (SELECT min(place) FROM step_accounts)",
         "runs step_accounts"),
        ("SELECT * FROM attempts, LATERAL (SELECT * FROM groups g WHERE g.group_id = attempts.group_id)",
         "attempts groups"),
        ("PIVOT attempts ON outcome USING count(*)", "attempts"),
        ("FROM (PIVOT attempts ON outcome USING count(*))", "attempts"),
        ("DESCRIBE accounts", "accounts"),
        ("SUMMARIZE token_ages", "token_ages"),
        ("EXPLAIN SELECT * FROM checkpoints", "checkpoints"),
        ("CREATE TABLE t AS SELECT * FROM restores; SELECT * FROM t", "restores"),
        ("CREATE VIEW v AS FROM runs; FROM v, losses", "runs losses"),
        ("FROM query_table('steps')", "steps"),
        ("FROM query_table(['runs', 'runs'])", "runs"),
        ("SELECT * FROM (SUMMARIZE attempts), runs", "attempts runs"),
        ("SELECT * FROM (PIVOT attempts ON outcome USING count(*)), runs", "attempts runs"),
        ("FROM runs WHERE run IN (FROM attempts SELECT run LIMIT (SELECT count(*) FROM groups))",
         "attempts groups runs"),
        ("SELECT [s.step FOR s IN (SELECT list(steps) FROM steps)], run FROM runs", "steps runs"),
        ("FROM nonsense", ""),
    ],
)  # fmt: skip
def test_the_tables_of_a_query(query: str, tables: str) -> None:
    """All that it can need, and of a SELECT no other."""
    with Database() as database:
        assert set(tables.split()) == database.tables_in(query)


def test_every_table_is_found_and_answers() -> None:
    """By its own name, without rows."""
    with Database() as database:
        assert all({name} == database.tables_in(f"SELECT count(*) FROM {name}") for name in TABLES)
        database.hold({name: empty(name) for name in TABLES})
        for name, spec in TABLES.items():
            answer = database.answer(f"FROM {name}")
            assert [(one.name, one.type.value) for one in spec.columns] == list(
                zip(answer.names, answer.types, strict=True)
            )
            assert (0, ()) == (answer.total, answer.rows)


@pytest.mark.parametrize("query", ["", " ; ", "-- nothing", "SELEC 1", "SELECT 'open"])
def test_what_is_no_query_is_refused_before_a_file_is_read(query: str) -> None:
    """By its text alone."""
    with Database() as database, pytest.raises(QueryError):
        database.tables_in(query)


def test_a_limit_counts_what_it_leaves_out() -> None:
    """Also over more rows than are fetched at a time."""
    with Database() as database:
        answer = database.answer("SELECT range AS n FROM range(25000)", 3)
        whole = database.answer("SELECT range AS n FROM range(25000)")

    assert (((0,), (1,), (2,)), 25_000) == (answer.rows, answer.total)
    assert (25_000, (24_999,)) == (whole.total, whole.rows[-1])


def test_settings_are_locked() -> None:
    """A query cannot give itself more rights."""
    with Database() as database, pytest.raises(QueryError, match="locked"):
        database.answer("SET threads = 1")


def test_an_interruption_ends_a_query_in_the_midst_of_its_work() -> None:
    """All threads of the query end, so that the database can answer the next; Ctrl-C then means what it did before."""
    before = signal.default_int_handler
    signal.signal(signal.SIGINT, before)  # a test run in the background has it ignored
    slow = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3"
    timer = threading.Timer(2.5, signal.raise_signal, [signal.SIGINT])
    with Database() as database:

        def interrupted() -> None:
            timer.start()
            database.answer(slow)

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert before is signal.getsignal(signal.SIGINT)
        assert ((1,),) == database.answer("SELECT 1").rows
