"""One large file read by several processes: each picks the lines that a question needs from pieces of the file.

The pieces end at line ends, and what was picked is taken up in the order of the file by the process that asked, so a
line number, a gap in the numbers or a call that is cut in one piece and published in the next comes out as if one
process had read all of it. The process that asked picks too, whenever it would wait for another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final

from rtrace_otel.analysis.reading.batches import batches, up_to
from rtrace_otel.analysis.reading.narrow import Part
from rtrace_otel.analysis.reading.picking import Picker
from rtrace_otel.analysis.reading.starting import may_start
from rtrace_otel.analysis.reading.team import Piece, Team, parts_of_piece
from rtrace_otel.errors import TraceFileError

PIECE_BYTES: Final = 4 * 1024 * 1024
"""A piece of the file, at least."""

MAX_PIECES: Final = 1_500
"""The pieces of a larger file are larger: their numbers must fit into a page, which is what a pipe holds at least."""

MIN_BYTES: Final = 64 * 1024 * 1024
"""A smaller file is read by one process: starting others takes longer than reading it."""

_TOO_LARGE: Final = 8
"""So many times the size of a piece: it has a line that no process should hold or send at once."""

_LINE_BYTES: Final = 1024 * 1024


def jobs_for(path: Path, wanted: int) -> int:
    """How many processes are worth it for a file.

    Args:
        path: The file.
        wanted: How many are to read at most, this one included.
    """
    if wanted <= 1 or not may_start() or path.stat().st_size < MIN_BYTES:
        return 1
    return wanted


def parts_of(path: Path, file: IO[bytes], jobs: int, events: frozenset[str], *, counted: bool) -> Iterator[Part]:
    """What is picked of the lines of a file, in their order; its last piece is left in ``file``.

    Args:
        path: The file.
        file: The same file, open at its begin; at the end it stands before the lines that are left, which a job may
            still be writing.
        jobs: How many processes read, this one included.
        events: The events that are asked for.
        counted: Whether the report needs the other rows too.

    Raises:
        TraceFileError: The file became shorter meanwhile: parts of it would be missing, and not its end.
    """
    step = max(PIECE_BYTES, file.seek(0, 2) // MAX_PIECES)
    pieces = list(_pieces(file, step))
    shared = {place: piece for place, piece in enumerate(pieces) if piece[1] <= _TOO_LARGE * step}
    own = Picker(events, counted=counted)
    with Team(path, file, shared, jobs - 1, events, counted=counted) as team:
        for place, piece in enumerate(pieces):
            found = team.take(place) if place in shared else None
            offset = piece[0]
            if found is None:
                for picked, lines in parts_of_piece(file, piece, own):
                    yield picked, lines
                    offset += picked.size
            else:
                for picked in found:
                    yield picked, _Lines(file, offset, picked.size)
                    offset += picked.size
            if offset < sum(piece):
                raise TraceFileError(str(path), "became shorter while it was read", hint="Read it again")
    if pieces:
        file.seek(sum(pieces[-1]))


class _Lines:
    """All lines of a batch, read again."""

    def __init__(self, file: IO[bytes], offset: int, size: int) -> None:
        self._place = (file, offset, size)

    def __call__(self) -> Iterable[bytes]:
        file, offset, size = self._place
        file.seek(offset)
        return [line for lines, _ in batches(up_to(size, file.read)) for line in lines]


def _pieces(file: IO[bytes], step: int) -> Iterator[Piece]:
    """Begin and size of the pieces, which end at line ends; what is behind the last one is less than a piece."""
    begin, size = 0, file.seek(0, 2)
    for place in range(step, size, step):
        if place <= begin:
            continue
        file.seek(place)
        line = file.readline(_LINE_BYTES)
        end = place + len(line)
        if line.endswith(b"\n") and end < size:
            yield begin, end - begin
            begin = end
    file.seek(begin)
