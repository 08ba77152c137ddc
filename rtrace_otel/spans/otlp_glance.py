"""What a question needs of a line of OTLP JSON: the numbers of all its rows, and the spans whose rows it asks for.

Each event of ours begins with its number, and each span of ours with its run. Both are read in their places while the
line is decoded; most attempts, which are most of the spans, are decoded no further. What is not written in this way is
left to the reading of the whole line.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from rtrace_otel.events import EVENTS_BY_NAME
from rtrace_otel.spans.otlp_found import Glance, UnclearError, take
from rtrace_otel.spans.otlp_lines import SpanShell, is_utf8, shells_in
from rtrace_otel.spans.otlp_usual import MAX_RUNS, PUBLISHED, Usual

MAX_NAMES: Final = 200
"""Names of events that are known, at most; those of the vocabulary are, others are learnt."""

MAX_NAME: Final = 200
"""Characters of a name that is learnt, at most."""

MAX_FAILURES: Final = 4
"""Lines in a row that are not in the usual form before others are taken for such too."""

PAUSE: Final = 32
"""So many of them; then one is tried again."""

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
        self.counted = counted
        self._kept = wanted | _WITH_VERSIONS if counted else wanted
        self._names: set[str] = {*self._kept, *EVENTS_BY_NAME}
        self._runs_known = 0
        self._usual: Usual | None = None
        self._plain = PUBLISHED in self._kept
        self._failures = 0
        self._pause = 0

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
        found = self._at_usual(line, runs) or self._at_all(line)
        if found is None or not found.numbers.keys() <= runs or found.has_twice():
            return None
        return found

    def _at_usual(self, line: bytes, runs: AbstractSet[str]) -> Glance | None:
        """The same if the line is in the usual form, and most of those before it were."""
        if self._pause:
            self._pause -= 1
            return None
        known = min(len(runs), MAX_RUNS + 1)
        if self._usual is None or self._runs_known != known:
            if not self._kept.isdisjoint(_OF_ATTEMPTS):
                return None
            self._usual, self._runs_known = self._usual_for(runs), known
        found = self._usual.glance(line, counted=self.counted)
        if found is None and self._plain:  # publications of one file have one form: it may be another one
            self._plain = False
            self._usual = self._usual_for(runs)
            found = self._usual.glance(line, counted=self.counted)
        self._failures = self._failures + 1 if found is None else 0
        if self._failures >= MAX_FAILURES:
            self._pause = PAUSE
        return found

    def _usual_for(self, runs: AbstractSet[str]) -> Usual:
        return Usual(self._kept, self._names, runs, plain=self._plain)

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
        if self._failures:
            self._learn(span for _, span in shells)
        return found

    def _learn(self, spans: Iterable[SpanShell]) -> None:
        """Take up names of events that are not in the vocabulary: they need not make a line unusual."""
        if len(self._names) < MAX_NAMES:
            new = {event.name for span in spans for event in span.events} - self._names
            if new and len(self._names) + len(new) <= MAX_NAMES and max(map(len, new)) <= MAX_NAME:
                self._names |= new
                self._usual = None
