"""Links to spans of other traces and other runs."""

from __future__ import annotations

from typing import Protocol

from rtrace_otel.spans.model import SpanLink
from rtrace_otel.spans.open import OpenSpan


class OtherRuns(Protocol):
    """What a run may ask of the runs before it."""

    def redone(self, run: str, group_id: str, prompt_id: str, generation: str) -> SpanLink | None:
        """A link to the attempt of an earlier run that a new one does again."""

    def open_attempt(self, run: str, attempt_id: str) -> OpenSpan | None:
        """An attempt of an earlier run that was still open."""


def link_to(meaning: str, trace_id: int, span_id: int, run: str) -> SpanLink:
    """A link that says what it means and which run the other span belongs to."""
    return SpanLink(trace_id, span_id, {"rtrace.link": meaning, "rtrace.run_id": run})
