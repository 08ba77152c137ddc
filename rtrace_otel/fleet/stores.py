"""Traces in stores that fsspec knows: searched, and read ahead."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from rtrace_otel.errors import MissingExtraError
from rtrace_otel.fleet.patience import PATIENCE_S, REPLACED, Patience, StoreError, is_missing, is_refusal, said
from rtrace_otel.fleet.stream import CHUNK, Health, Stream

NAME: Final = "rollout_trace"
"""How the names of traces begin that a folder is searched for."""

ENDINGS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")

_BLOCK: Final = 64 << 10
"""Bytes that a file system reads beyond what it is asked for; by default up to 50 MiB."""

_STAMPS: Final = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created", "md5Hash")
"""What file systems tell of a file's version."""

_FOLDER: Final[Mapping[str, Any]] = {"type": "directory"}

Infos = dict[str, Mapping[str, Any]]
"""What a file system tells of files, by its names for them."""


def is_trace(name: str) -> bool:
    """Whether a file of this name, without its folder, is a trace in a folder that is searched."""
    return name.startswith(NAME) and name.endswith(ENDINGS)


class Stores:
    """The stores of one command, each connected once: a connection costs a second, and its pool limits the requests.

    Args:
        patience_s: How long to wait for each answer.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        """Connect to none yet."""
        self._patience = Patience(patience_s)
        self._lock = threading.Lock()
        self._files: dict[tuple[str, ...], Any] = {}
        self._health: dict[tuple[str, ...], Health] = {}

    def begin(self, path: str) -> Stream:
        """A file that is being read from now on.

        Args:
            path: Its address.

        Raises:
            MissingExtraError: fsspec is not installed.
        """
        _fsspec(path)

        def parts() -> Iterator[bytes]:
            yield from _parts(*self._located(path))

        return Stream(path, parts, self._patience, self._health.setdefault(_key(path), Health()))

    def search(self, pattern: str, fail: Callable[[str, str], None]) -> Iterator[tuple[str, str | None]]:
        """The traces that an address, a folder's address or a glob means.

        Args:
            pattern: The address.
            fail: Told of folders that cannot be listed, and why.

        Yields:
            Address and stamp of each.

        Raises:
            MissingExtraError: fsspec is not installed.
            Exception: Nothing of it can be listed.
        """
        _fsspec(pattern)
        files, root = self._patience.within(lambda: self._located(pattern))
        infos = self._named(files, root)
        folders = _outermost(name for name, info in infos.items() if info.get("type") == "directory")
        if root.endswith("**"):  # what is in them is there already
            folders = []
        found = {name: info for name, info in infos.items() if info.get("type") != "directory"}
        for place, inside in self._patience.for_listing.each(lambda one: files.find(one, detail=True), folders):
            if isinstance(inside, Exception):
                fail(str(files.unstrip_protocol(folders[place])), f"cannot be listed: {said(inside)}")
            else:
                found |= {name: info for name, info in inside.items() if is_trace(name.rpartition("/")[2])}
        for name, info in sorted(self._stamped(files, found).items()):
            yield str(files.unstrip_protocol(name)), _stamp(info)

    def _named(self, files: Any, root: str) -> Infos:
        """What the pattern itself means: a file, a folder, or what matches a glob."""
        globs = any(mark in root for mark in "*?[")
        # Asked for first: a name may hold a glob's characters, and what is missing is known before a long listing.
        info = self._patience.within(lambda: _info(files, root, missing_ok=globs))
        if info.get("type") == "file":
            # Over HTTP, folders are files, too, and to look for links in one that is a trace would be to load it.
            if root.partition("?")[0].endswith(ENDINGS) or not self._patience.within(lambda: files.isdir(root)):
                return {root: info}
        elif globs:
            infos: Infos = self._patience.for_listing.within(lambda: files.glob(root, detail=True))
            return infos
        return {root: _FOLDER}

    def _stamped(self, files: Any, found: Infos) -> Infos:
        """The same; where a listing tells no version, each file is asked for."""
        bare = [name for name, info in found.items() if _stamp(info) is None]
        infos = {
            bare[place]: info
            for place, info in self._patience.each(files.info, bare)
            if not isinstance(info, Exception)  # reading it says what is wrong
        }
        return {**found, **infos}

    def _located(self, path: str) -> tuple[Any, str]:
        """The file system, and its own name for the file."""
        fsspec = _fsspec(path)
        before, chained, after = path.partition("::")
        if chained and ("://" in after or after.startswith("/")):
            files, name = fsspec.core.url_to_fs(path)
            return files, str(name)
        with self._lock:  # without it, each thread would make a connection of its own
            key = _key(path)
            if key not in self._files:
                self._files[key] = fsspec.core.url_to_fs(before, skip_instance_cache=True)[0]
            files = self._files[key]
        return files, str(files._strip_protocol(path))  # noqa: SLF001 - what url_to_fs does, without a new connection


def _key(path: str) -> tuple[str, ...]:
    """What tells one store from another: protocol, bucket or host, and whether versions are asked for."""
    protocol, _, rest = path.partition("://")
    return protocol, rest.partition("/")[0], "versions" if "?versionId=" in path else ""


def _parts(files: Any, name: str) -> Iterator[bytes]:
    """The bytes of a file in parts.

    Raises:
        StoreError: It is another one by the end: its parts are then of both.
    """
    with files.open(name, "rb", block_size=_BLOCK) as file:
        requests = 0
        while part := file.read(CHUNK):
            yield part
            requests += 1
        before = getattr(file, "details", None)
    if requests > 1 and before and _stamp(before) != _stamp(files.info(name)):
        raise StoreError(REPLACED)


def _info(files: Any, name: str, *, missing_ok: bool) -> Mapping[str, Any]:
    """What is told of it; a folder if that is not allowed, since its listing may be.

    Raises:
        FileNotFoundError: There is no such file or folder.
    """
    try:
        info: Mapping[str, Any] = files.info(name)
    except OSError as error:
        if is_refusal(error) or (is_missing(error) and missing_ok):
            return _FOLDER
        raise
    return info


def _outermost(folders: Iterator[str]) -> list[str]:
    """Without those that are inside another."""
    kept: list[str] = []
    for folder in sorted(folders, key=_as_prefix):
        if not kept or not folder.startswith(_as_prefix(kept[-1])):
            kept.append(folder)
    return kept


def _as_prefix(folder: str) -> str:
    return folder.rstrip("/") + "/"


def _stamp(info: Mapping[str, Any]) -> str | None:
    versions = [f"{key}={info[key]}" for key in _STAMPS if info.get(key) is not None]
    return " ".join([str(info.get("size")), *versions]) if versions else None


def _fsspec(path: str) -> Any:
    try:
        import fsspec
    except ImportError as error:
        raise MissingExtraError(f"Reading {path}", "fleet", error.name or "fsspec") from error
    # Clients of stores log whole tracebacks of what they try again; what comes of it is in the answer.
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    return fsspec
