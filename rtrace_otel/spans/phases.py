"""Spans that are traces of their own: training steps, refits, checkpoints, and moments that belong to nothing else."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from rtrace_otel.events import Row
from rtrace_otel.spans import ids
from rtrace_otel.spans.open import OpenSpan, time_ns

MAX_REMEMBERED: Final = 100_000
"""Ended spans remembered, so that a late row cannot open a second span with the same id."""

STARTS: Final = {
    "train_step_started": "train.step",
    "weight_sync_started": "weights.sync",
    "checkpoint_started": "checkpoint.publish",
}
"""Event that opens a span, and the span."""

ENDS: Final = {
    "train_step": ("train.step", "step"),
    "weight_sync": ("weights.sync", "new_version"),
    "checkpoint_published": ("checkpoint.publish", "checkpoint_id"),
    "checkpoint_restored": ("checkpoint.restore", "checkpoint_id"),
}
"""Event that ends a span, the span, and the field that names it."""

_OWN: Final = frozenset({"event", "t", "run", "seq"})


class Past:
    """How often a run has had a span of some kind and key; the oldest are forgotten."""

    def __init__(self) -> None:
        """Begin with no span."""
        self._times: OrderedDict[tuple[str, str], int] = OrderedDict()

    def times(self, kind: str, key: str) -> int:
        """How often it was there before."""
        return self._times.get((kind, key), 0)

    def remember(self, kind: str, key: str) -> None:
        """It was there once more."""
        self._times[kind, key] = self._times.pop((kind, key), 0) + 1
        if len(self._times) > MAX_REMEMBERED:
            self._times.popitem(last=False)


class Phases:
    """The open spans of one run that are traces of their own.

    Args:
        run: The run.
        past: Its spans so far.

    Attributes:
        open: By span name; a run has one of each at a time.
    """

    def __init__(self, run: str, past: Past) -> None:
        """Begin with nothing open."""
        self._run = run
        self._past = past
        self.open: dict[str, OpenSpan] = {}

    def start(self, row: Row) -> OpenSpan | None:
        """Open the span of a ``*_started`` row; gives the one that was open before it and never ended."""
        name = STARTS[row["event"]]
        before = self.open.pop(name, None)
        span = self.open[name] = self._new(name, str(row.get("step", row.get("seq", time_ns(row)))), row)
        self._take_facts(span, row)
        return before

    def end(self, row: Row) -> OpenSpan:
        """The span that a row ends; opened ``seconds`` before the row if it was not open."""
        name, key_field = ENDS[row["event"]]
        span = self.open.pop(name, None)
        if span is None:
            span = self._new(name, str(row.get(key_field)), row)
            seconds = row.get("seconds")
            if isinstance(seconds, (int, float)) and 0 < seconds < span.start_ns / 1e9:
                span.start_ns -= round(seconds * 1e6) * 1000
        else:
            span.add(row, last=True)
        self._take_facts(span, row)
        return span

    def moment(self, row: Row) -> OpenSpan:
        """A span without duration for a row that belongs to no other."""
        span = self._new(row["event"], str(row.get("seq", time_ns(row))), row, kind=f"moment {row['event']}")
        self._take_facts(span, row)
        return span

    def _new(self, name: str, key: str, row: Row, kind: str | None = None) -> OpenSpan:
        kind = kind or name
        trace_id, span_id = ids.root_ids(kind, self._run, key, self._past.times(kind, key))
        self._past.remember(kind, key)
        return OpenSpan(self._run, name, trace_id, span_id, None, row)

    @staticmethod
    def _take_facts(span: OpenSpan, row: Row) -> None:
        span.facts.update({name: value for name, value in row.items() if name not in _OWN})
