"""Where lines come from: a path, ``-``, a folder, a compressed file, a file object, or any iterable of lines."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, Final, TypeAlias, cast

from rtrace_otel.analysis.reading.batches import batches
from rtrace_otel.analysis.reading.unpack import LONGEST_MAGIC, unpacked
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import ROLLOUT_TRACE_FILENAME

Source: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str] | Iterable[bytes] | Iterable[str]
"""What :func:`open_lines` takes."""

_ADDRESS_HINT: Final = (
    "'rtrace fleet' reads traces in a store; for other commands, copy the file here or pipe it in: "
    "aws s3 cp s3://... - | rtrace COMMAND -"
)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with a name and a way to close what holds them.

    Attributes:
        name: What to call the source in messages.
        lines: The lines, newline included.
        close: Closes what was opened here; a source that the caller opened stays open.
        read: Reads on from where the lines are, at most so many bytes; ``None`` if the source is no file.
        path: The file, if it was opened here and can be read once more.
        plain: That file, open, if it is not compressed.
    """

    name: str
    lines: Iterator[bytes]
    close: Callable[[], None]
    read: Callable[[int], bytes] | None = None
    path: Path | None = None
    plain: IO[bytes] | None = None


def open_lines(source: Source) -> Lines:
    """Open a source.

    Args:
        source: A path (``-`` is standard input; a folder is searched for ``rollout_trace.jsonl``), a file object in
            binary or text mode, or an iterable of lines. Gzip and zstd are recognised by their first bytes.

    Raises:
        TraceFileError: There is no such file, or it may not be read.
    """
    if isinstance(source, str) and source == "-":
        if sys.stdin is None:
            raise TraceFileError("<stdin>", "standard input is closed", hint="Pass a file, or pipe one in")
        return _lines("<stdin>", sys.stdin.buffer, lambda: None)
    if isinstance(source, (str, os.PathLike)):
        path, file = _open(os.fspath(source))
        return _lines(str(path), file, file.close, path if S_ISREG(os.fstat(file.fileno()).st_mode) else None)
    name = str(getattr(source, "name", "<lines>"))
    source = getattr(source, "buffer", source)  # a text file's own bytes: its decoder would raise at the first bad one
    if hasattr(source, "read"):
        return _lines(name, _borrowed(cast("IO[Any]", source)), lambda: None)
    return Lines(name, map(_as_bytes, cast("Iterable[bytes | str]", source)), lambda: None)


def _lines(name: str, opened: IO[bytes], close: Callable[[], None], path: Path | None = None) -> Lines:
    file = cast("io.BufferedReader", opened)
    inner = unpacked(file, _head(file), name)
    read = file.read1 if inner is None else inner
    lines = chain.from_iterable(lines for lines, _ in batches(read))
    return Lines(name, lines, close, read, path, file if inner is None and path is not None else None)


def _head(file: io.BufferedReader) -> bytes:
    try:
        return _peek(file, LONGEST_MAGIC)
    except OSError:  # reading it says what is wrong
        return b""


class _Borrowed(io.RawIOBase):
    """A file of the caller: read through here, but never closed."""

    def __init__(self, read: Callable[[int], bytes | str]) -> None:
        self._read = read
        self._head = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        data = self._head[:size] if self._head else self._more(size)
        self._head = self._head[len(data) :]
        if len(data) > size:
            data, self._head = data[:size], data[size:]
        buffer[: len(data)] = data
        return len(data)

    def _more(self, size: int) -> bytes:
        data = self._read(size)
        return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data


def _borrowed(file: IO[Any]) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(_Borrowed(file.read), 1 << 16))


def file_of(path: Path) -> Path:
    """The file that a path means: itself, or the trace in a folder.

    Raises:
        TraceFileError: The folder holds no trace.
    """
    return _trace_in(path) if path.is_dir() else path


def is_one_of(path: Path, sources: Iterable[str]) -> bool:
    """Whether a file that is to be written is one of the traces that were read; one that is gone is none.

    Args:
        path: The file; it need not be there.
        sources: Paths as they were given, ``-`` for standard input.
    """
    for source in sources:
        with suppress(OSError, TraceFileError):
            if source != "-" and path.samefile(file_of(Path(source))):
                return True
    return False


def each_once(sources: Iterable[str]) -> Iterator[str]:
    """Sources without those that lead to a file named before: its rows would count twice.

    Args:
        sources: Paths as they were given, ``-`` for standard input.
    """
    seen: set[tuple[int, int]] = set()
    for source in sources:
        try:
            found = file_of(Path(source)).stat() if source != "-" else None
        except (OSError, TraceFileError):  # opening it says what is wrong
            found = None
        place = None if found is None else (found.st_dev, found.st_ino)
        if place is None or place not in seen:
            yield source
        if place is not None:
            seen.add(place)


def refuse_address(name: str) -> None:
    """Say at once that an address means nothing here, for those who would wait for a file of that name.

    Raises:
        TraceFileError: It is an address, and no file has that name.
    """
    if "://" in name and not Path(name).exists():
        raise TraceFileError(name, "an address is not read here", hint=_ADDRESS_HINT)


def _open(name: str) -> tuple[Path, IO[bytes]]:
    path = Path(name)
    try:
        path = file_of(path)
        return path, path.open("rb")
    except FileNotFoundError:
        refuse_address(name)
        raise TraceFileError(str(path), "no such file", hint="Pass the trace file or the job's log folder") from None
    except OSError as error:
        raise TraceFileError(str(path), f"cannot be read: {error.strerror or error}") from error


def _trace_in(folder: Path) -> Path:
    for name in (ROLLOUT_TRACE_FILENAME, f"{ROLLOUT_TRACE_FILENAME}.gz", f"{ROLLOUT_TRACE_FILENAME}.zst"):
        if (folder / name).is_file():
            return folder / name
    raise TraceFileError(
        str(folder), f"no {ROLLOUT_TRACE_FILENAME} in this folder", hint="Pass the trace file or the job's log folder"
    )


def _peek(file: io.BufferedReader, size: int) -> bytes:
    """The first bytes of a stream that may give one byte at a time."""
    head = file.peek(size)[:size]
    if len(head) < size and isinstance(file.raw, _Borrowed):
        while len(head) < size and (more := file.raw.read(1)):
            head += more
        file.raw._head = head[len(file.peek(0)) :] + file.raw._head  # noqa: SLF001 - our own class
    return head


def _as_bytes(line: bytes | str) -> bytes:
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    return data if data.endswith(b"\n") else data + b"\n"
