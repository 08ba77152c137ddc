"""What a question needs of a line of OTLP JSON: the numbers of all its rows, and the spans whose rows it asks for.

Each event of ours begins with its number, and each span of ours with its run. Both are read in their places while the
line is decoded; most attempts, which are most of the spans, are decoded no further. What is not written in this way is
left to the reading of the whole line.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from rtrace_otel.events import EVENTS_BY_NAME
from rtrace_otel.spans.otlp_found import Glance, UnclearError, take
from rtrace_otel.spans.otlp_lines import is_utf8, shells_in
from rtrace_otel.spans.otlp_usual import Usual

_WITH_VERSIONS: Final = frozenset({"group_published", "group_sealed"})
"""The events in which versions are usual, and which can be damaged by them."""

_OF_ATTEMPTS: Final = frozenset({"attempt_dispatched", "attempt_sealed"})
"""The events of most attempts: with them attempts cannot be passed over."""


class Glancer:
    """Looks at lines for some events.

    Args:
        wanted: The events that are asked for.
        counted: Whether rows that a report may call damaged are needed too.

    Attributes:
        wanted: The events.
        counted: Whether such rows are needed.
    """

    def __init__(self, wanted: AbstractSet[str], *, counted: bool) -> None:
        """Begin with no run known."""
        self.wanted = wanted
        self._kept = wanted | _WITH_VERSIONS if counted else wanted
        self.counted = counted
        self._names = self._kept | EVENTS_BY_NAME.keys()
        self._usual: Usual | None = None
        self._runs_known = 0

    def glance(self, line: bytes, runs: AbstractSet[str]) -> Glance | None:
        """What a question needs of a line.

        Args:
            line: A line that begins as OTLP JSON.
            runs: The runs that were introduced; they never get fewer.

        Returns:
            ``None`` if the line must be read in full.
        """
        if not runs or not is_utf8(line):
            return None
        if self.counted and b"\\" in line and b"\\u" in line:  # a key that is looked for may be written in another way
            return None
        if self._runs_known != len(runs) and self._kept.isdisjoint(_OF_ATTEMPTS):
            self._usual, self._runs_known = Usual(self._kept, self._names, frozenset(runs)), len(runs)
        usual = None if self._usual is None else self._usual.glance(line, counted=self.counted)
        found = usual or self._at_all(line)
        known = found is not None and found.numbers.keys() <= runs
        return None if not known or found is None or found.has_twice() else found

    def _at_all(self, line: bytes) -> Glance | None:
        """The same with other people's spans in the line."""
        shells = shells_in(line)
        if shells is None:
            return None
        found = Glance()
        try:
            for _, span in shells:
                take(found, span.name, span, self.wanted, counted=self.counted)
        except UnclearError:
            return None
        return found
