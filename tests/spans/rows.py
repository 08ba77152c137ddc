"""Rows of small histories, and their spans, for the tests of the span side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

from google.protobuf.message import Message
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from rtrace_otel.events import Row
from rtrace_otel.spans.model import FinishedSpan
from rtrace_otel.spans.projector import project
from rtrace_otel.spans.readable import ProjectedSpan, to_readable

T0 = 1_790_000_000.0


class History:
    """Makes the rows of one run, a second apart.

    Args:
        run: Its id.
        t: Time of its first row.
    """

    def __init__(self, run: str = "a" * 16, t: float = T0) -> None:
        """Begin with ``run_started``."""
        self.run = run
        self.rows: list[Row] = []
        self._seq: Iterator[int] = count()
        self._t = t
        self.add("run_started", schema=1, host="node1", pid=7, service="job")

    def add(self, event: str, **fields: Any) -> Row:
        """The next row."""
        seq = next(self._seq)
        row: Row = {"event": event, "t": self._t + seq, "run": self.run, "seq": seq, **fields}
        self.rows.append(row)
        return row

    def reserve(self, group: str = "g", **fields: Any) -> None:
        """A group is reserved."""
        self.add("group_reserved", group_id=group, prompt_id=17, **fields)

    def dispatch(self, attempt: str = "x", group: str = "g", generation: int = 0, **fields: Any) -> None:
        """An attempt is dispatched."""
        self.add(
            "attempt_dispatched",
            group_id=group,
            attempt_id=attempt,
            prompt_id=17,
            generation_index=generation,
            **fields,
        )

    def seal(self, attempt: str = "x", **fields: Any) -> None:
        """An attempt is sealed."""
        self.add("attempt_sealed", attempt_id=attempt, **fields)

    def refit(self, old: int, new: int, **fields: Any) -> None:
        """New weights are installed."""
        self.add("weight_sync", replaced_version=old, new_version=new, **fields)

    def train(self, step: int, *groups: str, **fields: Any) -> None:
        """A step trains groups."""
        self.add("train_step", step=step, trained_version=step, group_ids=list(groups), **fields)


def spans_of(*histories: History | Iterable[Row], end_last: bool = False) -> list[FinishedSpan]:
    """The spans of histories, one after the other."""
    rows = [row for history in histories for row in (history.rows if isinstance(history, History) else history)]
    return [span for span, _ in project(rows, end_last=end_last)]


def named(spans: Iterable[FinishedSpan], name: str, **facts: Any) -> FinishedSpan:
    """The only span with this name and these facts."""
    wanted = {f"rtrace.{key}": value for key, value in facts.items()}
    (found,) = (span for span in spans if span.name == name and wanted.items() <= span.attributes.items())
    return found


def links(span: FinishedSpan, meaning: str) -> list[tuple[int, int]]:
    """Trace and span ids of the links of a kind."""
    return [(link.trace_id, link.span_id) for link in span.links if link.attributes["rtrace.link"] == meaning]


def ids_of(span: FinishedSpan) -> tuple[int, int]:
    """Trace and span id."""
    return span.trace_id, span.span_id


def readable(rows: Iterable[Row], *, end_last: bool = False) -> list[ProjectedSpan]:
    """The spans as the SDK has them."""
    return [
        to_readable(span, resource, number) for number, (span, resource) in enumerate(project(rows, end_last=end_last))
    ]


def otlp_bytes(rows: Iterable[Row]) -> bytes:
    """The spans as OTLP protobuf."""
    message: Message = encode_spans(readable(rows, end_last=True))
    return bytes(message.SerializeToString(deterministic=True))


def as_read(rows: Iterable[Row]) -> list[bytes]:
    """The rows as lines of a file."""
    return [json.dumps(row).encode() for row in rows]
