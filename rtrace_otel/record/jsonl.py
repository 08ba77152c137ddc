"""Rows to the end of a JSONL file: whole lines, one ``write`` a chunk, and patience with a disk that is full.

Nothing that was handed over is dropped while the process lives: a failed write is repeated, from the row where it
stopped, until it works or the recorder gives up at its close.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from threading import Event
from typing import Final, Literal, TypeAlias

import msgspec

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME, Row
from rtrace_otel.record.plain import clipped_repr, to_plain
from rtrace_otel.text import without_surrogates

FsyncPolicy: TypeAlias = Literal["never", "checkpoint", "always"]
"""When to force rows to the disk: never, after a checkpoint row and at close, or after every chunk."""

FSYNC_POLICIES: Final = ("never", "checkpoint", "always")
CHECKPOINT_EVENTS: Final = frozenset({"checkpoint_published", "checkpoint_restored"})
FIRST_RETRY_S: Final = 0.02
LAST_RETRY_S: Final = 1.0

_encoder = msgspec.json.Encoder()
_event_of = itemgetter("event")


class GaveUpError(Exception):
    """The recorder closed while the file could not be written.

    Attributes:
        unwritten: How many of the rows at hand are not in the file.
    """

    def __init__(self, unwritten: int) -> None:
        """Remember how many rows are missing."""
        super().__init__(f"{unwritten} rows could not be written")
        self.unwritten = unwritten


class JsonlExporter:
    """Appends rows to a file. Used by the worker's thread only.

    Args:
        path: The file, or a folder for ``rollout_trace.jsonl`` in it; a missing parent is made.
        fsync: When to force rows to the disk.
        give_up: Set when the recorder can wait no longer.
        on_trouble: Told of each error that the file makes.
        on_lost: Told how many rows are gone, and why, when the file was deleted under the recorder.

    Attributes:
        path: The file.
    """

    def __init__(
        self,
        path: Path,
        fsync: FsyncPolicy,
        give_up: Event,
        on_trouble: Callable[[str], None],
        on_lost: Callable[[int, str], None],
    ) -> None:
        """Open nothing yet: a hung file system must not delay the caller."""
        self.path = path
        self._fsync = fsync
        self._give_up = give_up
        self._on_trouble = on_trouble
        self._on_lost = on_lost
        self._fd: int | None = None
        self._identity = (0, 0)
        self._rows_in_file = 0
        self._begin_again = False

    def export(self, rows: Sequence[Row]) -> None:
        """Append the rows.

        Args:
            rows: Plain rows, in order.

        Raises:
            GaveUpError: The recorder closed while the file could not be written; the rows are not all in it.
        """
        self._append(encode_lines(rows))
        self._rows_in_file += len(rows)
        if self._fsync == "always" or (
            self._fsync == "checkpoint" and not CHECKPOINT_EVENTS.isdisjoint(map(_event_of, rows))
        ):
            self._sync()

    def close(self) -> None:
        """Force the file to the disk, unless the policy is ``never``, and close it."""
        if self._fd is None:
            return
        if self._fsync != "never":
            self._sync()
        fd, self._fd = self._fd, None
        os.close(fd)

    def _append(self, data: bytes) -> None:
        whole, retry_s = data, FIRST_RETRY_S
        while data:
            done = 0
            try:
                fd = self._ready()
                if self._begin_again:
                    self._begin_again = False
                    data = whole
                while done < len(data):
                    done += os.write(fd, memoryview(data)[done:])
                    retry_s = FIRST_RETRY_S
                return
            except (OSError, ValueError) as error:  # ValueError: a path that no file can have
                data = _after_tear(data, done)
                if isinstance(error, OSError) and error.errno == errno.EBADF:
                    self._fd = None
                self._on_trouble(f"{self.path}: {getattr(error, 'strerror', None) or error}")
                if self._give_up.wait(retry_s):
                    raise GaveUpError(data.count(b"\n") - data.startswith(b"\n")) from error
                retry_s = min(2 * retry_s, LAST_RETRY_S)

    def _ready(self) -> int:
        """A descriptor that still is our file: a host may close every descriptor, or delete the file."""
        if self._fd is not None:
            try:
                now = os.fstat(self._fd)
            except OSError:
                self._fd = None
            else:
                appends = fcntl.fcntl(self._fd, fcntl.F_GETFL) & os.O_APPEND
                if (now.st_dev, now.st_ino) != self._identity or not appends:
                    self._fd = None  # the number is somebody else's now
                elif now.st_nlink == 0 and stat.S_ISREG(now.st_mode):
                    os.close(self._fd)
                    self._fd = None
                    self._begin_again = True
                    self._on_lost(self._rows_in_file, "file deleted")
                    self._rows_in_file = 0
        return self._open() if self._fd is None else self._fd

    def _open(self) -> int:
        if self.path.is_dir():
            self.path = self.path / ROLLOUT_TRACE_FILENAME
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = _above_standard(os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644))
        try:
            opened = os.fstat(fd)
            if stat.S_ISREG(opened.st_mode) and opened.st_size and not _ends_in_newline(self.path):
                _write_all(fd, b"\n")
        except OSError:
            os.close(fd)
            raise
        self._fd, self._identity = fd, (opened.st_dev, opened.st_ino)
        return fd

    def _sync(self) -> None:
        if self._fd is None:
            return
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            if stat.S_ISREG(os.fstat(self._fd).st_mode):
                self._on_trouble(f"{self.path}: fdatasync: {error.strerror or error}")


def encode_lines(rows: Sequence[Row]) -> bytes:
    """Rows as JSON lines; a row that UTF-8 cannot hold is mended, and the others are as they were."""
    try:
        return _encoder.encode_lines(rows)
    except Exception:  # one of them: find it
        return b"".join(_encode_line(row) for row in rows)


def _encode_line(row: Row) -> bytes:
    for attempt in (lambda: row, lambda: without_surrogates(row), lambda: _mended(row), lambda: _bare(row)):
        try:
            return _encoder.encode(attempt()) + b"\n"
        except Exception:  # noqa: S112 - the next form is the answer to any error of this one
            continue
    return b""


def _mended(row: Row) -> Row:
    """Each value made plain anew, with the care that the fast path saves."""
    mended: Row = without_surrogates(to_plain(row))
    return mended


def _bare(row: Row) -> Row:
    """What is left of a row that no mending could encode."""
    kept = {key: row[key] for key in ("event", "t", "run", "seq")}
    kept["event"] = without_surrogates(kept["event"])
    return kept | {"unencodable": without_surrogates(clipped_repr(row))}


def _above_standard(fd: int) -> int:
    """The same file under a number above 2: where those are closed, a host's prints would land in the trace."""
    if fd > 2:
        return fd
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(fd)


def _after_tear(data: bytes, done: int) -> bytes:
    """What to write after a write that failed in the middle.

    A row that was torn is written again, whole and on a new line. It cannot be completed in place: another process may
    append to the file at any moment, and two recorders that wait for the same disk do.
    """
    if not done:
        return data
    if data[done : done + 1] == b"\n":
        return data[done:]
    return b"\n" + data[data.rfind(b"\n", 0, done) + 1 :]


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _ends_in_newline(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except OSError:  # append-only for us: a blank line harms nobody
        return False
