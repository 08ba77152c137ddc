"""A page that is told in pieces holds what the file says: after it was opened, and after updates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from rtrace_otel.testing import SimulationSettings, simulate
from tests.browser.serving import CONNECTED, rows, served
from tests.browser.waiting import until
from tests.report.test_live import read_at_once, with_groups

pytestmark = pytest.mark.timeout(240)

SETTINGS = SimulationSettings(steps=40, stops=1, groups_per_step=8, generations=8)
"""More than two thousand attempts: three pieces of them."""

HELD = """() => {
  const plain = (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value));
  const each = (named, give) => Object.fromEntries(Object.entries(named).map(([name, value]) => [name, give(value)]));
  return {
    document: rtrace.data.doc,
    tables: each(rtrace.data.tables, ({ rows, ...columns }) => each(columns, plain)),
    pieces: rtrace.data.head.pieces,
  };
}"""


def held(page: Page) -> dict[str, Any]:
    """The data of the page."""
    found: dict[str, Any] = page.evaluate(HELD)
    return found


def test_the_page_puts_together_what_the_file_says(page: Page, tmp_path: Path) -> None:
    """Of a job with a stop, begun in the middle, then in three stretches: every value is that of a whole report."""
    path = tmp_path / "rollout_trace.jsonl"
    lines = [json.dumps(row) + "\n" for row in simulate(SETTINGS).rows]
    cuts = [len(lines) // 2, len(lines) * 3 // 4, len(lines) - 7, len(lines)]
    path.write_text("".join(lines[: cuts[0]]), encoding="utf-8")
    with served(path) as url:
        page.goto(url)
        until(page, CONNECTED)
        for before, cut in zip([0, *cuts], cuts, strict=False):
            if before:
                with path.open("a", encoding="utf-8") as file:
                    file.writelines(lines[before:cut])
            until(page, f"rtrace.data.doc.results.summary.rows === {cut}")
            found, expected = held(page), read_at_once(path)
            assert cut == rows(page)
            assert expected["document"] == found["document"]
            tables = with_groups(found["tables"])
            assert set(expected["tables"]) == set(tables)
            for name, table in expected["tables"].items():
                assert table.keys() == tables[name].keys()
                for column, values in table.items():
                    assert values == pytest.approx(tables[name][column], nan_ok=True), (name, column)
    assert found["pieces"]["attempts"] >= 3
