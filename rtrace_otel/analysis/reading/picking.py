"""What a question needs of a batch of lines, small enough to be sent from one process to another."""

from __future__ import annotations

from dataclasses import dataclass

from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading.heads import Heads
from rtrace_otel.analysis.reading.passing import Passing
from rtrace_otel.spans.otlp_lines import BEGIN


@dataclass(frozen=True, slots=True)
class Picked:
    """Lines of a batch.

    Attributes:
        size: Bytes of the batch.
        count: Its lines.
        places: Which of them are here, from 0.
        lines: These lines.
        runs: First number and count of the rows of each run, if the batch was proven to be plain rows.
        crlf_lines: Lines that end in CR LF, if it was proven.
        whole: Whether all of its lines must be read the exact way; then none is here.
    """

    size: int
    count: int
    places: list[int]
    lines: list[bytes]
    runs: dict[str, tuple[int, int]] | None = None
    crlf_lines: int = 0
    whole: bool = False


class Picker:
    """Picks the lines that must be read.

    Args:
        events: The events that are asked for.
        counted: Whether the report needs the other rows too.
    """

    def __init__(self, events: frozenset[str], *, counted: bool) -> None:
        """Prepare for these events."""
        self.passing = Passing(events)
        self._heads = Heads(events) if counted else None

    def pick(self, lines: list[bytes], size: int) -> Picked:
        """Pick from a batch of lines, the first of which is the begin of a line."""
        if len(lines[0]) >= batches.MAX_LINE_BYTES or (self._heads is not None and lines[0].startswith(BEGIN)):
            return Picked(size, len(lines), [], [], whole=True)
        if self._heads is None:
            picked, places, at = self.passing.read(lines), [], 0
            for line in picked:
                at = lines.index(line, at)
                places.append(at)
                at += 1
            return Picked(size, len(lines), places, picked)
        proven = self._heads.prove(lines)
        if proven is None:
            self._heads.learn(lines)
            return Picked(size, len(lines), [], [], whole=True)
        wanted = [lines[place] for place in proven.asked_for]
        return Picked(size, len(lines), proven.asked_for, wanted, proven.runs, proven.crlf_lines)
