"""A trace that lies in several files: its parts in the order of their first rows, read as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from rtrace_otel.analysis.checked import time_of
from rtrace_otel.analysis.reader import read_events
from rtrace_otel.analysis.source import ARCHIVE_ERRORS, open_lines


class Parts:
    """The lines of several files, one file after the other; a source for :func:`rtrace_otel.read_events`.

    Args:
        paths: Files or folders, each as for :func:`rtrace_otel.read_events`; given in any order.

    Attributes:
        name: What to call them together.
        paths: In the order of their first rows.

    Raises:
        TraceFileError: One of them cannot be opened.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """Look at the first row of each."""
        self.paths = tuple(sorted(paths, key=_began))
        others = len(paths) - 1
        self.name = f"{self.paths[0]} and {others} more {'file' if others == 1 else 'files'}"

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


def _began(path: str) -> float:
    """Time of the first row; a file without one comes last."""
    with closing(read_events(path)) as reader:
        first = next(reader, None)
    t = time_of(first) if first is not None else None
    return float("inf") if t is None else t
