"""Answers that are written part by part, because they are too long to be held or because they are not text."""

from __future__ import annotations

import contextlib
import gzip
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, cast

import click

from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.reading.source import is_one_of
from rtrace_otel.analysis.spans_of import NumberedSpan, require_some
from rtrace_otel.cli.common import StdoutError
from rtrace_otel.errors import TraceFileError

_BUFFER_BYTES: Final = 1 << 18


class Counted:
    """Spans that are counted as they pass.

    Args:
        spans: The spans.

    Attributes:
        count: How many were given so far.
    """

    def __init__(self, spans: Iterable[NumberedSpan]) -> None:
        """Take no span yet."""
        self._spans = iter(spans)
        self._first: list[NumberedSpan] = []
        self.count = 0

    def require_some(self, file: str, reader: EventReader) -> None:
        """Look for the first one.

        Raises:
            NothingSelectedError: There is none.
        """
        self._first = [found for _, found in zip(range(1), self._spans, strict=False)]
        require_some(self._first, file, reader.report.runs)

    def __iter__(self) -> Iterator[NumberedSpan]:
        """The spans, once."""
        for spans in (self._first, self._spans):
            for found in spans:
                self.count += 1
                yield found


def write_stream(output: Path | None, trace: str, parts: Iterable[str] | Iterable[bytes]) -> str:
    """Write a file part by part; it takes its name when it is whole.

    Args:
        output: Where to; ``None`` or ``-`` is standard output. A name that ends in ``.gz`` is packed.
        trace: The trace, which the file must not replace.
        parts: What to write.

    Returns:
        What to call it.

    Raises:
        TraceFileError: It cannot be written, or it is the trace itself.
        StdoutError: Standard output cannot be written.
    """
    if output is None or str(output) == "-":
        _to_standard_output(parts)
        return "standard output"
    try:
        if is_one_of(output, [trace]):
            raise TraceFileError(str(output), "is the trace itself", hint="Give -o another name")
        _to_file(output, parts)
    except OSError as error:
        raise TraceFileError(str(output), f"cannot be written: {error.strerror or error}") from error
    return str(output)


def _to_standard_output(parts: Iterable[str] | Iterable[bytes]) -> None:
    out = sys.stdout.buffer
    for part in parts:
        if isinstance(part, bytes) and sys.stdout.isatty():
            raise click.UsageError("this is no text for a terminal; give a file with -o")
        try:
            out.write(_bytes(part))
        except OSError as error:
            raise StdoutError(error) from error


def _to_file(output: Path, parts: Iterable[str] | Iterable[bytes]) -> None:
    if output.exists() and not output.is_file():  # a device or a pipe
        with output.open("wb") as file:
            file.writelines(map(_bytes, parts))
        return
    number, name = tempfile.mkstemp(prefix=f".{output.name[:64]}.", dir=output.parent)
    try:
        with os.fdopen(number, "wb", buffering=_BUFFER_BYTES) as file:
            os.fchmod(number, 0o666 & ~_umask())
            if output.suffix == ".gz":
                with gzip.GzipFile(fileobj=file, mode="wb", filename="", compresslevel=6) as packed:
                    _copy(cast("IO[bytes]", packed), parts)
            else:
                _copy(file, parts)
        Path(name).replace(output)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _copy(file: IO[bytes], parts: Iterable[str] | Iterable[bytes]) -> None:
    """Write in pieces that are worth a call: most parts are a few bytes."""
    held = bytearray()
    for part in parts:
        held += _bytes(part)
        if len(held) >= _BUFFER_BYTES:
            file.write(held)
            held.clear()
    file.write(held)


def _bytes(part: str | bytes) -> bytes:
    return part.encode() if isinstance(part, str) else part


def _umask() -> int:
    """The mask that new files of this process get; reading it means setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
