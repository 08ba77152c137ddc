"""Tables that are passed on batch by batch need memory that does not grow with the rows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
import pytest

from rtrace_otel.analysis.flow import flow
from rtrace_otel.columns import arrow
from rtrace_otel.columns.arrow import ArrowTables
from rtrace_otel.events import Row

FEW, MANY = 1_000, 5_000
"""Units of nine rows; all that is bounded is full after the first thousand."""

ALLOWED_BYTES: Final = 128 * 1024
"""A leak of one small object a unit is more over 4,000 units."""


def _unit(n: int) -> Iterator[Row]:
    group, attempt = f"group-{n}", f"attempt-{n}"
    where = {"group_id": group, "attempt_id": attempt, "prompt_id": str(n), "generation_index": 0}
    yield {"event": "group_reserved", "group_id": group, "prompt_id": str(n)}
    yield {"event": "attempt_dispatched", **where}
    yield {"event": "weight_sync_started"}
    yield {"event": "weight_sync", "replaced_version": n, "new_version": n + 1, "calls": [[attempt, n]]}
    yield {"event": "checkpoint_started"}
    yield {"event": "checkpoint_published", "checkpoint_id": f"c-{n}", "step": 1, "groups": [group]}
    yield {"event": "attempt_sealed", "attempt_id": attempt, "tokens": n, "words": "x" * 50}
    yield {"event": "group_published", "group_id": group}
    yield {"event": "group_discarded", "group_id": group, "reason": "stale"}


def _peak(tables: list[str], units: int) -> tuple[int, int]:
    """Most bytes that Python and Arrow held at once, each above the beginning, and the records passed on."""
    records = most_arrow = 0
    before = pa.total_allocated_bytes()

    def take(_name: str, batch: Any) -> None:
        nonlocal records, most_arrow
        records += batch.num_rows
        most_arrow = max(most_arrow, pa.total_allocated_bytes() - before)

    making = ArrowTables(tables, take)
    tracemalloc.start()
    try:
        for n in range(units):
            for place, row in enumerate(_unit(n)):
                making.add({"t": float(9 * n + place), "run": "a", "seq": 9 * n + place, **row}, 9 * n + place + 1)
        making.finish()
        return tracemalloc.get_traced_memory()[1] + most_arrow, records
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("tables", "each"), [(["events"], 9), (["groups"], 1), (["refits", "checkpoints"], 2)], ids=str
)
def test_memory_does_not_grow_with_the_rows(tables: list[str], each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five times as many rows, the same memory; every record is passed on."""
    monkeypatch.setattr(arrow, "BATCH_ROWS", 200)
    monkeypatch.setattr(flow, "MAX_ENDED", 100)
    (few, records), (many, all_records) = _peak(tables, FEW), _peak(tables, MANY)

    assert (each * FEW, each * MANY) == (records, all_records)
    assert many - few <= ALLOWED_BYTES
