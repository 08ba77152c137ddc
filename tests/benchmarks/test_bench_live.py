"""What an update of a page that follows a file costs, as the file grows tenfold."""

from __future__ import annotations

import json
import time
from itertools import islice
from pathlib import Path

import pytest

from rtrace_otel.report.html.live import LiveReport
from rtrace_otel.testing import SimulationSettings, simulate

SETTINGS = SimulationSettings(
    prompts=20_000,
    epochs=10,
    generations=8,
    groups_per_step=16,
    steps=800,
    open_groups=64,
    stops=3,
    checkpoint_every=25,
)
"""A job of more than 250,000 rows."""

STRETCH = 300
"""Rows that come between two updates: about one training step."""

UPDATES = 5


@pytest.mark.timeout(900)
def test_an_update_of_a_page(tmp_path: Path, report: dict[str, float]) -> None:
    """Its bytes are those of what changed, however long the file is; the medians of five updates, CPU of the server."""
    path, now = tmp_path / "rollout_trace.jsonl", [0.0]
    rows = simulate(SETTINGS).iter_rows()
    live = LiveReport(str(path), clock=lambda: now[0], cost=lambda: 0.0)

    def update(count: int) -> tuple[float, int]:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in islice(rows, count))
        while live.look():
            pass
        now[0] += 1_000
        before, start = live.told, time.process_time()
        live.update()
        return time.process_time() - start, len(live.told.since(before.epoch, before.version))

    sizes = {}
    for thousands in (25, 250):
        whole_s, whole_bytes = update(thousands * 1_000 - live.rows_folded)
        several = sorted(update(STRETCH) for _ in range(UPDATES))
        sizes[thousands] = sorted(size for _, size in several)[UPDATES // 2]
        report[f"{thousands},000 rows: all at once, s"] = whole_s
        report[f"{thousands},000 rows: an update, s"] = several[UPDATES // 2][0]
        report[f"{thousands},000 rows: the whole page, kB"] = len(live.told.since("", -1)) / 1e3
        report[f"{thousands},000 rows: an update, kB"] = sizes[thousands] / 1e3
        assert whole_bytes > sizes[thousands] > 10_000

    assert sizes[250] < 1.5 * sizes[25]
