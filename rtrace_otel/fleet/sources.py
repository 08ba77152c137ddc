"""Where the traces of a fleet are: paths, globs and folders, here or in a store that fsspec knows."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG

from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.errors import MissingExtraError
from rtrace_otel.fleet.patience import is_missing, said
from rtrace_otel.fleet.results import Failure
from rtrace_otel.fleet.stores import Stores, is_trace
from rtrace_otel.fleet.stream import Stream


@dataclass(frozen=True, slots=True)
class Found:
    """A trace that was found.

    Attributes:
        path: Path, or address with its protocol.
        stamp: Size and time of its last change, as the store tells them; another one means other content. ``None`` if
            the store tells neither.
    """

    path: str
    stamp: str | None


def is_remote(path: str) -> bool:
    """Whether fsspec is asked for it."""
    return "://" in path


def begun(path: str, stores: Stores) -> Stream | None:
    """What is read ahead of a trace until its turn comes: of one in a store its beginning, of one here nothing.

    Raises:
        MissingExtraError: It is in a store, and fsspec is not installed.
    """
    return stores.begin(path) if is_remote(path) else None


@contextmanager
def opened_source(path: str, stream: Stream | None = None) -> Iterator[EventReader]:
    """A reader of one file.

    Args:
        path: Its path; or its address.
        stream: What :func:`begun` gave for it; closed in the end. By default that begins now.

    Raises:
        TraceFileError: It cannot be opened.
        MissingExtraError: It is in a store, and fsspec is not installed.
    """
    stream = stream or begun(path, Stores())
    if stream is None:
        with read_events(path) as reader:
            yield reader
    else:
        with closing(stream):
            stream.wait()
            with read_events(stream) as reader:
                yield reader


def find(patterns: Sequence[str], stores: Stores | None = None) -> tuple[list[Found], list[Failure]]:
    """The traces that paths, globs and folders mean, each once, in the order of their paths.

    Args:
        patterns: A file; a folder, which is searched to its bottom for files named ``rollout_trace*.jsonl``, also
            with ``.gz`` or ``.zst``; or a glob of either. Each also as an address (``s3://``, ``gs://``, ``https://``).
        stores: The stores that they may be in.

    Returns:
        What was found; and what means nothing: patterns, folders that cannot be listed, and what is not a file.

    Raises:
        MissingExtraError: One is in a store, and fsspec is not installed.
    """
    stores = stores or Stores()
    found: dict[str, Found] = {}
    failures: dict[str, Failure] = {}

    def fail(path: str, reason: str) -> None:
        failures[path] = Failure(path, reason)

    for pattern in patterns:
        try:
            several = list(_find_remote(pattern, stores, fail) if is_remote(pattern) else _find_local(pattern, fail))
        except MissingExtraError:
            raise
        except Exception as error:
            missing = "no trace there: no such file, folder or bucket"
            fail(pattern, missing if is_missing(error) else f"cannot be listed: {said(error)}")
            continue
        if not several and pattern not in failures:
            fail(pattern, "no trace there")
        for identity, one in several:
            found.setdefault(identity, one)
    return sorted(found.values(), key=lambda one: one.path), [failures[key] for key in sorted(failures)]


def _find_local(pattern: str, fail: Callable[[str, str], None]) -> Iterator[tuple[str, Found]]:
    exact = Path(pattern).exists()
    for name in [pattern] if exact else sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - any depth, any root
        for path in _in_folder(name, fail) if Path(name).is_dir() else [name]:
            if _blocks(path):
                fail(path, "is not a file but a device or a pipe")
            else:
                yield os.path.realpath(path), Found(path, _local_stamp(path))


def _in_folder(folder: str, fail: Callable[[str, str], None]) -> Iterator[str]:
    def unlisted(error: OSError) -> None:
        fail(str(error.filename or folder), f"cannot be listed: {error.strerror or error}")

    for where, folders, files in os.walk(folder, onerror=unlisted):
        folders.sort()
        yield from (str(Path(where) / name) for name in sorted(files) if is_trace(name))


def _blocks(path: str) -> bool:
    """Whether reading it could wait for ever, as for the writer of a pipe."""
    try:
        return not S_ISREG(Path(path).stat().st_mode)
    except OSError:  # opening it says what is wrong
        return False


def _local_stamp(path: str) -> str | None:
    try:
        status = Path(path).stat()
    except OSError:  # opening it says what is wrong
        return None
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"


def _find_remote(pattern: str, stores: Stores, fail: Callable[[str, str], None]) -> Iterator[tuple[str, Found]]:
    for address, stamp in stores.search(pattern, fail):
        yield address, Found(address, stamp)
