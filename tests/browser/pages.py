"""Pages for tests: built from a file or from rows, together with what the analyses say of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtrace_otel.analysis.overview import Overview, OverviewFold
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from rtrace_otel.report.html.data import page_data
from rtrace_otel.report.html.page import render_page

DEMO: Final = Path(__file__).resolve().parents[1] / "data" / "demo" / "rollout_trace.jsonl.gz"


@dataclass(frozen=True, slots=True)
class Built:
    """A page on disk, and what its numbers must be."""

    path: Path
    overview: Overview
    read: ReadReport


def build(trace: Path, folder: Path) -> Built:
    """Build the page of a trace in a folder."""
    fold = OverviewFold()
    with read_events(trace) as reader:
        for row in reader:
            fold.add(row, reader.line)
    read = reader.report
    found = fold.result(read)
    path = folder / "report.html"
    path.write_text(render_page(page_data(found, read)), encoding="utf-8")
    return Built(path, found, read)


def build_rows(rows: Iterable[Row], folder: Path) -> Built:
    """Build the page of rows."""
    trace = folder / "rollout_trace.jsonl"
    with trace.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return build(trace, folder)
