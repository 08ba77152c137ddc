"""A question about a file that another process answers, while this one reads the same bytes for other questions."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Final, Generic, TypeVar

from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.analysis.reading.starting import begin, end, may_start, no_interrupt, way_to_start
from rtrace_otel.analysis.reading.window import Extent, Window, same_window

MIN_BYTES: Final = 1024 * 1024
"""A smaller file is read by one process: starting another takes longer than it saves."""

_Answer = TypeVar("_Answer")


class NoAnswerError(Exception):
    """The other process gave no answer, or it is one about other bytes."""


class Beside(Generic[_Answer]):
    """A process that reads a file and sends what it finds.

    Args:
        process: The process; it has been started.
        connection: Where its answer comes from.
        window: What this process reads meanwhile.
    """

    def __init__(self, process: BaseProcess, connection: Connection, window: Window) -> None:
        """Nothing was heard of it yet."""
        self._process = process
        self._connection = connection
        self._window = window

    def take(self) -> _Answer:
        """Its answer; call it once, when this process has read the file too.

        Raises:
            NoAnswerError: It was killed, or it read other bytes: the file was replaced, or written over.
        """
        try:
            answer: _Answer
            answer, seen = self._connection.recv()
        except (EOFError, OSError):
            raise NoAnswerError from None
        if seen != self._window.seen:
            raise NoAnswerError
        return answer

    def stop(self) -> None:
        """End it, whatever it does."""
        end(self._process, self._connection)


def is_worth_it(size: int, jobs: int) -> bool:
    """Whether a second process may be started for a file, and saves time.

    Args:
        size: Of the file, in bytes.
        jobs: How many processes are wanted at most.
    """
    return jobs > 1 and size >= MIN_BYTES and may_start()


@contextmanager
def beside(window: Window, question: Callable[[EventReader], _Answer]) -> Iterator[Beside[_Answer] | None]:
    """Another process that reads a file; it is ended when the block is left.

    Args:
        window: The bytes that both read.
        question: Called there, with a reader of these bytes. It is pickled, and so is what it gives.

    Yields:
        The process; ``None`` if the system has no room for one more.
    """
    try:
        other: Beside[_Answer] = _started(window, question)
    except OSError:
        yield None
        return
    try:
        yield other
    finally:
        other.stop()


def _started(window: Window, question: Callable[[EventReader], _Answer]) -> Beside[_Answer]:
    context = way_to_start()
    ours, theirs = context.Pipe(duplex=False)
    arguments = (theirs, window.extent, question, gc.get_threshold())
    process = context.Process(target=_answer, args=arguments, daemon=True)
    try:
        with no_interrupt():
            process.start()
    except OSError:
        ours.close()
        raise
    finally:
        theirs.close()
    return Beside(process, ours, window)


def _answer(
    connection: Connection,
    extent: Extent,
    question: Callable[[EventReader], object],
    threshold: tuple[int, int, int],
) -> None:
    begin()
    gc.set_threshold(*threshold)
    try:
        window = same_window(extent)
        if window is not None:
            with window, read_events(window.stream) as reader:
                connection.send((question(reader), window.seen))
    except Exception:
        return  # who asked reads on alone, and says what is wrong
