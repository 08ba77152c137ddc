"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rtrace_otel.analysis.reading.source import is_one_of
from rtrace_otel.errors import TraceFileError


def write_whole(path: Path, traces: Sequence[str], text: str) -> None:
    """Write a file in one stroke: it is the old one until it is the new one.

    A device or a pipe is written to; a link is followed.

    Args:
        path: Where to.
        traces: Files that were read, which it must not replace.
        text: Its text.

    Raises:
        TraceFileError: It cannot be written, or it is one of the traces.
    """
    try:
        if is_one_of(path, traces):
            raise TraceFileError(str(path), "is the trace itself", hint="Give -o another name")
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(Path(os.path.realpath(path)), text)
    except OSError as error:
        raise TraceFileError(str(path), f"cannot be written: {error.strerror or error}") from error


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(text)
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
