"""A chunk that the disk takes only in part, while the file goes on without the recorder."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NoReturn, TypeAlias

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.record.trace import RolloutTrace
from tests.record.disk import FaultyDisk
from tests.record.hold import HeldClock

OTHER = b'{"event":"other","t":1.0,"run":"other","seq":0}\n'
Cut: TypeAlias = Callable[[bytes], int]
Incident: TypeAlias = Callable[[Path, int], None]

CUTS: dict[str, Callable[[bytes], int]] = {
    "before the first byte": lambda _: 0,
    "after the first byte": lambda _: 1,
    "in the first row": lambda data: data.index(b"\n") // 2,
    "before the first newline": lambda data: data.index(b"\n"),
    "after the first newline": lambda data: data.index(b"\n") + 1,
    "in the last row": lambda data: data.rindex(b"\n", 0, -1) + 9,
    "before the last newline": lambda data: len(data) - 1,
}


def append_other(file: Path, _: int) -> None:
    """Another process goes on in the same file."""
    with file.open("ab") as other:
        other.write(OTHER)


def append_torn(file: Path, _: int) -> None:
    """Another process goes on in the same file and is killed in mid-write."""
    with file.open("ab") as other:
        other.write(OTHER + OTHER[:10])


INCIDENTS: dict[str, Incident] = {
    "nothing": lambda _file, _fd: None,
    "another process appends": append_other,
    "another process appends and is killed": append_torn,
    "the host closes the descriptor": lambda _file, fd: os.close(fd),
}


WHEN = ["before the refusal", "after the refusal", "at the retry"]
"""The last is the moment after the recorder has looked at the file and before it goes on: another process may come in
between, and two recorders of one file that wait for the same disk do."""


class FullDisk:
    """Takes the chunk of the test's rows up to a cut, refuses the rest once, and has an incident around that."""

    def __init__(self, disk: FaultyDisk, file: Path, cut: Cut, incident: Incident, when: str) -> None:
        self.state: Literal["sound", "cut", "over"] = "sound"
        self._disk, self._file, self._cut, self._incident, self._when = disk, file, cut, incident, when
        self._incident_over = threading.Event()
        disk.on_write = self._write

    def _write(self, fd: int, data: bytes) -> int:
        if self.state == "sound" and b'"mine"' in data:
            self.state = "cut"
            if taken := self._cut(data):
                return self._disk.real_write(fd, data[:taken])
        if self.state == "cut":
            self.state = "over"
            if self._when == "before the refusal":
                self._have_incident(fd)
            elif self._when == "after the refusal":
                threading.Timer(0.005, self._have_incident, (fd,)).start()  # the recorder waits by then
            self._refuse()
        if self.state == "over" and not self._incident_over.is_set():
            if self._when == "after the refusal":
                self._refuse()
            self._have_incident(fd)
        return self._disk.real_write(fd, data)

    def _have_incident(self, fd: int) -> None:
        self._incident(self._file, fd)
        self._incident_over.set()

    @staticmethod
    def _refuse() -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def record(file: Path) -> None:
    """Emit three rows that wait in the queue together, and close."""
    clock = HeldClock()
    trace = RolloutTrace(file, clock=lambda: clock, run="r")
    for n in range(3):
        trace.emit("mine", n=n)
    clock.release()
    assert trace.close()


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("incident", INCIDENTS.values(), ids=INCIDENTS)
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_each_row_is_there_exactly_once(
    file: Path, monkeypatch: pytest.MonkeyPatch, cut: Cut, incident: Incident, when: str
) -> None:
    """Wherever a chunk is cut, and whatever happens to the file before it goes on, no row is lost or doubled."""
    full = FullDisk(FaultyDisk(file, monkeypatch), file, cut, incident, when)
    record(file)

    rows = [row for row in read_events(file) if row["run"] == "r"]
    assert ("over", ["run_started", 0, 1, 2, "run_ended"]) == (full.state, [row.get("n", row["event"]) for row in rows])
    assert [0, 1, 2, 3, 4] == [row["seq"] for row in rows]


@pytest.mark.parametrize("incident", [append_other, append_torn])
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_rows_of_others_are_not_harmed(
    file: Path, monkeypatch: pytest.MonkeyPatch, cut: Cut, incident: Incident, when: str
) -> None:
    """The row that another process wrote in the meantime can be read."""
    FullDisk(FaultyDisk(file, monkeypatch), file, cut, incident, when)
    record(file)

    assert [0] == [row["seq"] for row in read_events(file) if row["run"] == "other"]


@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_cut_costs_at_most_one_torn_line(file: Path, monkeypatch: pytest.MonkeyPatch, cut: Cut, when: str) -> None:
    """The torn row is written again on a new line, so its head is all that is left of the cut."""
    FullDisk(FaultyDisk(file, monkeypatch), file, cut, INCIDENTS["nothing"], when)
    record(file)
    reader = read_events(file)

    assert ["run_started", 0, 1, 2, "run_ended"] == [row.get("n", row["event"]) for row in reader]
    assert 1 >= sum(reader.report.damage_counts.values())
    assert 0 == reader.report.rows_missing
