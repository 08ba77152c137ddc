"""The spans of the run before, which was killed and could not end them: read back from the end of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import msgspec

from rtrace_otel.events import Row

BLOCK: Final = 1 << 20
_START: Final = b'{"event":"run_started"'
_decode = msgspec.json.Decoder().decode


def rows_of_run_before(path: Path, run: str) -> Iterator[Row]:
    """The rows of the run that the file's last run took over from, without reading the file's earlier runs.

    Args:
        path: The trace file.
        run: The present run; its rows and those of its children are passed over.

    Yields:
        Rows of the latest earlier run, in file order; nothing if there is none, or if it is a process on this host that
        still lives.
    """
    with path.open("rb") as file:
        start = _start_of_run_before(file, run)
        if start is None:
            return
        offset, row = start
        name = row["run"]
        file.seek(offset)
        for line in file:
            later = _row_of(line)
            if later is not None and later["run"] == name:
                yield later
            if later is not None and later["run"] == run:
                return


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
