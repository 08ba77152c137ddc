"""When rows are forced to the disk, and what happens where that fails."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rtrace_otel.record.jsonl import FsyncPolicy
from rtrace_otel.record.trace import RolloutTrace
from tests.record.disk import FaultyDisk
from tests.record.written import all_rows

SOON_S = 3.0


@pytest.fixture
def disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyDisk:
    """Counts what is forced to the disk."""
    return FaultyDisk(file, monkeypatch)


def record(trace: RolloutTrace) -> None:
    """Five rows, each written by itself; the second and the fourth are about checkpoints."""
    trace.emit("mine")
    trace.flush(SOON_S)
    trace.checkpoint_published("c1", 1)
    trace.flush(SOON_S)
    trace.checkpoint_started()
    trace.flush(SOON_S)
    trace.emit("checkpoint_restored", checkpoint_id="c1", step=1)
    trace.flush(SOON_S)
    trace.train_step(1, 2, ["g"])
    trace.flush(SOON_S)


@pytest.mark.parametrize(
    ("policy", "expected"), [("never", []), ("checkpoint", [3, 5, 7]), ("always", [1, 2, 3, 4, 5, 6, 7, 7])]
)
def test_policies(file: Path, disk: FaultyDisk, policy: FsyncPolicy, expected: list[int]) -> None:
    """Never; after each checkpoint row and at close; after every chunk. The write before is the one forced."""
    trace = RolloutTrace(file, fsync=policy)
    trace.flush(SOON_S)
    record(trace)
    trace.close()

    assert (7, set(expected), len(expected)) == (len(disk.writes), set(disk.synced), len(disk.synced))


def test_default_policy(file: Path, disk: FaultyDisk) -> None:
    """By default a checkpoint and the end of the run are safe from a power cut."""
    trace = RolloutTrace(file)
    trace.flush(SOON_S)
    record(trace)
    trace.close()

    assert [3, 5, 7] == disk.synced


def test_checkpoint_in_the_middle_of_a_chunk(file: Path, disk: FaultyDisk) -> None:
    """A checkpoint row among others is on the disk when ``flush`` returns."""
    trace = RolloutTrace(file)
    trace.emit("mine")
    trace.checkpoint_published("c1", 1)
    trace.emit("mine")
    trace.flush(SOON_S)
    forced = [b"".join(disk.writes[:count]) for count in disk.synced]
    trace.close()

    assert any(b'"checkpoint_published"' in data for data in forced)


@pytest.mark.parametrize("policy", ["checkpoint", "always"])
@pytest.mark.parametrize("renamed", [False, True], ids=["file there", "file renamed"])
def test_failing_fsync(file: Path, disk: FaultyDisk, policy: FsyncPolicy, renamed: bool) -> None:
    """An I/O error while rows are forced to the disk costs no row, doubles none, and is not called a loss."""
    moved = file.with_name(file.name + ".moved")

    def fail() -> None:
        if renamed and not moved.exists():
            file.rename(moved)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    trace = RolloutTrace(file, fsync=policy)
    trace.flush(SOON_S)
    disk.on_sync = fail
    record(trace)

    assert trace.close()
    rows = [row for path in (moved, file) if path.exists() for row in all_rows(path)]
    own = ["mine", "checkpoint_published", "checkpoint_started", "checkpoint_restored", "train_step"]
    assert ["run_started", *own, "run_ended"] == [row["event"] for row in rows]


def test_flush_returns_when_fsync_fails(file: Path, disk: FaultyDisk) -> None:
    """Rows whose forcing failed are written all the same, which is what ``flush`` waits for."""

    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    disk.on_sync = fail
    trace = RolloutTrace(file, fsync="always")
    trace.emit("mine")

    assert (True, True) == (trace.flush(SOON_S), trace.close())
    assert ["run_started", "mine", "run_ended"] == [row["event"] for row in all_rows(file)]
