"""Tables do not depend on how many records a batch has, nor on where batches wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.columns import arrow
from rtrace_otel.columns.arrow import ArrowTables, Gathered
from rtrace_otel.columns.registry import TABLES
from rtrace_otel.columns.spool import Spool
from tests.columns.tables import demo_rows, tables_of


@pytest.mark.parametrize("size", [1, 7, 437])
def test_the_size_of_a_batch_changes_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo has 437 attempts: one batch for each, many, and exactly one."""
    expected = tables_of(demo_rows())
    monkeypatch.setattr(arrow, "BATCH_ROWS", size)
    found = tables_of(demo_rows())

    assert all(expected[name].equals(found[name]) for name in TABLES)
    assert -(-437 // size) == found["attempts"].column("run").num_chunks


def test_batches_that_wait_on_disk_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, with what is known only at the end."""
    monkeypatch.setattr(arrow, "BATCH_ROWS", 10)
    gathered = Gathered(["attempts"])
    with Spool(tmp_path / "waiting") as spool:
        tables = ArrowTables(["attempts"], gathered.take, spool)
        for line, row in enumerate(demo_rows(), 1):
            tables.add(row, line)
        assert (tmp_path / "waiting").stat().st_size > 10_000
        tables.finish()

    assert tables_of(demo_rows(), ["attempts"])["attempts"].equals(gathered.tables()["attempts"])


def test_a_spool_without_batches_is_empty(tmp_path: Path) -> None:
    """And makes no file."""
    with Spool(tmp_path / "waiting") as spool:
        assert [] == list(spool)
    assert [] == list(tmp_path.iterdir())
