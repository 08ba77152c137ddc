"""What a recorder has done so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpanStats:
    """What became of the spans.

    Attributes:
        made: Spans that ended.
        handed: How many of them each destination was to get; one that has confirmed a span is not given it again, and
            of the run before only as many are sent as it takes.
        delivered: How many each destination accepted.
        rows_passed_over: Rows that were not projected because too many waited.
    """

    made: int
    handed: Mapping[str, int]
    delivered: Mapping[str, int]
    rows_passed_over: int

    @property
    def not_delivered(self) -> int:
        """Spans that the destination with the most missing has not accepted; some may still be on their way."""
        return max((number - self.delivered.get(name, 0) for name, number in self.handed.items()), default=0)


@dataclass(frozen=True, slots=True)
class RecorderStats:
    """What a recorder has done.

    Attributes:
        written: Rows in the file.
        queued: Rows waiting to be written.
        lost: Rows that did not fit in the queue, or that could not be written at close.
        refused: Rows that came after ``close``.
        last_error: The last error that the file made, if any.
        spans: What became of the spans; ``None`` if none are exported.
    """

    written: int
    queued: int
    lost: int
    refused: int
    last_error: str | None
    spans: SpanStats | None = None
