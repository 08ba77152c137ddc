"""The refits of a run so far: which of them an attempt spanned."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from rtrace_otel.events import Row
from rtrace_otel.spans.attributes import bucket

MAX_LINKED: Final = 16
"""Refits that an attempt links to: the latest ones; their number is an attribute."""


@dataclass(frozen=True, slots=True)
class Spanned:
    """The refits within an attempt.

    Attributes:
        count: How many.
        recent: Trace and span ids of the latest ones.
    """

    count: int
    recent: tuple[tuple[int, int], ...]


class SyncLog:
    """Counts refits and remembers the spans of the latest ones.

    Attributes:
        count: Refits that installed another version.
        version: The version in force, if a row said so.
    """

    def __init__(self) -> None:
        """Begin without refits."""
        self.count = 0
        self.version: Any = None
        self._recent: deque[tuple[int, int]] = deque(maxlen=MAX_LINKED)

    def add(self, row: Row, trace_id: int, span_id: int) -> None:
        """Take a ``weight_sync`` row with its span's ids."""
        self.version = row.get("new_version", self.version)
        if row.get("replaced_version") != row.get("new_version"):
            self.count += 1
            self._recent.append((trace_id, span_id))

    def since(self, before: int) -> Spanned:
        """The refits after the first ``before``."""
        count = self.count - before
        return Spanned(count, tuple(self._recent)[-count:] if count else ())


def sync_facts(row: Row) -> dict[str, Any]:
    """What a refit did to the calls, small enough for attributes and searchable as text."""
    calls = row.get("calls")
    count = len(calls) if isinstance(calls, list) else 0
    return {"calls_bucket": bucket(count), "initial": row.get("replaced_version") == row.get("new_version")}
