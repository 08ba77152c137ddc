"""What a query of ``rtrace sql`` may not do, and what ends it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import RUN_B
from tests.cli.program import LIMIT_S, Run, environment, lines
from tests.cli.test_interrupt import HEEDING
from tests.pace import until
from tests.report.history import started, trace


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "ATTACH 'x.db'", "LOAD httpfs"],
)
def test_what_lifts_the_limits_is_said(run: Run, job: Path, query: str) -> None:
    """After DuckDB's words, which know nothing of the option."""
    result = run("sql", job, query)

    assert 1 == result.code
    assert "A query reaches files and the network only with --allow-files." == result.err.splitlines()[-1]


def test_a_table_that_does_not_exist_is_no_file(run: Run, job: Path) -> None:
    """The option would not help."""
    result = run("sql", job, "SELECT * FROM atempts")

    assert 1 == result.code
    assert "--allow-files" not in result.err


@pytest.mark.parametrize(
    "query", ["SELECT * FROM nonsense", "SELECT", "SELECT nonsense FROM runs", "SELECT 1/'x'", " ;"]
)
def test_an_error_shows_what_duckdb_says(run: Run, job: Path, query: str) -> None:
    """With the place in the query; nothing goes to standard output."""
    result = run("sql", job, query)

    assert (1, "") == (result.code, result.out)
    assert result.err.startswith("error: ")
    assert "Traceback" not in result.err


def test_a_table_that_was_not_built_is_suggested(run: Run, job: Path) -> None:
    """The hint for a spelling mistake knows all tables."""
    assert 'Did you mean "attempts"?' in run("sql", job, "SELECT * FROM attemps").err


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM '{0}'", "SELECT * FROM read_csv('{0}')", "SELECT * FROM glob('/*')", "COPY (SELECT 1) TO '{0}'",
     "ATTACH '{0}'", "SET enable_external_access = true", "INSTALL httpfs", "SELECT * FROM read_text('{0}')"],
)  # fmt: skip
def test_a_query_reaches_no_file(run: Run, job: Path, tmp_path: Path, query: str) -> None:
    """Neither reading nor writing, nor by changing the settings."""
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nhidden\n")
    result = run("sql", job, query.format(secret))

    assert (1, "") == (result.code, result.out)
    assert "word\nhidden\n" == secret.read_text()


def test_a_query_reaches_no_variable_of_the_program(run: Run, job: Path) -> None:
    """DuckDB would take names that are no tables from the calling code."""
    assert 1 == run("sql", job, "SELECT * FROM tables").code
    assert 1 == run("sql", job, "SELECT * FROM reads", "--allow-files").code


def test_files_are_reached_when_that_is_allowed(run: Run, job: Path, tmp_path: Path) -> None:
    """A table of the user's own is joined."""
    own = tmp_path / "servers.csv"
    own.write_text("run,name\n" + f"{RUN_B},second\n")
    query = f"SELECT name FROM runs JOIN '{own}' USING (run)"

    assert "name\nsecond\n" == run("sql", job, query, "--allow-files", "--format", "csv").out


def _cpu_s(pid: int) -> float:
    """Seconds of processor that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def test_a_query_can_be_interrupted(tmp_path: Path) -> None:
    """It would take hours; nothing of the answer is printed."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    slow = "SELECT count(*) FROM runs, range(10000000) a, range(10000000) b WHERE a.range * b.range % 7 = 3"
    command = [*HEEDING, "sql", str(fifo), slow]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True
    ) as program:
        try:
            # Opening a FIFO to write returns when the program has opened it to read.
            fifo.write_bytes(lines(trace(started("a"))))
            read = _cpu_s(program.pid)
            until(lambda: _cpu_s(program.pid) > read + 1)
            program.send_signal(signal.SIGINT)
            out, err = program.communicate(timeout=LIMIT_S)
        finally:
            program.kill()

    assert (130, b"", b"interrupted") == (program.returncode, out, err.strip())
