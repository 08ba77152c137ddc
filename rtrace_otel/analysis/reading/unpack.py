"""What a compressed file holds: gzip, and zstd where its package is installed."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from rtrace_otel.errors import TraceFileError

ARCHIVE_ERRORS: Final = (EOFError, zlib.error, gzip.BadGzipFile)
"""What a damaged archive raises in the middle of reading."""

GZIP_MAGIC: Final = b"\x1f\x8b"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
LONGEST_MAGIC: Final = len(ZSTD_MAGIC)
"""So many first bytes tell how a file is compressed."""

_AT_ONCE: Final = 8192


def unpacked(file: io.BufferedReader, head: bytes, name: str) -> Callable[[int], bytes] | None:
    """Reads what a compressed file holds, at most so many bytes at a time; ``None`` if it is not compressed.

    Args:
        file: The file, at its begin.
        head: Its first bytes.
        name: What to call it in messages.

    Raises:
        TraceFileError: It is a zstd, and the package for that is not installed.
    """
    if head.startswith(GZIP_MAGIC):
        return _Unpacked(gzip.GzipFile(fileobj=file).read1).read
    if head == ZSTD_MAGIC:
        return _Unpacked(_zstd_reader(file, name)).read
    return None


class _Unpacked:
    """Reads an archive in pieces so small that a damage in it costs little of what stands before."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._error: Exception | None = None

    def read(self, size: int) -> bytes:
        if self._error is not None:
            raise self._error
        parts, missing = [], size
        try:
            while missing > 0 and (part := self._read(min(missing, _AT_ONCE))):
                parts.append(part)
                missing -= len(part)
        except (OSError, *ARCHIVE_ERRORS) as error:
            if not parts:
                raise
            self._error = error
        return b"".join(parts)


def _zstd_reader(file: io.BufferedReader, name: str) -> Callable[[int], bytes]:
    zstd = _zstd_module()
    if zstd is None:
        raise TraceFileError(
            name, "is a zstd, and the package that reads it is not installed", hint='pip install "rtrace-otel[zstd]"'
        )
    archive = zstd.ZstdFile(file)
    damage: type[Exception] = zstd.ZstdError

    def read(size: int) -> bytes:
        try:
            data: bytes = archive.read1(size)
        except damage as error:
            raise EOFError(str(error)) from error
        return data

    return read


def _zstd_module() -> Any:
    """Python's own module from 3.14 on, or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return None
