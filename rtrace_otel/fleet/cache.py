"""Results of traces that have not changed since they were read, on disk between one command and the next."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from rtrace_otel.fleet.results import FileResult, Outcome, decode, encode
from rtrace_otel.fleet.sources import Found
from rtrace_otel.version import __version__

_READ_BY: Final = ("analysis", "fleet", "spans")
"""Folders of the package whose code decides what a result is."""


class Cache:
    """A folder with one file for each trace: the latest result, and what the trace was when it was read.

    Entries that are damaged, of another trace, or of another version of the analysis are as good as none.

    Args:
        folder: Where; made when the first result is stored.
        complain: Told once when the folder cannot be written.
    """

    def __init__(self, folder: Path, complain: Callable[[str], None] = lambda _: None) -> None:
        """Look at nothing yet."""
        self._folder = folder
        self._complain = complain
        self._writable = True

    def get(self, found: Found) -> FileResult | None:
        """The result of a trace as it is now, if there is one."""
        if found.stamp is None:
            return None
        try:
            head, _, line = self._path(found).read_bytes().partition(b"\n")
            if head != _head(found):
                return None
            outcome = decode(line)
        except (OSError, ValueError):
            return None
        return outcome if isinstance(outcome, FileResult) else None

    def put(self, found: Found, outcome: Outcome) -> None:
        """Store a result; failures are not stored, so that the file is tried again."""
        if found.stamp is None or not self._writable or not isinstance(outcome, FileResult):
            return
        path = self._path(found)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_head(found) + b"\n" + encode(outcome))
                Path(name).replace(path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            self._writable = False
            self._complain(f"results are not kept for the next time: {path.parent}: {error.strerror or error}")

    def _path(self, found: Found) -> Path:
        digest = hashlib.sha256(_identity(found).encode("utf-8", "surrogatepass")).hexdigest()
        return self._folder / digest[:2] / f"{digest[2:]}.json"


def default_folder() -> Path:
    """``$XDG_CACHE_HOME/rtrace``, or ``~/.cache/rtrace``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "rtrace" / "fleet"


def _identity(found: Found) -> str:
    return found.path if "://" in found.path else os.path.realpath(found.path)


def _head(found: Found) -> bytes:
    said = {"analysis": _analysis_version(), "path": found.path, "stamp": found.stamp}
    return json.dumps(said).encode("ascii")


@cache
def _analysis_version() -> str:
    """The package's version and a digest of the code that decides on results: nobody has to remember to raise it."""
    root = Path(__file__).resolve().parent.parent
    files = sorted([*root.glob("*.py"), *(path for name in _READ_BY for path in (root / name).rglob("*.py"))])
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return f"{__version__} {digest.hexdigest()[:16]}"
