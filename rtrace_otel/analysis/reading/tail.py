"""The rows of a file that another process is still writing, as they come.

The file is opened anew for each look: that finds a file that took its place, and on NFS it is what makes new data
visible. Only what was added since the last look is read.
"""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import stat_result
from pathlib import Path
from typing import IO, Final

from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.reading.unpack import GZIP_MAGIC, ZSTD_MAGIC
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import ROLLOUT_TRACE_FILENAME, Row

MAX_LOOK_BYTES: Final = 4 * 1024 * 1024
"""Read at one look; the rest of a large file follows at the next ones."""

REMEMBERED_BYTES: Final = 64
"""The end of what was read last. If other bytes stand there now, the file is another one or was written anew."""


@dataclass(frozen=True, slots=True)
class TailState:
    """What a look at the file found.

    Attributes:
        path: The file that is read.
        problem: Why nothing can be read now, in words; ``None`` if the file was read.
        missing: Whether there is no such file, or no such folder, now.
        ever_read: Whether the file was there at any look.
        bytes_read: Read from the file at this look, what was read again to recognise it included.
        bytes_behind: Not read yet.
        torn_bytes: Length of the last line so far, which has no end yet.
        begun_anew: How often the file was replaced or cut short, and was read from its begin again.
    """

    path: str
    problem: str | None
    missing: bool
    ever_read: bool
    bytes_read: int
    bytes_behind: int
    torn_bytes: int
    begun_anew: int


class Tail:
    """Follows one file.

    Args:
        path: The trace, or the folder in which it is or will be.

    Attributes:
        state: What the last look found.
    """

    def __init__(self, path: str) -> None:
        """Look at nothing yet."""
        self._given = self._path = Path(path)
        self._anew = 0
        self._ever_read = False
        self._seen: tuple[int, int, int, int] | None = None
        self._begin()
        self.state = self._state(None, missing=False)

    @property
    def report(self) -> ReadReport:
        """What was wrong with the lines so far."""
        return self._reader.report

    @property
    def line(self) -> int:
        """The physical line of the row just given, from 1."""
        return self._reader.line

    def look(self) -> tuple[bool, Iterator[Row]]:
        """Read what was added since the last look, at most ``MAX_LOOK_BYTES`` of it.

        Returns:
            Whether the file was begun anew, so that all rows before are of no more use; and the new rows, to be used
            up before the next look.

        Raises:
            TraceFileError: The file is none that can be followed: a gzip, a pipe, a folder that holds a gzip only.
        """
        before = self._anew
        try:
            data, behind, read = self._added()
        except (FileNotFoundError, NotADirectoryError):
            self._seen = None
            self.state = self._state(None, missing=True)
            return False, iter(())
        except OSError as error:
            self._seen = None
            self.state = self._state(error.strerror or str(error), missing=False)
            return False, iter(())
        self._ever_read = True
        lines = list(self._lines(data))
        self.state = self._state(None, missing=False, bytes_read=read, bytes_behind=behind)
        return self._anew != before, self._reader.more(lines)

    def finish(self) -> Iterator[Row]:
        """The row of a last line without a newline, if it is whole; what comes later is not to be read."""
        line = bytes(self._torn)
        self._torn.clear()
        self.state = replace(self.state, torn_bytes=0)
        return self._reader.more([line] if line else [])

    def _begin(self) -> None:
        self._reader = EventReader(_Nothing(str(self._path)))
        self._torn = bytearray()
        self._offset = 0
        self._end = b""

    def _state(self, problem: str | None, *, missing: bool, bytes_read: int = 0, bytes_behind: int = 0) -> TailState:
        return TailState(
            path=str(self._path),
            problem=problem,
            missing=missing,
            ever_read=self._ever_read,
            bytes_read=bytes_read,
            bytes_behind=bytes_behind,
            torn_bytes=len(self._torn),
            begun_anew=self._anew,
        )

    def _added(self) -> tuple[bytes, int, int]:
        """New bytes, how many more there are, and how many were read to get them."""
        path = self._path = self._given / ROLLOUT_TRACE_FILENAME if self._given.is_dir() else self._given
        found = self._stat(path)
        identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if identity == self._seen and found.st_size == self._offset:
            return b"", 0, 0
        with path.open("rb", buffering=0) as file:
            size = file.seek(0, io.SEEK_END)
            read = self._recognise(file, size)
            file.seek(self._offset)
            data = _read(file, min(MAX_LOOK_BYTES, max(size - self._offset, 0)))
        if not self._offset and data.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
            kind = "gzip" if data.startswith(GZIP_MAGIC) else "zstd"
            raise TraceFileError(
                str(path), f"is a {kind}, which does not grow", hint="Pass the trace that the job is writing"
            )
        self._offset += len(data)
        self._end = (self._end + data)[-REMEMBERED_BYTES:]
        self._seen = identity
        return data, max(size - self._offset, 0), read + len(data)

    def _stat(self, path: Path) -> stat_result:
        try:
            found = path.stat()
        except FileNotFoundError:
            packed = path.with_name(f"{path.name}.gz")
            if self._given.is_dir() and packed.exists():
                raise TraceFileError(
                    str(packed), "is a gzip, which does not grow", hint="Pass the trace that the job is writing"
                ) from None
            raise
        if not stat.S_ISREG(found.st_mode):
            raise TraceFileError(str(path), "is no regular file", hint="Pass the trace that the job is writing")
        return found

    def _recognise(self, file: IO[bytes], size: int) -> int:
        """Begin anew if this is not what was read before, grown; gives the bytes read to tell.

        What the file holds decides, not its inode: a copy that is synchronised gets a new inode each time.
        """
        if not self._offset:
            return 0
        read = 0
        same = size >= self._offset
        if same:
            file.seek(self._offset - len(self._end))
            end = _read(file, len(self._end))
            read, same = len(end), end == self._end
        if not same:
            self._begin()
            self._anew += 1
        return read

    def _lines(self, data: bytes) -> Iterator[bytes]:
        """The lines that have their end by now; one that is too long for any row comes in pieces."""
        for part in io.BytesIO(data):
            self._torn += part
            if part.endswith(b"\n"):
                yield bytes(self._torn)
                self._torn.clear()
            elif len(self._torn) >= batches.MAX_LINE_BYTES:
                yield bytes(self._torn[: batches.MAX_LINE_BYTES])
                del self._torn[: batches.MAX_LINE_BYTES]


class _Nothing:
    """A source without lines, for a reader that is given them later.

    Attributes:
        name: What to call the source in messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __iter__(self) -> Iterator[bytes]:
        return iter(())


def _read(file: IO[bytes], size: int) -> bytes:
    """So many bytes, fewer at the end of the file; a read without a buffer may give fewer than asked for."""
    parts = []
    while size > 0 and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
