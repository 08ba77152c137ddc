"""One file read by several processes: the same rows and the same report, wherever it is cut and whoever dies."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.ages import recomputed_batch_age_by_step
from rtrace_otel.analysis.reading import batches, parallel, team
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.picking import Picker
from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.errors import TraceFileError
from tests.analysis.reading.narrow_reading import FILE, WANTED, canonical, exactly, file_of
from tests.analysis.reading.test_reader_fuzz import DATA, HURTS, _hurt
from tests.analysis.rows import lines, row
from tests.pace import SOON_S, until


def _in_pieces(path: Path, jobs: int, piece: int, *, one_pass: bool) -> tuple[str, list[int], ReadReport]:
    with mock.patch.multiple(parallel, PIECE_BYTES=piece, MIN_BYTES=0):
        reader = EventReader(path, one_pass=one_pass, jobs=jobs)
        found = [(found, reader.line) for found in reader.only(WANTED)]
        return canonical([found for found, _ in found]), [line for _, line in found], reader.report


@settings(max_examples=25, deadline=None)
@given(st.lists(HURTS, max_size=4), st.integers(1, 3), st.integers(1, 2000), st.sampled_from([50, 1 << 16]))
def test_any_number_of_processes_gives_the_same(
    hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]], jobs: int, piece: int, batch: int
) -> None:
    """Rows, their lines and the report do not depend on where the file is cut into pieces."""
    with file_of(_hurt(DATA * 3 + FILE, hurts)) as path, mock.patch.object(batches, "BATCH_BYTES", batch):
        expected = exactly(path, WANTED)
        assert expected == _in_pieces(path, jobs, piece, one_pass=False)
        assert expected == _in_pieces(path, jobs, piece, one_pass=True)


def _die(*_: object) -> None:
    os._exit(9)


def test_a_process_that_is_killed_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that asked reads in its place."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(FILE * 50)
    monkeypatch.setattr(team, "work", _die)

    assert exactly(path, WANTED) == _in_pieces(path, 2, 500, one_pass=True)


def _killed_at(
    piece: int,
    connection: Connection,
    numbers: Connection,
    path: Path,
    _same: object,
    pieces: Mapping[int, team.Piece],
    events: frozenset[str],
    counted: bool,
) -> None:
    """A process that is killed with its n-th piece in hand; those before it are sent."""
    with path.open("rb", buffering=0) as file:
        for nth in count(1):
            number = team._next_of(numbers)
            assert number is not None
            if nth == piece:
                os.kill(os.getpid(), signal.SIGKILL)
            connection.send((number, team._picked(file, pieces[number], Picker(events, counted=counted, ahead=True))))


def test_processes_killed_with_a_piece_in_hand_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One dies with its first piece, the other with its third, when two were sent."""
    path, started, claim = tmp_path / "t.jsonl", team.start, team.Team._claim
    path.write_bytes(FILE * 50)
    ends: list[int | None] = []

    def start(*arguments: Any) -> Any:
        one = [*arguments[:4], 1, *arguments[5:]]
        workers = []
        for piece in (1, 3):
            monkeypatch.setattr(team, "work", partial(_killed_at, piece))
            workers += started(*one)
        return workers

    def claim_when_they_are_dead(asking: team.Team) -> int | None:
        for worker in asking._workers:
            worker._process.join()
            ends.append(worker._process.exitcode)
        return claim(asking)

    monkeypatch.setattr(team, "start", start)
    monkeypatch.setattr(team.Team, "_claim", claim_when_they_are_dead)
    assert exactly(path, WANTED) == _in_pieces(path, 3, 500, one_pass=True)
    assert [-signal.SIGKILL] * 2 == ends[:2]


def _stands_still(there: Path, _: Connection, numbers: Connection, *_rest: Any) -> None:
    team._next_of(numbers)
    there.touch()
    signal.pause()


def test_what_was_picked_ahead_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process holds the first piece and stands still: this one picks four for each of them, and waits."""
    path, there = tmp_path / "t.jsonl", tmp_path / "there"
    path.write_bytes(FILE * 200)
    monkeypatch.setattr(team, "work", partial(_stands_still, there))
    with path.open("rb", buffering=0) as file:
        pieces = dict(enumerate(parallel._pieces(file, 500)))
        with team.Team(path, file, pieces, 1, frozenset(WANTED), counted=True) as both:
            until(there.exists)
            (other,) = multiprocessing.active_children()

            def end_it() -> None:
                until(lambda: len(both._found) >= 2 * team.MAX_AHEAD)
                other.kill()

            threading.Thread(target=end_it).start()
            assert both.take(0) is None
            assert 2 * team.MAX_AHEAD == len(both._found) < len(pieces)


def test_without_other_processes_one_reads_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system has no more processes to give."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(FILE * 50)

    def refused(_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(BaseProcess, "start", refused)
    assert exactly(path, WANTED) == _in_pieces(path, 2, 500, one_pass=True)


def test_a_file_that_is_replaced_meanwhile_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that was opened is the one that counts, for the other processes too."""
    path, other, start = tmp_path / "t.jsonl", tmp_path / "other.jsonl", team.start
    for target, step in ((path, 1), (other, 2)):
        target.write_bytes(lines(*(row(seq, event="train_step", step=step) for seq in range(200))))
    expected = exactly(path, WANTED)

    def late(*arguments: Any) -> Any:
        other.replace(path)
        return start(*arguments)

    monkeypatch.setattr(team, "start", late)
    assert expected == _in_pieces(path, 2, 500, one_pass=True)
    assert expected != exactly(path, WANTED)


