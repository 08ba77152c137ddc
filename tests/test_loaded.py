"""``rtrace_otel.load``: tables, SQL and a glance, for a notebook."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import rtrace_otel
from rtrace_otel import Trace, TraceFileError, load
from rtrace_otel.columns.arrow import schema_of
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.types import ColumnType
from rtrace_otel.errors import MissingExtraError, RTraceError
from tests.cli.conftest import JOB, RUN_A, RUN_B
from tests.cli.program import write
from tests.columns.tables import DEMO, demo_rows, tables_of
from tests.report.history import reserved, started, trace


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A job with one kill and one restore."""
    return write(tmp_path, JOB)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_an_attribute(name: str) -> None:
    """The tables of the demo are those that its rows give."""
    assert tables_of(demo_rows(), [name])[name].equals(getattr(load(DEMO), name))


def test_a_folder_is_a_trace(job: Path) -> None:
    """As for the commands; a path may be text."""
    assert [RUN_A, RUN_B] == load(str(job.parent)).runs.column("run").to_pylist()


def test_tables_are_read_once_and_late(job: Path) -> None:
    """Nothing but the file's opening happens before the first question; answers are kept."""
    loaded = load(job)
    job.write_bytes(
        job.read_bytes() + b'{"event":"run_started","t":1,"run":"c","seq":0,"schema":1,"host":"h","pid":1}\n'
    )

    assert 3 == loaded.runs.num_rows
    job.unlink()
    assert loaded.runs is loaded.runs
    assert 2 == loaded.steps.num_rows
    with pytest.raises(TraceFileError, match="no such file"):
        _ = loaded.events


def test_sql_gives_arrow(job: Path) -> None:
    """Steps 5 and 6 were trained once each."""
    answer = load(job).sql("SELECT step, run FROM steps JOIN runs USING (run) ORDER BY step")

    assert isinstance(answer, pa.Table)
    assert [{"step": 5, "run": RUN_A}, {"step": 6, "run": RUN_B}] == answer.to_pylist()


def test_sql_that_is_none_is_an_error_of_ours(job: Path) -> None:
    """With DuckDB's words."""
    with pytest.raises(RTraceError, match="nonsense"):
        load(job).sql("SELECT nonsense FROM steps")
    with pytest.raises(RTraceError, match=r"^the query is empty$"):
        load(job).sql("-- nothing")


def test_what_cannot_be_loaded_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not at the first table."""
    with pytest.raises(TraceFileError, match="no such file"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(ValueError, match=r"^load\(path\): '-' can be read only once"):
        load("-")
    monkeypatch.setattr("rtrace_otel.columns.extra.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"^rtrace_otel.load needs pyarrow. Install it with: pip install "):
        load(DEMO)


def test_the_repr_has_the_headline_numbers(job: Path) -> None:
    """Runs, steps, damage and the tables with their rows."""
    lines = repr(load(job)).splitlines()

    assert [f"Trace {job}", "", "2 runs, 1 of them killed; 2 steps trained; 1 attempt in flight at a kill."] == lines[
        :3
    ]
    assert any(line.startswith("  attempts          4  a rollout attempt in one run; ") for line in lines)
    assert "  events           20  a row of the trace file" in lines
    assert any("intact" in line for line in lines)


def test_the_repr_of_a_file_that_is_gone_says_so(job: Path) -> None:
    """It raises nothing: debuggers show values as they come by."""
    loaded = load(job)
    job.unlink()

    assert [f"Trace {job}", "", f"{job}: no such file. Pass the trace file or the job's log folder"] == repr(
        loaded
    ).splitlines()
    assert "<b>" in loaded._repr_html_()


def test_the_repr_for_notebooks_escapes_what_the_file_says(tmp_path: Path) -> None:
    """An id is text, never markup."""
    path = write(tmp_path, trace(started("<b>x</b>"), reserved("<b>x</b>", "g")), after=b"<script>\n")
    html = load(path)._repr_html_()

    assert html.startswith(f"<h4>Trace {path}</h4>\n<p><b>1 run")
    assert "<script" not in html
    assert "&lt;b&gt;x&lt;/b" in html
    assert html.count("<table>") == html.count("</table>") == 4


def test_a_trace_is_frozen(job: Path) -> None:
    """Its tables are values."""
    loaded = load(job)
    for name in ("path", "runs"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(loaded, name, "other")
    assert (True, str(job)) == (isinstance(loaded, Trace), loaded.path)


def test_loading_the_name_loads_no_arrow() -> None:
    """The libraries come with the first table."""
    code = "import sys, rtrace_otel; rtrace_otel.load; print([m for m in ('pyarrow', 'duckdb') if m in sys.modules])"

    assert "[]" == subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()  # fmt: skip
    assert {"load", "Trace"} <= set(rtrace_otel.__all__)


def test_an_empty_trace_has_typed_tables(tmp_path: Path) -> None:
    """Types do not depend on what the file holds."""
    loaded = load(write(tmp_path, []))
    kinds = {
        ColumnType.TEXT: pa.string(),
        ColumnType.INT: pa.int64(),
        ColumnType.FLOAT: pa.float64(),
        ColumnType.BOOL: pa.bool_(),
        ColumnType.TEXTS: pa.list_(pa.string()),
        ColumnType.INTS: pa.list_(pa.int64()),
    }

    for name, spec in TABLES.items():
        table = getattr(loaded, name)
        assert (0, schema_of(spec)) == (table.num_rows, table.schema)
        assert [(one.name, kinds[one.type]) for one in spec.columns] == [(f.name, f.type) for f in table.schema]
