"""A small file with rows of many events, and its exact reading, which each quicker one must agree with."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from tests.analysis.rows import lines, row

WANTED = ("weight_sync", "train_step", "my_event")

FILE = lines(
    row(0, event="run_started", schema=1, host="h", pid=7, weight_version=1),
    *(row(seq, event="attempt_dispatched", group_id="g", attempt_id=f"a{seq}", prompt_id="1") for seq in range(1, 5)),
    row(5, event="group_published", group_id="g", tokens_by_version={"1": 30, "2": 10}),
    row(0, "b", "attempt_sealed", attempt_id="ä", reward=1e-9, text='} {"x": \\'),
    row(6, event="group_sealed", group_id="h", tokens_by_version={"0": 4}),
    row(7, event="train_step", step=1, trained_version=3, group_ids=["g", "h"]),
    row(1, "b", "attempt_sealed", attempt_id="z", tokens_by_version={"x": 1}),
    row(8, event="my_event", text="}{][", nested={"deep": [{"er": None}]}),
    row(9, event="attempt_sealed", attempt_id="a1", tokens=3, big=10**40),
)


@contextmanager
def file_of(data: bytes) -> Iterator[Path]:
    """A file that holds this, as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(data)
        yield path


def exactly(path: Path, wanted: tuple[str, ...]) -> tuple[str, list[int], ReadReport]:
    """Rows of these events, their lines, and the report, from reading every row."""
    reader = EventReader(path)
    found = [(found, reader.line) for found in reader if found["event"] in wanted]
    return canonical([found for found, _ in found]), [line for _, line in found], reader.report


def canonical(value: Any) -> str:
    """A text that two values share only if their parts are of the same types."""
    return json.dumps(value)
