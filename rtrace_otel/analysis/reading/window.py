"""The bytes that a file has at one moment, so that several readings see the same ones while it grows or is replaced."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import IO, Final, Self, cast
from zlib import crc32

_LINE_BYTES: Final = 1024 * 1024
"""A line that was being written at that moment is taken whole, up to so many bytes."""


@dataclass(frozen=True, slots=True)
class Extent:
    """Which bytes of which file.

    Attributes:
        path: Where the file was.
        device: The device that it is on.
        inode: Its number there.
        size: So many first bytes of it.
    """

    path: Path
    device: int
    inode: int
    size: int


class Window:
    """The first bytes of a file; its :attr:`stream` is a source for :func:`rtrace_otel.read_events`.

    Args:
        file: The file, open; it is closed with the window.
        extent: Which of its bytes.

    Attributes:
        name: What to call it in messages.
        extent: Which bytes of which file.
        seen: How many bytes were read so far, and their check sum.
    """

    def __init__(self, file: IO[bytes], extent: Extent) -> None:
        """Stand before the first byte."""
        self._file = file
        self.name = str(extent.path)
        self.extent = extent
        self.seen = (0, 0)

    @property
    def stream(self) -> IO[bytes]:
        """The window, for those who ask for a file: it can be read, and has a name."""
        return cast("IO[bytes]", self)

    def read(self, size: int) -> bytes:
        """The next bytes, at most so many; none at the end.

        Raises:
            OSError: They cannot be read.
        """
        at, checksum = self.seen
        data = os.pread(self._file.fileno(), min(size, self.extent.size - at), at)
        self.seen = (at + len(data), crc32(data, checksum))
        return data

    def rewind(self) -> None:
        """Stand before the first byte again."""
        self.seen = (0, 0)

    def __enter__(self) -> Self:
        """The window itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.close()


def window_on(path: Path) -> Window | None:
    """The bytes that a file has now; ``None`` if it is no regular file, which can be read only once.

    Raises:
        OSError: It cannot be opened.
    """
    if not S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
        return None
    file = path.open("rb", buffering=0)
    status = os.fstat(file.fileno())
    return Window(file, Extent(path, status.st_dev, status.st_ino, _end(file, status.st_size)))


def same_window(extent: Extent) -> Window | None:
    """A window on the same bytes, for another process; ``None`` if another file is there by now.

    Raises:
        OSError: It cannot be opened.
    """
    file = extent.path.open("rb", buffering=0)
    status = os.fstat(file.fileno())
    if (status.st_dev, status.st_ino) == (extent.device, extent.inode):
        return Window(file, extent)
    file.close()
    return None


def _end(file: IO[bytes], size: int) -> int:
    """Where the line ends that holds the last of these bytes."""
    if not size:
        return 0
    file.seek(size - 1)
    return size - 1 + len(file.readline(_LINE_BYTES))
