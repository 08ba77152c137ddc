"""Memory of a check does not grow with the rows of a healthy job."""

from __future__ import annotations

import tracemalloc

import pytest

from rtrace_otel.analysis.check import attempts, groups, staleness
from rtrace_otel.analysis.check.check import CheckFold
from rtrace_otel.analysis.check.recent import Recent
from rtrace_otel.analysis.reading.damage import Tally
from rtrace_otel.events import Row
from tests.report.history import event


def rows_of(group: int) -> list[Row]:
    """A group that is reserved, generated, published and trained."""
    name, attempt = f"g{group}", f"x{group}"
    return [
        event("a", "group_reserved", group_id=name, prompt_id="1", generations=1),
        event("a", "attempt_dispatched", group_id=name, attempt_id=attempt, prompt_id="1", generation_index=0),
        event("a", "attempt_sealed", attempt_id=attempt, tokens=5),
        event("a", "group_published", group_id=name, tokens_by_version={0: 5}),
        event("a", "train_step", step=group, trained_version=0, group_ids=[name]),
    ]


def after(groups_in_all: int) -> tuple[int, int]:
    """Bytes held after so many groups, and the findings."""
    tracemalloc.start()
    fold = CheckFold()
    line = 0
    for group in range(groups_in_all):
        for row in rows_of(group):
            line += 1
            fold.add({**row, "t": float(line), "seq": line - 1}, line)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held, len(fold.result(Tally("f").report()).findings)


def test_memory_stays_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the groups take hardly more: neither steps nor groups are kept."""
    for module in (attempts, groups):
        monkeypatch.setattr(module, "Recent", lambda: Recent(100))
    monkeypatch.setattr(staleness, "MAX_GROUPS", 100)
    few, many = after(300), after(3_000)

    assert (0, 0) == (few[1], many[1])
    assert many[0] - few[0] < 2_700 * 200