@pytest.mark.parametrize("left", [0, 700, len(FILE) * 30])
def test_a_file_that_becomes_shorter_meanwhile(left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other processes have read by then is not given as if it were all of it."""
    path, start = tmp_path / "t.jsonl", team.start
    path.write_bytes(FILE * 50)

    def late(*arguments: Any) -> Any:
        os.truncate(path, left)
        return start(*arguments)

    monkeypatch.setattr(team, "start", late)
    with pytest.raises(TraceFileError, match="became shorter while it was read"):
        _in_pieces(path, 2, 500, one_pass=True)


def test_a_call_cut_in_one_piece_and_published_in_the_next(tmp_path: Path) -> None:
    """Calls are split at refits whichever process met these: 40 of 100 tokens on version 1, 60 on version 2.

    Trained as version 3 that is (40 * 2 + 60 * 1) / 100 = 1.4 versions.
    """
    path = tmp_path / "t.jsonl"
    rows = [
        row(0, event="weight_sync", replaced_version=1, new_version=2, calls=[["c", 40]]),
        *(row(seq, event="attempt_sealed", attempt_id=str(seq)) for seq in range(1, 50)),
        row(50, event="group_published", group_id="g", call_versions=[["c", 1, 100]]),
        row(51, event="train_step", step=1, trained_version=3, group_ids=["g"]),
        *(row(seq, event="attempt_sealed", attempt_id=str(seq)) for seq in range(52, 80)),
    ]
    path.write_bytes(lines(*rows))
    with mock.patch.multiple(parallel, PIECE_BYTES=200, MIN_BYTES=0):
        assert {1: pytest.approx(1.4)} == recomputed_batch_age_by_step(read_events(path, jobs=3))


def test_a_reading_that_is_given_up_leaves_no_process(tmp_path: Path) -> None:
    """Closing the reader ends them."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(FILE * 200)
    with mock.patch.multiple(parallel, PIECE_BYTES=500, MIN_BYTES=0), read_events(path, jobs=2) as reader:
        next(reader.only(["train_step"]))
    assert [] == multiprocessing.active_children()


_WAITING: Final = """
import os, signal, sys, time
from rtrace_otel.analysis.reading import parallel, team
from rtrace_otel.analysis.reading.reader import read_events

signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background, it is ignored
asking, picked, claim = os.getpid(), team._picked, team.Team._claim

def claim_later(both):
    while not os.path.exists(sys.argv[1]):  # else this process may pick all before the other one has begun
        time.sleep(0.005)
    return claim(both)

def wait(*arguments):
    if os.getpid() == asking:
        return picked(*arguments)
    with open(sys.argv[1], "w") as file:
        file.write(f"{os.getpid()}\\n")
    while True:
        signal.pause()

team._picked, team.Team._claim = wait, claim_later
parallel.MIN_BYTES, parallel.PIECE_BYTES = 0, 500
try:
    list(read_events(sys.argv[2], jobs=2).only(["train_step"]))
except KeyboardInterrupt:
    sys.exit("interrupted")
"""
"""A reading that waits for another process, which says its number and never picks anything."""


@pytest.mark.parametrize(
    ("signal_number", "said"), [(signal.SIGKILL, b""), (signal.SIGINT, b"interrupted\n")], ids=["kill", "interrupt"]
)
def test_others_end_with_the_one_that_asked(signal_number: int, said: bytes, tmp_path: Path) -> None:
    """Killed, or interrupted on a terminal as all of them are; they say nothing."""
    path, there = tmp_path / "t.jsonl", tmp_path / "there"
    path.write_bytes(FILE * 50)
    with subprocess.Popen(
        [sys.executable, "-c", _WAITING, there, path], stderr=subprocess.PIPE, start_new_session=True
    ) as asking:
        until(lambda: there.exists() and there.read_text().endswith("\n"))
        other = os.pidfd_open(int(there.read_text()))
        try:
            if signal_number == signal.SIGKILL:
                asking.kill()
            else:
                os.killpg(asking.pid, signal_number)
            assert select.select([other], [], [], SOON_S)[0]
        finally:
            os.close(other)
        assert said == asking.communicate(timeout=SOON_S)[1]
