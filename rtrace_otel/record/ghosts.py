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

REACH: Final = 2**22
"""Bytes before the run before in which the one before that is looked for."""
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
        earlier: The run before it and where that begins: spans of the one can link to what the other left open.
    """

    path: Path
    run: str
    present: str
    offset: int
    earlier: tuple[str, int] | None

    def rows(self) -> Iterator[Row]:
        """Its rows and those of the run before it, in file order."""
        return self._rows(b"")

    def deliveries(self) -> dict[str, Ranges]:
        """Numbers of the spans of it that each destination had confirmed, by destination."""
        found: dict[str, Ranges] = {}
        for row in self._rows(_DELIVERED):
            if row.get("of_run") == self.run:
                found.setdefault(str(row.get("destination")), Ranges()).merge(Ranges.parse(str(row.get("spans"))))
        return found

    def _rows(self, head: bytes) -> Iterator[Row]:
        wanted = {self.run} if self.earlier is None else {self.run, self.earlier[0]}
        with self.path.open("rb") as file:
            file.seek(self.offset if self.earlier is None else self.earlier[1])
            for line in file:
                if not line.startswith(head) and not line.startswith(_START):
                    continue
                row = _row_of(line)
                if row is None:
                    continue
                if row["run"] == self.present:
                    return
                if row["run"] in wanted:
                    yield row


def find_run_before(path: Path, present: str) -> RunBefore | None:
    """The run that the present one took over from; of the file's earlier runs only the last is read.

    Args:
        path: The trace file.
        present: The present run; it and the children of forks are passed over.

    Returns:
        ``None`` if there is no earlier run, or if it is a process on this host that still lives.
    """
    with path.open("rb") as file:
        offset, row = next(_starts_of_runs_before(file, present), (0, None))
        if row is None or _still_lives(row):
            return None
        found = next(_starts_of_runs_before(file, row["run"], (max(0, offset - REACH), offset)), None)
    return RunBefore(path, row["run"], present, offset, None if found is None else (found[1]["run"], found[0]))


def _starts_of_runs_before(
    file: IO[bytes], run: str, within: tuple[int, int] | None = None
) -> Iterator[tuple[int, Row]]:
    """Offset and first row of the runs before, the latest first, without the children of forks."""
    for offset, row in _run_starts_backwards(file, within or (0, file.seek(0, os.SEEK_END))):
        if row["run"] != run and row.get("parent_run") is None:
            yield offset, row


def _run_starts_backwards(file: IO[bytes], within: tuple[int, int]) -> Iterator[tuple[int, Row]]:
    """Offset and row of each ``run_started`` between two offsets, the last one first."""
    start, end = within
    carried = b""
    while end > start:
        begin = max(start, end - BLOCK)
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
    try:
        state = (
            Path(f"/proc/{row['pid']}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        )
    except (OSError, IndexError):
        return False
    return state not in {"Z", "X"}
