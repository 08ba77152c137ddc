"""Where the traces of a fleet are: paths, globs and folders, here or in a store that fsspec knows."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.errors import MissingExtraError, TraceFileError
from rtrace_otel.fleet.results import Failure

NAME: Final = "rollout_trace"
"""How the names of traces begin that a folder is searched for."""

ENDINGS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")

_STAMPS: Final = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created", "md5Hash")
"""What file systems tell of a file's version."""


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


@contextmanager
def opened_source(path: str) -> Iterator[EventReader]:
    """A reader of one file.

    Raises:
        TraceFileError: It cannot be opened.
        MissingExtraError: It is in a store, and fsspec is not installed.
    """
    if is_remote(path):
        with _fsspec(path).open(path, "rb") as file, read_events(file) as reader:
            yield reader
    else:
        with read_events(path) as reader:
            yield reader


def find(patterns: Sequence[str]) -> tuple[list[Found], list[Failure]]:
    """The traces that paths, globs and folders mean, each once, in the order of their paths.

    Args:
        patterns: A file; a folder, which is searched to its bottom for files named ``rollout_trace*.jsonl``, also
            with ``.gz`` or ``.zst``; or a glob of either. Each also as an address (``s3://``, ``gs://``, ``https://``).

    Returns:
        What was found; and what means nothing: patterns, folders that cannot be listed, and what is not a file.

    Raises:
        MissingExtraError: One is in a store, and fsspec is not installed.
    """
    found: dict[str, Found] = {}
    failures: dict[str, Failure] = {}

    def fail(path: str, reason: str) -> None:
        failures[path] = Failure(path, reason)

    for pattern in patterns:
        try:
            several = list(_find_remote(pattern) if is_remote(pattern) else _find_local(pattern, fail))
        except MissingExtraError:
            raise
        except Exception as error:
            fail(pattern, f"cannot be listed: {_said(error)}")
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
        yield from (str(Path(where) / name) for name in sorted(files) if _is_trace(name))


def _is_trace(name: str) -> bool:
    return name.startswith(NAME) and name.endswith(ENDINGS)


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


def _find_remote(pattern: str) -> Iterator[tuple[str, Found]]:
    files, root = _fsspec(pattern).core.url_to_fs(pattern)
    names = files.glob(root) if any(mark in root for mark in "*?[") else [root]
    for name in sorted(names):
        if files.isdir(name):
            inside = files.find(name, detail=True)
            entries = {one: info for one, info in inside.items() if _is_trace(one.rsplit("/", 1)[-1])}
        else:
            entries = {name: files.info(name)}
        for one, info in sorted(entries.items()):
            address = str(files.unstrip_protocol(one))
            yield address, Found(address, _remote_stamp(info))


def _remote_stamp(info: Mapping[str, Any]) -> str | None:
    versions = [f"{key}={info[key]}" for key in _STAMPS if info.get(key) is not None]
    return " ".join([str(info.get("size")), *versions]) if versions else None


def _fsspec(path: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(f"Reading {path}", "fleet", error.name or "fsspec") from error
    return fsspec


def _said(error: Exception) -> str:
    if isinstance(error, TraceFileError):
        return error.problem
    return f"{type(error).__name__}: {error}"[:500]
