"""What a question needs of a batch of lines, small enough to be sent from one process to another."""

from __future__ import annotations

from itertools import repeat

import msgspec

from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading.heads import Heads
from rtrace_otel.analysis.reading.passing import Passing
from rtrace_otel.spans.otlp_found import Glance
from rtrace_otel.spans.otlp_glance import Glancer
from rtrace_otel.spans.otlp_lines import BEGIN, runs_in


class Picked(msgspec.Struct, frozen=True, gc=False):
    """Lines of a batch.

    Attributes:
        size: Bytes of the batch.
        count: Its lines.
        places: Which of them are here, from 0.
        lines: These lines; of one of OTLP JSON, what was found in it, if somebody looked already.
        runs: First number and count of the rows of each run, if the batch was proven to be plain rows.
        crlf_lines: Lines that end in CR LF, if it was proven.
        whole: Whether all of its lines must be read the exact way; then none is here.
        otlp: Whether all of its lines are OTLP JSON; then all of them are here.
        ours: Whether each line that is here is known to begin as a row of an event that is asked for.
    """

    size: int
    count: int
    places: list[int]
    lines: list[bytes | Glance]
    runs: dict[str, tuple[int, int]] | None = None
    crlf_lines: int = 0
    whole: bool = False
    otlp: bool = False
    ours: bool = False


class Picker:
    """Picks the lines that must be read.

    Args:
        events: The events that are asked for.
        counted: Whether the report needs the other rows too.
        ahead: Whether to look into lines of OTLP JSON too: for who runs ahead of the one that reads them.
    """

    def __init__(self, events: frozenset[str], *, counted: bool, ahead: bool = False) -> None:
        """Prepare for these events."""
        self._glancer = Glancer(events, counted=counted) if ahead else None
        self._runs: set[str] = set()
        self.passing = Passing(events)
        self._heads = Heads(events) if counted else None

    def pick(self, lines: list[bytes], size: int) -> Picked:
        """Pick from a batch of lines, the first of which is the begin of a line."""
        if len(lines[0]) >= batches.MAX_LINE_BYTES:
            return Picked(size, len(lines), [], [], whole=True)
        if self._heads is None:
            picked, places, at = self.passing.read(lines), [], 0
            for line in picked:
                at = lines.index(line, at)
                places.append(at)
                at += 1
            if all(map(bytes.startswith, picked, repeat(self.passing.wanted))):
                return Picked(size, len(lines), places, [*picked], ours=True)
            return Picked(size, len(lines), places, self._looked_into(picked))
        if lines[0].startswith(BEGIN):
            if self._glancer is None or not all(line.startswith(BEGIN) for line in lines):
                return Picked(size, len(lines), [], [], whole=True)
            return Picked(size, len(lines), list(range(len(lines))), self._looked_into(lines), otlp=True)
        proven = self._heads.prove(lines)
        if proven is None:
            self._heads.learn(lines)
            return Picked(size, len(lines), [], [], whole=True)
        wanted: list[bytes | Glance] = [lines[place] for place in proven.asked_for]
        return Picked(size, len(lines), proven.asked_for, wanted, proven.runs, proven.crlf_lines)

    def _looked_into(self, lines: list[bytes]) -> list[bytes | Glance]:
        """Lines, with what was found in those of OTLP JSON in their place."""
        if self._glancer is None:
            return [*lines]
        return [self._look(line) if line.startswith(BEGIN) else line for line in lines]

    def _look(self, line: bytes) -> bytes | Glance:
        """What was found in a line; itself if it must be read in full, as one that introduces a run."""
        found = None if self._glancer is None else self._glancer.glance(line, self._runs)
        if found is None:
            self._runs.update(runs_in(line))
        return line if found is None else found
