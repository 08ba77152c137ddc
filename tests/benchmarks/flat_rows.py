"""Generated traces of any size: flat rows of about 250 bytes each, and the same rows carried by spans in OTLP lines."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from rtrace_otel.spans.model import FinishedSpan, RunResource
from rtrace_otel.spans.otlp_json import traces_data
from rtrace_otel.spans.projector import Projector

Row = dict[str, Any]

GROUPS_PER_STEP = 64
GENERATIONS = 8
RUN = "run-0f3a9b2c4d5e"


def flat_rows(seed: int = 7) -> Iterator[Row]:
    """Rows without end: a step trains 64 groups of 8 attempts; each group has tokens of two versions."""
    chance = random.Random(seed)
    seq = prompt = step = 0
    t = 1.7e9

    def row(event: str, **fields: Any) -> Row:
        nonlocal seq, t
        t = round(t + 0.001, 6)
        seq += 1
        return {"event": event, "t": t, "run": RUN, "seq": seq - 1, **fields}

    yield row("run_started", schema=1, host="host-7", pid=4711)
    while True:
        group_ids = [f"{chance.getrandbits(128):032x}" for _ in range(GROUPS_PER_STEP)]
        for group_id in group_ids:
            for generation in range(GENERATIONS):
                attempt_id = f"{chance.getrandbits(128):032x}"
                yield row(
                    "attempt_dispatched", group_id=group_id, attempt_id=attempt_id, prompt_id=str(prompt),
                    generation_index=generation, weight_version=step, instance="server-3.pool.internal:30000",
                )  # fmt: skip
                yield row(
                    "attempt_sealed", attempt_id=attempt_id, tokens=chance.randrange(100, 4000),
                    reward=chance.random(), masked=False, environment="math-hard", turns=3,
                    instance="server-3.pool.internal:30000",
                )  # fmt: skip
            old, new = chance.randrange(1000), chance.randrange(9000)
            yield row("group_published", group_id=group_id, tokens_by_version={str(step): old, str(step + 1): new})
            prompt += 1
        yield row("train_step", step=step, trained_version=step + 2, group_ids=group_ids)
        step += 1


def write_flat(path: Path, rows: int) -> None:
    """A trace of so many rows."""
    encode = msgspec.json.Encoder().encode
    with path.open("wb", buffering=1 << 20) as file:
        for row in islice(flat_rows(), rows):
            file.write(encode(row) + b"\n")


def write_otlp(path: Path, rows: int, spans_per_line: int = 64) -> None:
    """The spans of the same rows, as a collector's file exporter writes them."""
    encode = msgspec.json.Encoder().encode
    projector = Projector()
    waiting: list[tuple[FinishedSpan, RunResource]] = []
    with path.open("wb", buffering=1 << 20) as file:
        for row in islice(flat_rows(), rows):
            waiting += [(span, projector.resource(span.run)) for span in projector.add(row)]
            if len(waiting) >= spans_per_line:
                file.write(encode(traces_data(waiting)) + b"\n")
                waiting.clear()
        if waiting:
            file.write(encode(traces_data(waiting)) + b"\n")
