"""One large file read by several processes: each picks the lines that a question needs from its own pieces of the file.

The pieces end at line ends, and what was picked is taken up in the order of the file by the process that asked, so a
line number, a gap in the numbers or a call that is cut in one piece and published in the next comes out as if one
process had read all of it.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Final

from rtrace_otel.analysis.reading.batches import batches, up_to
from rtrace_otel.analysis.reading.narrow import Part
from rtrace_otel.analysis.reading.picking import Picked, Picker
from rtrace_otel.analysis.reading.starting import may_start, way_to_start

PIECE_BYTES: Final = 4 * 1024 * 1024
"""A piece of the file; a process has read at most one before it waits for the one that asked."""

MIN_BYTES: Final = 64 * 1024 * 1024
"""A smaller file is read by one process: starting others takes longer than reading it."""

_MAX_PIECE_BYTES: Final = 32 * 1024 * 1024
_LINE_BYTES: Final = 1024 * 1024

_Piece = tuple[int, int]
_Identity = tuple[int, int]


def jobs_for(path: Path, wanted: int) -> int:
    """How many processes are worth it for a file.

    Args:
        path: The file.
        wanted: How many to start at most.
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
        jobs: How many processes to start.
        events: The events that are asked for.
        counted: Whether the report needs the other rows too.
    """
    pieces = list(_pieces(file))
    workers = _start(path, file, pieces, jobs, events, counted)
    own = Picker(events, counted=counted)
    try:
        for place, piece in enumerate(pieces):
            found = workers[place % jobs].take() if piece[1] <= _MAX_PIECE_BYTES else None
            if found is None:
                yield from _parts_of_piece(file, piece, own)
            else:
                offset = piece[0]
                for picked in found:
                    yield picked, _Lines(file, offset, picked.size)
                    offset += picked.size
    finally:
        for worker in workers:
            worker.stop()
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


class _Worker:
    """A process that picks from every n-th piece."""

    def __init__(self, process: multiprocessing.process.BaseProcess, connection: Connection) -> None:
        self._process = process
        self._connection = connection
        self._gone = False

    def take(self) -> list[Picked] | None:
        """What it picked of its next piece; ``None`` if it is gone."""
        if not self._gone:
            try:
                found: list[Picked] = self._connection.recv()
                return found
            except (EOFError, OSError):
                self._gone = True
        return None

    def stop(self) -> None:
        """End it; it has no more to say."""
        self._connection.close()
        self._process.kill()
        self._process.join()
        self._process.close()


def _identity(file: IO[bytes]) -> _Identity:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _start(
    path: Path, file: IO[bytes], pieces: list[_Piece], jobs: int, events: frozenset[str], counted: bool
) -> list[_Worker]:
    context = way_to_start()
    workers = []
    same = _identity(file)
    for number in range(jobs):
        ours, theirs = context.Pipe(duplex=False)
        own = [piece for piece in pieces[number::jobs] if piece[1] <= _MAX_PIECE_BYTES]
        process = context.Process(target=_work, args=(theirs, path, same, own, events, counted), daemon=True)
        process.start()
        theirs.close()
        workers.append(_Worker(process, ours))
    return workers


def _work(
    connection: Connection, path: Path, same: _Identity, pieces: list[_Piece], events: frozenset[str], counted: bool
) -> None:
    picker = Picker(events, counted=counted, ahead=True)
    try:
        with path.open("rb", buffering=0) as file:
            if _identity(file) != same:  # another file has taken its place meanwhile
                return
            for piece in pieces:
                connection.send([picked for picked, _ in _parts_of_piece(file, piece, picker)])
    except (OSError, KeyboardInterrupt):  # who asked reads the rest without this process, or wants no more
        return


def _parts_of_piece(file: IO[bytes], piece: _Piece, picker: Picker) -> Iterator[Part]:
    offset, size = piece
    file.seek(offset)
    for lines, read in batches(up_to(size, file.read)):
        yield picker.pick(lines, read), lines.__iter__
        offset += read


def _pieces(file: IO[bytes]) -> Iterator[_Piece]:
    """Begin and size of the pieces, which end at line ends; what is behind the last one is less than a piece."""
    begin, size = 0, file.seek(0, 2)
    for place in range(PIECE_BYTES, size, PIECE_BYTES):
        if place <= begin:
            continue
        file.seek(place)
        line = file.readline(_LINE_BYTES)
        end = place + len(line)
        if line.endswith(b"\n") and end < size:
            yield begin, end - begin
            begin = end
    file.seek(begin)
