"""``rtrace summary --all``: four reports from one pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rtrace_otel.cli.main import COMMANDS
from rtrace_otel.cli.summary import summary
from tests.analysis.rows import lines, row

ROWS = lines(
    row(0, event="run_started", schema=1, host="h", pid=7, weight_version=1),
    row(1, event="group_published", group_id="g", tokens_by_version={"1": 30}),
    row(2, event="train_step", step=1, trained_version=3, group_ids=["g"]),
)


def _answer(path: Path, form: str) -> str:
    result = CliRunner().invoke(summary, [str(path), "--all", "-q", "--format", form], catch_exceptions=False)
    return result.stdout


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace of one step."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(ROWS)
    return path


def test_json_has_one_key_for_each_command(path: Path) -> None:
    """The batch age is 3 - 1 = 2 versions in both places that have it."""
    found = json.loads(_answer(path, "json"))

    assert {"summary", "age", "restore", "check"} <= found.keys()
    assert {"summary", "age", "restore", "check"} <= set(COMMANDS)
    assert [2.0, 3] == [found["age"]["batch_age"], found["summary"]["rows"]]


@pytest.mark.parametrize("form", ["table", "md"])
def test_text_has_the_reports_one_after_the_other(form: str, path: Path) -> None:
    """In the order of the commands."""
    text = _answer(path, form)
    places = [text.index(word) for word in ("Summary of", "Batch age of", "What the stops of", "Check of")]

    assert sorted(places) == places


def test_csv_has_the_main_tables(path: Path) -> None:
    """With an empty line between them."""
    assert 4 == len(_answer(path, "csv").split("\n\n"))


def test_damage_is_noted_once(tmp_path: Path) -> None:
    """On standard error, as by every command."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(ROWS + b"garbage\n")
    result = CliRunner().invoke(summary, [str(path), "--all"], catch_exceptions=False)

    assert 1 == result.stderr.count("not JSON")
