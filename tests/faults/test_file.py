"""A file that is deleted, renamed, replaced or cut, and one that cannot be made yet, while the recorder runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S
from tests.record.written import all_rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the trace is, in a folder of its own."""
    return tmp_path / "logs" / "trace.jsonl"


def outline(path: Path) -> list[object]:
    """The test's own rows by their number, a gap by its loss, the others by their name."""
    return [
        ("lost", row["lost"]) if row["event"] == "trace_gap" else row.get("n", row["event"]) for row in all_rows(path)
    ]


def emit(trace: RolloutTrace, *numbers: int) -> None:
    """Emit rows and wait until they are written."""
    for n in numbers:
        trace.emit("mine", n=n)
    assert trace.flush(SOON_S)


def delete(path: Path) -> None:
    """The file goes, its folder stays."""
    path.unlink()


def delete_folder(path: Path) -> None:
    """The file goes with its folder."""
    shutil.rmtree(path.parent)


def replace(path: Path) -> None:
    """Another file takes the name."""
    other = path.with_name("other")
    other.write_bytes(b"")
    other.replace(path)


GONE: dict[str, Callable[[Path], None]] = {"deleted": delete, "folder deleted": delete_folder, "replaced": replace}


@pytest.mark.parametrize("lose", GONE.values(), ids=GONE)
def test_deleted(path: Path, lose: Callable[[Path], None]) -> None:
    """Recording goes on in a new file, which says how many rows were in the old one."""
    trace = RolloutTrace(path)
    emit(trace, 0, 1, 2)
    lose(path)
    emit(trace, 3)
    emit(trace, 4)

    assert trace.close()
    rows = outline(path)
    assert ([3, 4, "run_ended"], [("lost", 4)]) == (
        [row for row in rows if not isinstance(row, tuple)],
        [row for row in rows if isinstance(row, tuple)],
    )


@pytest.mark.parametrize("lose", GONE.values(), ids=GONE)
def test_deleted_before_the_end(path: Path, lose: Callable[[Path], None]) -> None:
    """A loss that comes to light only at the close is written down too."""
    trace = RolloutTrace(path)
    emit(trace, 0, 1, 2)
    lose(path)

    assert trace.close()
    assert {("lost", 4), "run_ended"} == set(outline(path))


def test_deleted_twice(path: Path) -> None:
    """Each loss is counted once."""
    trace = RolloutTrace(path)
    emit(trace, 0)
    path.unlink()
    emit(trace, 1)
    emit(trace, 2)
    before = all_rows(path)
    path.unlink()
    emit(trace, 3)

    assert trace.close()
    assert [2] == [row["lost"] for row in before if row["event"] == "trace_gap"]
    assert [len(before)] == [row["lost"] for row in all_rows(path) if row["event"] == "trace_gap"]


def test_renamed(path: Path) -> None:
    """A file that was moved aside costs no row and is no loss."""
    trace = RolloutTrace(path)
    emit(trace, 0, 1)
    moved = path.with_suffix(".1")
    path.rename(moved)
    emit(trace, 2, 3)

    assert trace.close()
    rows = outline(moved) + (outline(path) if path.exists() else [])
    assert ["run_started", 0, 1, 2, 3, "run_ended"] == rows


def test_cut_to_nothing(path: Path) -> None:
    """A log rotation that copies the file and empties it leaves whole rows behind, without a hole before them."""
    trace = RolloutTrace(path)
    emit(trace, 0, 1)
    os.truncate(path, 0)
    emit(trace, 2)

    assert trace.close()
    assert [2, "run_ended"] == [row for row in outline(path) if not isinstance(row, tuple)]


def test_file_in_place_of_the_folder(path: Path) -> None:
    """Where the folder cannot be made, rows wait; when it can, all are there."""
    path.parent.write_bytes(b"")
    trace = RolloutTrace(path)
    for n in range(500):
        trace.emit("mine", n=n)
    assert not trace.flush(0.3)
    path.parent.unlink()
    emit(trace, 500)

    assert trace.close()
    assert ["run_started", *range(501), "run_ended"] == outline(path)
    assert 0 == trace.stats().lost


def test_symbolic_link(path: Path) -> None:
    """A link is followed, also one to a file that is not there yet."""
    path.parent.mkdir()
    target = path.with_name("target")
    path.symlink_to(target)
    with RolloutTrace(path) as trace:
        emit(trace, 0)

    assert ["run_started", 0, "run_ended"] == outline(target)
    assert path.is_symlink()


def test_folder_appears_at_the_path(tmp_path: Path) -> None:
    """A path that has become a folder by the time it is opened again is treated like one that was given as such."""
    path = tmp_path / "trace"
    trace = RolloutTrace(path)
    emit(trace, 0)
    path.unlink()
    path.mkdir()
    emit(trace, 1)

    assert trace.close()
    assert {1, ("lost", 2), "run_ended"} == set(outline(path / "rollout_trace.jsonl"))
