"""The attempts of a page that follows a file, in pieces that are packed anew only if one of their attempts changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rtrace_otel.analysis.timeline.columns import Drawn, columns_of
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.report.html.columns import pack
from rtrace_otel.report.html.timeline_data import attempts_are_many, timeline_columns

ATTEMPTS: Final = 1_000
"""Attempts in one piece."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a piece was made of, and what became of it.

    Attributes:
        drawn: Its attempts.
        after: Start of the attempt before them.
        origin: Where the timeline starts.
        many: Whether there are so many attempts that they are told in less detail.
        texts: The packed tables, by name.
    """

    drawn: Drawn
    after: float | None
    origin: float | None
    many: bool
    texts: dict[str, str]


class AttemptPieces:
    """Packs attempts, and remembers the pieces to tell which of them are as they were.

    That an attempt is the same object as before is seen at once, so a piece that stays costs little. Memory holds the
    packed pieces and the attempts of the last time.
    """

    def __init__(self) -> None:
        """Begin with no piece."""
        self._pieces: list[_Piece] = []

    def tables(self, drawn: Drawn, found: Timeline) -> Iterator[tuple[str, str]]:
        """The pieces ``attempts#0``, ``attempt_groups#0``, ``attempts#1``, ...: groups are those of the same piece.

        Args:
            drawn: The attempts.
            found: The timeline without them.
        """
        before, self._pieces = self._pieces, []
        for place, start in enumerate(range(0, max(len(drawn.bars), 1), ATTEMPTS)):
            known = before[place] if place < len(before) else None
            piece = _piece(drawn, start, found, known)
            self._pieces.append(piece)
            yield from ((f"{name}#{place}", text) for name, text in piece.texts.items())


def _piece(drawn: Drawn, start: int, found: Timeline, known: _Piece | None) -> _Piece:
    part = drawn.part(slice(start, start + ATTEMPTS))
    after = drawn.bars[start - 1].start if start else None
    piece = _Piece(part, after, found.start, attempts_are_many(found), {})
    if known is not None and replace(known, texts={}) == piece:
        return replace(piece, texts=known.texts)
    attempts, tables = columns_of(part)
    columns = timeline_columns(replace(found, attempts=attempts, tables=tables), after)
    return replace(piece, texts={name: pack(table) for name, table in columns.items()})
