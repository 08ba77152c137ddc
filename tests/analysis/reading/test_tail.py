"""A file that grows, is torn, cut short, replaced or not there: its rows, and what is said of it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.reading import batches
from rtrace_otel.analysis.reading import tail as module
from rtrace_otel.analysis.reading.damage import DamageKind as Kind
from rtrace_otel.analysis.reading.tail import REMEMBERED_BYTES, Tail
from rtrace_otel.errors import TraceFileError
from rtrace_otel.events import Row
from tests.analysis.rows import faults, lines, read, row, text

ROWS = [row(seq) for seq in range(6)]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def looked(tail: Tail) -> tuple[bool, list[Row]]:
    anew, rows = tail.look()
    return anew, list(rows)


def test_each_row_comes_once(tmp_path: Path) -> None:
    """At the look after it was written."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    for one in ROWS:
        append(path, lines(one))

        assert (False, [one]) == looked(tail)
        assert (False, []) == looked(tail)
    assert (len(ROWS), True) == (tail.report.rows, tail.report.intact)


def test_a_look_reads_what_is_new_and_no_more(tmp_path: Path) -> None:
    """And 64 bytes before it, to recognise the file; nothing if nothing was added."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    first, second = lines(*(row(seq) for seq in range(2000))), lines(row(2000))
    append(path, first)
    looked(tail)
    assert (len(first), 0) == (tail.state.bytes_read, tail.state.bytes_behind)

    append(path, second)
    looked(tail)
    assert REMEMBERED_BYTES + len(second) == tail.state.bytes_read

    looked(tail)
    assert 0 == tail.state.bytes_read


def test_a_large_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look reads a bounded part, wherever it cuts a line, and says how much is left."""
    monkeypatch.setattr(module, "MAX_LOOK_BYTES", 100)
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS))
    size, rows, behind = path.stat().st_size, list[Row](), list[int]()
    while not behind or behind[-1]:
        rows += looked(tail)[1]
        behind.append(tail.state.bytes_behind)

    assert ROWS == rows
    assert [max(size - 100 * looks, 0) for looks in range(1, -(-size // 100) + 1)] == behind


def test_a_torn_line_waits_for_its_end(tmp_path: Path) -> None:
    """It is no damage while it may still be completed."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(ROWS[0]) + text(ROWS[1])[:20])
    assert (False, [ROWS[0]]) == looked(tail)
    assert (20, True) == (tail.state.torn_bytes, tail.report.intact)

    append(path, text(ROWS[1])[20:] + b"\n")
    assert (False, [ROWS[1]]) == looked(tail)
    assert (0, True) == (tail.state.torn_bytes, tail.report.intact)


def test_a_line_that_stays_torn_is_damage_once_another_follows(tmp_path: Path) -> None:
    """A run was killed in the middle of a row, and the next one began on a new line."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, text(ROWS[0])[:20])
    looked(tail)
    append(path, b"\n" + lines(ROWS[1]))

    assert (False, [ROWS[1]]) == looked(tail)
    assert [(1, Kind.TORN_ROW, 0)] == faults(tail.report)


def test_a_last_row_without_a_newline_is_given_at_the_finish(tmp_path: Path) -> None:
    """As every other command gives it."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(ROWS[0]) + text(ROWS[1]))
    looked(tail)

    assert [ROWS[1]] == list(tail.finish())


def test_a_torn_last_row_is_damage_at_the_finish(tmp_path: Path) -> None:
    """As every other command reports it."""
    data = lines(ROWS[0]) + text(ROWS[1])[:30]
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, data)
    looked(tail)

    assert [] == list(tail.finish())
    assert faults(read(data)[1]) == faults(tail.report) == [(2, Kind.TORN_TAIL, 0)]


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_a_file_that_is_cut_short_is_begun_anew(kept: int, tmp_path: Path) -> None:
    """What it holds now is what it holds: all of it comes again."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS))
    looked(tail)
    path.write_bytes(lines(*ROWS[:kept]))

    assert (True, ROWS[:kept]) == looked(tail)
    assert (1, kept) == (tail.state.begun_anew, tail.report.rows)
    assert (False, []) == looked(tail)


def test_a_file_that_is_written_anew_and_has_grown_past_is_recognised(tmp_path: Path) -> None:
    """Same inode, more bytes than before, but other ones where the last look ended."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS[:2]))
    looked(tail)
    others = [row(seq, "b") for seq in range(4)]
    inode = path.stat().st_ino
    path.write_bytes(lines(*others))

    assert inode == path.stat().st_ino
    assert (True, others) == looked(tail)


def test_a_file_of_the_same_size_is_recognised_as_another(tmp_path: Path) -> None:
    """By the time at which it was written."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(ROWS[0]))
    looked(tail)
    path.write_bytes(lines(row(0, "b")))
    os.utime(path, ns=(1, 1))

    assert (True, [row(0, "b")]) == looked(tail)


def test_a_file_that_takes_its_place_is_read_from_its_begin(tmp_path: Path) -> None:
    """Another inode under the same name."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS) + b'{"event":"torn')
    looked(tail)
    others = [row(seq, "b") for seq in range(20)]
    (tmp_path / "other").write_bytes(lines(*others))
    (tmp_path / "other").replace(path)

    assert (True, others) == looked(tail)
    assert tail.report.intact


def test_a_copy_that_is_brought_up_to_date_goes_on(tmp_path: Path) -> None:
    """It has another inode each time, but what was read is still there."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS[:3]))
    looked(tail)
    (tmp_path / "other").write_bytes(lines(*ROWS))
    (tmp_path / "other").replace(path)

    assert (False, ROWS[3:]) == looked(tail)
    assert 0 == tail.state.begun_anew


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    """Its folder neither."""
    folder = tmp_path / "logs"
    path, tail = folder / "rollout_trace.jsonl", Tail(str(folder))
    assert (False, []) == looked(tail)
    assert (str(folder), True, False) == (tail.state.path, tail.state.missing, tail.state.ever_read)

    folder.mkdir()
    assert (False, []) == looked(tail)
    assert (str(path), True, False) == (tail.state.path, tail.state.missing, tail.state.ever_read)

    append(path, lines(*ROWS))
    assert (False, ROWS) == looked(tail)
    assert (False, True) == (tail.state.missing, tail.state.ever_read)


def test_a_file_that_goes_and_comes_back_goes_on(tmp_path: Path) -> None:
    """A folder that is unmounted for a while loses nothing."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS[:3]))
    looked(tail)
    path.rename(tmp_path / "away")
    assert (False, []) == looked(tail)
    assert (True, True) == (tail.state.missing, tail.state.ever_read)

    (tmp_path / "away").rename(path)
    append(path, lines(*ROWS[3:]))
    assert (False, ROWS[3:]) == looked(tail)


def test_an_error_of_the_file_system_is_said_and_got_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a server is away."""
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, lines(*ROWS[:3]))
    looked(tail)
    append(path, lines(*ROWS[3:]))

    def stale(*_: object, **__: object) -> None:
        raise OSError(116, "Stale file handle")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "open", stale)
        assert (False, []) == looked(tail)
        assert ("Stale file handle", False) == (tail.state.problem, tail.state.missing)

    assert (False, ROWS[3:]) == looked(tail)
    assert tail.state.problem is None


@pytest.mark.parametrize("in_folder", [True, False])
def test_a_gzip_is_refused(in_folder: bool, tmp_path: Path) -> None:
    """It does not grow, so there is nothing to follow."""
    path = tmp_path / "rollout_trace.jsonl.gz"
    path.write_bytes(gzip.compress(lines(*ROWS)))

    with pytest.raises(TraceFileError, match=r"rollout_trace\.jsonl\.gz: is a gzip, which does not grow"):
        Tail(str(tmp_path if in_folder else path)).look()


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """Opening one would wait for who writes it."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(TraceFileError, match="is no regular file"):
        Tail(str(tmp_path / "pipe")).look()


def test_a_line_without_end_takes_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system can leave gigabytes of NUL; the row behind them is found."""
    monkeypatch.setattr(batches, "MAX_LINE_BYTES", 200)
    monkeypatch.setattr(module, "MAX_LOOK_BYTES", 128)
    path, tail = tmp_path / "t.jsonl", Tail(str(tmp_path / "t.jsonl"))
    append(path, bytes(10_000) + lines(ROWS[0], ROWS[1]))
    rows, most, behind = list[Row](), 0, 1
    while behind:
        rows += looked(tail)[1]
        most, behind = max(most, tail.state.torn_bytes), tail.state.bytes_behind

    assert ROWS[:2] == rows
    assert most < 200
    assert Kind.NUL_BYTES in tail.report.damage_counts


@given(st.lists(st.binary(max_size=40) | st.sampled_from([text(row(0)), text(row(1)), b"\n", b"\r\n"]), max_size=12))
def test_looks_give_what_one_reading_gives(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes]) -> None:
    """However the file grows, byte by damaged byte: the same rows and the same report."""
    path = tmp_path_factory.mktemp("tail") / "t.jsonl"
    path.touch()
    tail, rows = Tail(str(path)), list[Row]()
    data = b"x" + b"".join(pieces)
    for piece in (b"x", *pieces):
        append(path, piece)
        anew, found = looked(tail)
        assert not anew
        rows += found
    rows += tail.finish()
    expected, report = read(data)

    assert repr(expected) == repr(rows)  # NaN is not equal to itself
    assert (faults(report), report.lines) == (faults(tail.report), tail.report.lines)
