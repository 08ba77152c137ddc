"""A trace that lies in several files: its parts in the order of their first rows, read as one."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from typing import Final

from rtrace_otel.analysis.checked import integer, time_of
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.reading.source import each_once, file_of, open_lines
from rtrace_otel.analysis.reading.unpack import ARCHIVE_ERRORS
from rtrace_otel.errors import TraceFileError

FIRST_ROWS: Final = 1000
"""Rows that are looked at to find the first time of a part."""


class Parts:
    """The lines of several files, one file after the other; a source for :func:`rtrace_otel.read_events`.

    Args:
        paths: Files or folders, each as for :func:`rtrace_otel.read_events`; given in any order.

    Attributes:
        name: What to call them together.
        paths: In the order of their first rows; a file that was given twice is there once.

    Raises:
        TraceFileError: One of them cannot be opened, or is no regular file.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Look at the first row of each."""
        self.paths = tuple(sorted(_distinct(paths), key=_began))
        others = len(self.paths) - 1
        more = f" and {others} more {'file' if others == 1 else 'files'}" if others else ""
        self.name = f"{self.paths[0]}{more}"

    def __iter__(self) -> Iterator[bytes]:
        """Lines of all parts. Their numbers count on from part to part."""
        for path in self.paths:
            opened = open_lines(path)
            try:
                for line in opened.lines:
                    yield line if line.endswith(b"\n") else line + b"\n"
            except ARCHIVE_ERRORS as error:  # the other parts are still to be read; this line is reported as damage
                yield f"torn archive {path}: {error}\n".encode()
            finally:
                opened.close()


def _distinct(paths: Sequence[str]) -> Iterator[str]:
    """The paths, each file once, if all that are there are files that can be read twice."""
    for path in each_once(paths):
        with suppress(OSError):  # opening it says what is wrong
            if not stat.S_ISREG(file_of(Path(path)).stat().st_mode):  # its first row could not be read a second time
                raise TraceFileError(path, "is no regular file", hint="Give a pipe alone, or save it to a file first")
        yield path


def _began(path: str) -> tuple[float, int]:
    """Time and number of the first row that has a time; a file without one comes last."""
    with closing(read_events(path)) as reader:
        for row in islice(reader, FIRST_ROWS):
            t = time_of(row)
            if t is not None:
                return t, integer(row.get("seq")) or 0
    return float("inf"), 0
