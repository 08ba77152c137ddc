"""The spans of the run before, which was killed and could not end them: read back from the end of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import msgspec

from rtrace_otel.events import Row
from rtrace_otel.spans.ranges import Ranges

BLOCK: Final = 1 << 20
_DELIVERED: Final = b'{"event":"spans_delivered"'
_START: Final = b'{"event":"run_started"'
_decode = msgspec.json.Decoder().decode


@dataclass(frozen=True, slots=True)
class RunBefore:
    """The run that the present one took over from.

    Attributes:
        path: The trace file.
        run: Its id.
        present: The present run, whose first row ends its rows.
        offset: Where its first row stands in the file.
    """

    path: Path
    run: str
    present: str
    offset: int

    def rows(self) -> Iterator[Row]:
        """Its rows, in file order."""
        return self._rows(b"")

    def deliveries(self) -> dict[str, Ranges]:
        """Numbers of the spans of it that each destination had confirmed, by destination."""
        found: dict[str, Ranges] = {}
        for row in self._rows(_DELIVERED):
            if row.get("of_run") == self.run:
                found.setdefault(str(row.get("destination")), Ranges()).merge(Ranges.parse(str(row.get("spans"))))
        return found

    def _rows(self, head: bytes) -> Iterator[Row]:
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for line in file:
                if not line.startswith(head) and not line.startswith(_START):
                    continue
                row = _row_of(line)
                if row is None:
                    continue
                if row["run"] == self.present:
                    return
                if row["run"] == self.run:
                    yield row


def find_run_before(path: Path, present: str) -> RunBefore | None:
    """The run that the present one took over from; the file's earlier runs are not read.

    Args:
        path: The trace file.
        present: The present run; it and the children of forks are passed over.

    Returns:
        ``None`` if there is no earlier run, or if it is a process on this host that still lives.
    """
    with path.open("rb") as file:
        start = _start_of_run_before(file, present)
    return None if start is None else RunBefore(path, start[1]["run"], present, start[0])


def _start_of_run_before(file: IO[bytes], run: str) -> tuple[int, Row] | None:
    for offset, row in _run_starts_backwards(file):
        if row["run"] == run or row.get("parent_run") is not None:
            continue
        return None if _still_lives(row) else (offset, row)
    return None


def _run_starts_backwards(file: IO[bytes]) -> Iterator[tuple[int, Row]]:
    """Offset and row of each ``run_started``, from the end of the file to its beginning."""
    end = file.seek(0, os.SEEK_END)
    carried = b""
    while end > 0:
        begin = max(0, end - BLOCK)
        file.seek(begin)
        block = file.read(end - begin) + carried
        place = len(block)
        while (place := block.rfind(_START, 0, place)) >= 0:
            file.seek(begin + place)
            row = _row_of(file.readline())
            if row is not None:
                yield begin + place, row
        carried = block[: len(_START) - 1]
        end = begin


def _row_of(line: bytes) -> Row | None:
    try:
        row = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(row, dict) and isinstance(row.get("run"), str) and isinstance(row.get("event"), str):
        return row
    return None


def _still_lives(row: Row) -> bool:
    """Whether the run's process is on this host and alive: then it is a neighbour, not a predecessor."""
    if row.get("host") != os.uname().nodename or type(row.get("pid")) is not int or row["pid"] == os.getpid():
        return False
    return Path(f"/proc/{row['pid']}").exists()
