"""A process that answers a question about a file beside this one: its answer counts only if it is of the same bytes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from rtrace_otel.analysis.reading import beside as beside_module
from rtrace_otel.analysis.reading.beside import MIN_BYTES, NoAnswerError, beside, is_worth_it
from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.analysis.reading.starting import no_interrupt, way_to_start
from rtrace_otel.analysis.reading.window import Window, window_on
from tests.analysis.rows import lines, row

PATIENCE_S = 300
"""Nothing here takes a hundredth of it, on a busy machine neither."""


def _numbers(reader: EventReader) -> tuple[int, list[int]]:
    """In which process the rows were read, and their numbers."""
    return os.getpid(), [one["seq"] for one in reader]


def _numbers_when_told(told: Path, reader: EventReader) -> tuple[int, list[int]]:
    deadline = time.monotonic() + PATIENCE_S
    while not told.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return _numbers(reader)


def _killed_on_its_way(reader: EventReader) -> None:
    next(reader)
    os.kill(os.getpid(), signal.SIGKILL)


def _fails(reader: EventReader) -> NoReturn:
    raise MemoryError(next(reader))


def _never(_: EventReader) -> None:
    while True:
        signal.pause()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with three rows."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(lines(row(0), row(1), row(2)))
    return path


@pytest.fixture
def window(path: Path) -> Iterator[Window]:
    """A window on it."""
    window = window_on(path)
    assert window is not None
    with window:
        yield window


def _read(window: Window) -> list[int]:
    return [one["seq"] for one in read_events(window.stream)]


def test_both_read_the_file(window: Window) -> None:
    """Each in its own process; afterwards there is one."""
    with beside(window, _numbers) as other:
        assert other is not None
        assert [0, 1, 2] == _read(window)
        process, found = other.take()
    assert [0, 1, 2] == found
    assert os.getpid() != process
    assert [] == multiprocessing.active_children()


def test_with_threads(window: Window) -> None:
    """A copy of this process could not run then: a new one is started."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait, args=(PATIENCE_S,))
    thread.start()
    try:
        assert "spawn" == way_to_start().get_start_method()
        with beside(window, _numbers) as other:
            assert other is not None
            _read(window)
            assert [0, 1, 2] == other.take()[1]
    finally:
        over.set()
        thread.join()


def test_a_file_that_grows_meanwhile(window: Window, path: Path, tmp_path: Path) -> None:
    """What was there at the begin counts for both, whoever reads later."""
    with beside(window, partial(_numbers_when_told, tmp_path / "told")) as other:
        assert other is not None
        with path.open("ab") as file:
            file.write(lines(row(3)))
        (tmp_path / "told").touch()
        assert [0, 1, 2] == _read(window)
        assert [0, 1, 2] == other.take()[1]


def test_a_file_that_is_replaced(window: Window, path: Path, tmp_path: Path) -> None:
    """The other process finds another one: no answer."""
    (tmp_path / "new").write_bytes(lines(row(7)))
    (tmp_path / "new").replace(path)
    with beside(window, _numbers) as other:
        assert other is not None
        assert [0, 1, 2] == _read(window)
        with pytest.raises(NoAnswerError):
            other.take()


def test_a_file_that_is_written_over(window: Window, path: Path, tmp_path: Path) -> None:
    """The bytes that it read are others: no answer."""
    with beside(window, partial(_numbers_when_told, tmp_path / "told")) as other:
        assert other is not None
        assert [0, 1, 2] == _read(window)
        with path.open("r+b") as file:
            file.write(lines(row(5)))
        (tmp_path / "told").touch()
        with pytest.raises(NoAnswerError):
            other.take()


@pytest.mark.parametrize("question", [_killed_on_its_way, _fails])
def test_a_process_that_is_lost(question: object, window: Window, capfd: pytest.CaptureFixture[str]) -> None:
    """Killed, or out of memory: no answer, and no word of it on standard error."""
    assert callable(question)
    with beside(window, question) as other:
        assert other is not None
        _read(window)
        with pytest.raises(NoAnswerError):
            other.take()
    assert ("", "") == capfd.readouterr()


def test_it_is_killed_from_outside(window: Window) -> None:
    """As by the kernel for its memory."""
    with beside(window, _never) as other:
        assert other is not None
        (process,) = multiprocessing.active_children()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(NoAnswerError):
            other.take()


def test_leaving_the_block_ends_it(window: Window) -> None:
    """Whatever it does, and whatever went wrong here."""
    with pytest.raises(ZeroDivisionError), beside(window, _never):
        _ = 1 / 0
    assert [] == multiprocessing.active_children()


def test_no_room_for_a_process(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there is none, and nothing else is wrong."""

    def full() -> NoReturn:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", full)
    monkeypatch.setattr(beside_module, "way_to_start", lambda: multiprocessing.get_context("fork"))
    with beside(window, _numbers) as other:
        assert other is None


@pytest.mark.parametrize(
    ("size", "jobs", "expected"),
    [(MIN_BYTES, 2, True), (MIN_BYTES - 1, 2, False), (MIN_BYTES, 1, False), (MIN_BYTES, 8, True)],
)
def test_whether_it_is_worth_it(size: int, jobs: int, expected: bool) -> None:
    """For a large file, if more than one process is wanted."""
    assert expected == is_worth_it(size, jobs)


def test_processes_of_a_pool_start_no_others() -> None:
    """They end with the one that started them, which would leave the others behind."""
    with way_to_start().Pool(1) as pool:
        assert not pool.apply(is_worth_it, (MIN_BYTES, 2))


def _interrupted(reached: list[str]) -> None:
    with no_interrupt():
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)  # not to other threads that tests have left
        reached.append("the end")


def test_an_interrupt_waits_until_a_process_has_begun() -> None:
    """It would hit both in the middle of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    reached: list[str] = []
    try:
        with pytest.raises(KeyboardInterrupt):
            _interrupted(reached)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ["the end"] == reached
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, set())
