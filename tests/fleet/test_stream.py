"""Reading ahead of who reads, within bounds, and patience that ends."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.errors import TraceFileError
from rtrace_otel.fleet.patience import Patience, StoreError, is_silence, said
from rtrace_otel.fleet.stream import GIVE_UP, Health, Parts, Stream
from tests.servers import eventually

SOON = Patience(120.0)
SHORT = Patience(0.05)


def _of(*parts: bytes) -> Parts:
    return lambda: iter(parts)


def _silent() -> Iterator[bytes]:
    threading.Event().wait()
    yield b""


@given(st.lists(st.binary(min_size=1, max_size=50)), st.integers(1, 60))
def test_no_byte_is_lost_or_added(parts: list[bytes], size: int) -> None:
    """In whatever parts they come, and are asked for."""
    with Stream("s3://b/x", _of(*parts), SOON, Health()) as stream:
        read = list(iter(lambda: stream.read(size), b""))
        assert b"" == stream.read(size)
    assert b"".join(parts) == b"".join(filter(None, read))
    assert all(one is not None and len(one) <= size for one in read)


def test_two_parts_are_held_at_most() -> None:
    """One waits in the stream, one in the hands of its thread; the rest is not asked for before they are taken."""
    given_out: list[int] = []

    def parts() -> Iterator[bytes]:
        for number in range(10):
            given_out.append(number)
            yield b"x"

    with Stream("s3://b/x", parts, SOON, Health()) as stream:
        assert [0, 1] == eventually(lambda: list(given_out), until=lambda found: len(found) == 2)
        assert b"x" == stream.read(1)
        assert [0, 1, 2] == eventually(lambda: list(given_out), until=lambda found: len(found) == 3)


def test_who_closes_early_leaves_no_thread() -> None:
    """It ends at the part that it has, even where it waited for room."""
    ended = threading.Event()

    def parts() -> Iterator[bytes]:
        try:
            while True:
                yield b"x"
        finally:
            ended.set()

    stream = Stream("s3://b/x", parts, SOON, Health())
    assert b"x" == stream.read(1)
    stream.close()
    assert ended.wait(120)


def test_what_goes_wrong_is_raised_by_who_reads() -> None:
    """After the bytes before it, with the address, and at every later call."""

    def parts() -> Iterator[bytes]:
        yield b"abc"
        raise PermissionError("Access Denied")

    with Stream("s3://b/x", parts, SOON, Health()) as stream:
        assert b"abc" == stream.read(10)
        for _ in range(2):
            with pytest.raises(TraceFileError, match="x: no permission: Access Denied"):
                stream.read(10)


def test_a_silent_store_is_given_up_until_it_answers() -> None:
    """Files of it that have come meanwhile are read all the same, and then it is waited for again."""
    health = Health()
    for _ in range(GIVE_UP):
        with (
            Stream("s3://b/x", _silent, SHORT, health) as stream,
            pytest.raises(TraceFileError, match="no usable answer"),
        ):
            stream.wait()
    refused = pytest.raises(TraceFileError, match="not waited for: 3 others in a row got no answer")
    with Stream("s3://b/x", _silent, SOON, health) as stream, refused:
        stream.wait()
    assert health.given_up
    with Stream("s3://b/x", _of(b"x"), SOON, health) as stream:
        eventually(stream._filler.parts.full)
        assert b"x" == stream.read(1)
    assert not health.given_up


def test_a_refusal_is_an_answer() -> None:
    """A store that refuses many objects in a row is not silent."""

    def parts() -> Iterator[bytes]:
        raise PermissionError("Access Denied")
        yield b""

    health = Health(silent=GIVE_UP - 1)
    with Stream("s3://b/x", parts, SOON, health) as stream, pytest.raises(TraceFileError):
        stream.wait()
    assert 0 == health.silent


def test_several_at_a_time_and_each_once() -> None:
    """More items than threads; what one raises is its own answer."""
    answers = dict(SOON.each(lambda number: 10 // (number - 7), list(range(100))))
    assert isinstance(answers.pop(7), ZeroDivisionError)
    assert {number: 10 // (number - 7) for number in range(100) if number != 7} == answers


def test_what_does_not_come_is_said() -> None:
    """Of all that were asked for at once, and of one."""
    never = threading.Event()
    answers = dict(SHORT.each(lambda _: never.wait(), [0, 1]))
    assert ["the store gave no usable answer within 0.05 s"] * 2 == [str(answers[place]) for place in (0, 1)]
    with pytest.raises(StoreError, match="no usable answer"):
        SHORT.within(never.wait)
    never.set()


def _from(cause: Exception) -> FileNotFoundError:
    error = FileNotFoundError("https://host/x")
    error.__cause__ = cause
    return error


class EndpointConnectionError(Exception):
    """As a client of a store names it."""


class HttpError(Exception):
    """As the client of another store raises it: without a word for a code without a body."""

    code = 401


@pytest.mark.parametrize(
    ("error", "silent", "words"),
    [
        (FileNotFoundError(2, "gone"), False, "no such file"),
        (PermissionError(13, "Access Denied"), False, "no permission: Access Denied"),
        (OSError("Forbidden: b/team/o\n"), False, "no permission: Forbidden: b/team/o"),
        (OSError(121, "Internal Server Error"), False, "the store said: Internal Server Error"),
        (ConnectionRefusedError(111, "refused"), True, "ConnectionRefusedError: refused"),
        (TimeoutError(), True, "TimeoutError: "),
        (EndpointConnectionError("no\nroute"), True, "EndpointConnectionError: no route"),
        (_from(EndpointConnectionError("no route")), True, "EndpointConnectionError: no route"),
        (_from(ValueError("404")), False, "no such file"),
        (HttpError(", 401"), False, "no permission: 401"),
        (TraceFileError("x", "no event"), False, "no event"),
        (ValueError("x" * 1000), False, "ValueError: " + "x" * 500),
    ],
)
def test_words(error: Exception, silent: bool, words: str) -> None:
    """One line, in the words of this package where it has some, else in the client's own, and not without end."""
    assert (silent, words) == (is_silence(error), said(error))
