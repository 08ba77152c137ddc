"""Processes that share the pieces of a file: each takes the next one that nobody has, as soon as it is free.

The numbers of the pieces wait in a pipe. The kernel gives each to one reader only, and there is no lock that a process
which is killed could hold.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, TypeAlias

from rtrace_otel.analysis.reading.batches import batches, up_to
from rtrace_otel.analysis.reading.narrow import Part
from rtrace_otel.analysis.reading.picking import Picked, Picker
from rtrace_otel.analysis.reading.starting import begin, end, no_interrupt, way_to_start

Piece: TypeAlias = tuple[int, int]
"""Where a piece of a file begins, and its size in bytes."""

MAX_AHEAD: Final = 4
"""Pieces for each process that may wait to be taken up."""

_PIPE_BYTES: Final = 1024 * 1024
"""Room for what was picked of several pieces, so that nobody waits after each until it is taken up."""

_NUMBER: Final = struct.Struct("=H")
_NO_MORE: Final = 0xFFFF


class Team:
    """Other processes that pick from pieces of a file, together with this one.

    Args:
        path: The file.
        file: The same file, open.
        pieces: The pieces by their number, in order; few enough for their numbers to fit into a pipe.
        others: How many processes to start.
        events: The events that are asked for.
        counted: Whether the report needs the other rows too.
    """

    def __init__(
        self,
        path: Path,
        file: IO[bytes],
        pieces: Mapping[int, Piece],
        others: int,
        events: frozenset[str],
        *,
        counted: bool,
    ) -> None:
        """Start the others."""
        self._file = file
        self._pieces = pieces
        self._picker = Picker(events, counted=counted)
        self._found: dict[int, list[Picked]] = {}
        self._most = MAX_AHEAD * (others + 1)
        self._free: Connection | None = _numbers(pieces, others + 1)
        self._workers = start(path, file, pieces, self._free, others, events, counted)

    def take(self, number: int) -> list[Picked] | None:
        """What was picked of a piece; each is asked for once, in the order of their numbers.

        Returns:
            ``None`` if the process that had it is gone.
        """
        self._gather(number, 0)
        while number not in self._found:
            mine = self._claim() if len(self._found) < self._most else None
            if mine is not None:
                self._found[mine] = _picked(self._file, self._pieces[mine], self._picker)
                self._gather(number, 0)
            elif not self._gather(number, None):
                return None
        return self._found.pop(number)

    def __enter__(self) -> Self:
        """The team itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the others; they have no more to say."""
        for worker in self._workers:
            worker.stop()
        if self._free is not None:
            self._free.close()

    def _claim(self) -> int | None:
        """The next piece that nobody has."""
        if self._free is None:
            return None
        number = _next_of(self._free)
        if number is None:
            self._free.close()
            self._free = None
        return number

    def _gather(self, number: int, seconds: float | None) -> bool:
        """Take what others have by now, or in so many seconds.

        Args:
            number: The piece that is needed. What lies behind it is left to wait if there is much of it already.
            seconds: How long to wait if nobody has anything; ``None`` for as long as it takes.

        Returns:
            Whether one of them can still have that piece; numbers are given out in their order.
        """
        crowded = len(self._found) >= self._most
        able = [one for one in self._workers if not one.gone and one.latest < number]
        asked = able if crowded else [one for one in self._workers if not one.gone]
        if able or seconds == 0:
            ready = wait([one.connection for one in asked], seconds)
            for worker in [one for one in asked if one.connection in ready]:
                worker.receive(self._found)
        return bool(able)


class _Worker:
    """A process that picks.

    Attributes:
        connection: Says what it picked.
        latest: The last piece that it gave; it has none before it.
        gone: Whether it gives no more.
    """

    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self._process = process
        self.connection = connection
        self.latest = -1
        self.gone = False

    def receive(self, found: dict[int, list[Picked]]) -> None:
        """Take its next piece, or learn that it is gone."""
        try:
            self.latest, found[self.latest] = self.connection.recv()
        except (EOFError, OSError):
            self.gone = True

    def stop(self) -> None:
        """End it."""
        end(self._process, self.connection)


def start(
    path: Path,
    file: IO[bytes],
    pieces: Mapping[int, Piece],
    numbers: Connection,
    others: int,
    events: frozenset[str],
    counted: bool,
) -> list[_Worker]:
    """Start processes that pick until there are no more pieces.

    Args:
        path: The file.
        file: The same file, open: they read no other one.
        pieces: As for :class:`Team`.
        numbers: The numbers that nobody has yet.
        others: How many.
        events: As for :class:`Team`.
        counted: As for :class:`Team`.
    """
    context = way_to_start()
    workers = []
    for _ in range(others):
        ours, theirs = context.Pipe(duplex=False)
        with theirs:
            with suppress(OSError):  # the user has many pipes already: a small one does too
                fcntl.fcntl(theirs.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            arguments = (theirs, numbers, path, _identity(file), dict(pieces), events, counted)
            process = context.Process(target=work, args=arguments, daemon=True)
            try:
                with no_interrupt():
                    process.start()
            except OSError:  # no more processes: those that are there read all of it
                ours.close()
                break
            workers.append(_Worker(process, ours))
    return workers


def work(
    connection: Connection,
    numbers: Connection,
    path: Path,
    same: tuple[int, int],
    pieces: Mapping[int, Piece],
    events: frozenset[str],
    counted: bool,
) -> None:
    """What such a process does.

    Args:
        connection: Takes the number of a piece, and what was picked of it.
        numbers: As for :func:`start`.
        path: The file.
        same: Its device and its number there.
        pieces: As for :class:`Team`.
        events: As for :class:`Team`.
        counted: As for :class:`Team`.
    """
    begin()
    picker = Picker(events, counted=counted, ahead=True)
    try:
        with path.open("rb", buffering=0) as file:
            if _identity(file) != same:  # another file has taken its place meanwhile
                return
            while (number := _next_of(numbers)) is not None:
                connection.send((number, _picked(file, pieces[number], picker)))
    except OSError:  # who asked reads the rest without this process, or wants no more
        return


def parts_of_piece(file: IO[bytes], piece: Piece, picker: Picker) -> Iterator[Part]:
    """What is picked of the lines of a piece, batch by batch, as the file is read.

    Args:
        file: The file.
        piece: Where to begin, and how many bytes to read.
        picker: Picks.
    """
    offset, size = piece
    file.seek(offset)
    for lines, read in batches(up_to(size, file.read)):
        yield picker.pick(lines, read), lines.__iter__


def _picked(file: IO[bytes], piece: Piece, picker: Picker) -> list[Picked]:
    return [picked for picked, _ in parts_of_piece(file, piece, picker)]


def _identity(file: IO[bytes]) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _numbers(pieces: Mapping[int, Piece], readers: int) -> Connection:
    """A pipe that gives each number once, and tells each reader that there is none left."""
    reading, writing = multiprocessing.Pipe(duplex=False)
    with writing:
        os.write(writing.fileno(), b"".join(map(_NUMBER.pack, (*pieces, *[_NO_MORE] * readers))))
    return reading


def _next_of(numbers: Connection) -> int | None:
    (number,) = _NUMBER.unpack(os.read(numbers.fileno(), _NUMBER.size))
    return None if number == _NO_MORE else int(number)
