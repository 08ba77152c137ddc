"""What the two ends of a trace file say of it, for a list of many: the rest is not read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rtrace_otel.analysis.checked import integer, name, time_of
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row

HEAD_BYTES: Final = 64 * 1024
TAIL_BYTES: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Glance:
    """What can be told at a glance. What the ends of the file do not say is ``None``.

    Attributes:
        size: Bytes of the file; ``None`` if it is not there.
        modified: When it was written last, in Unix seconds.
        service: Name of the job, as its first run gave it.
        host: Host of the first run.
        started: Time of the first row, in Unix seconds.
        last_row: Time of the last row that has one.
        last_step: Training step that ended last.
        run: The run of the last row.
        ended: The reason with which that run ended.
    """

    size: int | None = None
    modified: float | None = None
    service: str | None = None
    host: str | None = None
    started: float | None = None
    last_row: float | None = None
    last_step: int | None = None
    run: str | None = None
    ended: str | None = None


def glance(path: Path) -> Glance:
    """Look at both ends of a file; of a gzip only its size is known."""
    try:
        found = path.stat()
        size, modified = found.st_size, found.st_mtime
        if path.suffix == ".gz":
            return Glance(size, modified)
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES).split(b"\n")
            file.seek(max(size - TAIL_BYTES, 0))
            tail = file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return Glance()
    return _of(size, modified, _rows(head[:-1]), _rows(tail if size <= TAIL_BYTES else tail[1:]))


def _rows(lines: list[bytes]) -> list[Row]:
    return list(read_events(line for line in lines if line))


def _of(size: int, modified: float, head: list[Row], tail: list[Row]) -> Glance:
    begins = [row for row in head if row["event"] == "run_started"]
    first = begins[0] if begins else {}
    times = [t for t in map(time_of, tail) if t is not None]
    steps = [step for row in tail if row["event"] == "train_step" and (step := integer(row.get("step"))) is not None]
    last = tail[-1] if tail else {"run": None}
    ends = [row for row in tail if row["event"] == "run_ended" and row["run"] == last["run"]]
    return Glance(
        size=size,
        modified=modified,
        service=name(first.get("service")),
        host=name(first.get("host")),
        started=next((t for t in map(time_of, head) if t is not None), None),
        last_row=times[-1] if times else None,
        last_step=steps[-1] if steps else None,
        run=name(last["run"]),
        ended=name(ends[-1].get("reason")) if ends else None,
    )
