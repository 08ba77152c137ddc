"""The servers know the version of every token: one call at ten tokens a second, worked out by hand."""

from __future__ import annotations

import pytest

from rtrace_otel.testing.servers import Agenda, Servers
from rtrace_otel.testing.state import Call


class Bench:
    """Servers with version 3 in force at time 100, and what has ended."""

    def __init__(self, offset: int = 0) -> None:
        self.agenda = Agenda(100.0)
        self.servers = Servers(self.agenda, 3, offset)
        self.ended: list[float] = []

    def call(self, tokens: int = 100, call_id: str = "x:0") -> Call:
        """Begin a call now."""
        call = Call(call_id, self.servers.label, tokens, 10.0)
        self.servers.begin(call, lambda: self.ended.append(self.agenda.now))
        return call

    def refit(self, at: float, version: int, seconds: float = 1.0) -> list[list[object]]:
        """Pause the calls and install a version."""
        self.agenda.advance_to(at)
        self.servers.pause()
        self.agenda.advance_to(at + seconds)
        return self.servers.install(version)


def test_a_call_without_a_refit() -> None:
    """100 tokens take 10 s."""
    bench = Bench()
    call = bench.call()
    assert pytest.approx(110.0) == bench.servers.due()
    bench.servers.do_next()

    assert ([(3, 100)], [110.0]) == (call.segments, bench.ended)
    assert bench.servers.due() is None


def test_refits_cut_a_call_where_it_stands() -> None:
    """Paused at 4 s (40 tokens) and, 3 s of running later, at 70; two pauses of 1 s: it ends at 112."""
    bench = Bench()
    call = bench.call()
    assert [["x:0", 40]] == bench.refit(104.0, 4)
    assert [["x:0", 70]] == bench.refit(108.0, 5)
    assert pytest.approx(112.0) == bench.servers.due()
    bench.servers.do_next()

    assert [(3, 40), (4, 30), (5, 30)] == call.segments
    assert {"x:0": [(40, 4), (70, 5)]} == bench.servers.cuts


def test_nothing_ends_during_a_pause() -> None:
    """A paused call makes no token, and is not due."""
    bench = Bench()
    call = bench.call()
    bench.agenda.advance_to(104.0)
    bench.servers.pause()
    bench.agenda.advance_to(150.0)

    assert bench.servers.due() is None
    assert 40 == bench.servers.count(call)


def test_a_call_that_begins_during_a_pause_has_no_token() -> None:
    """It is listed with 0, and all its tokens are the new version's, although it began on the old one."""
    bench = Bench()
    bench.servers.pause()
    bench.agenda.advance_to(101.0)
    call = bench.call()
    bench.agenda.advance_to(102.0)
    assert [["x:0", 0]] == bench.servers.install(4)
    bench.servers.do_next()

    assert (3, [(4, 100)], [112.0]) == (call.begin_label, call.segments, bench.ended)


def test_a_cancelled_call_has_the_tokens_that_it_had() -> None:
    """Cancelled at 2.55 s: 25 tokens; it never ends, and the next call is due."""
    bench = Bench()
    call = bench.call()
    bench.call(200, "y:0")
    bench.agenda.advance_to(102.55)
    bench.servers.cancel(call)

    assert (25, [(3, 25)]) == (call.tokens, call.segments)
    assert pytest.approx(120.0) == bench.servers.due()


def test_counting_twice_splits_nothing() -> None:
    """Tokens that one version made are one segment."""
    bench = Bench()
    call = bench.call()
    bench.agenda.advance_to(102.0)
    bench.servers.count(call)
    bench.servers.do_next()

    assert [(3, 100)] == call.segments


def test_rows_can_count_from_another_version() -> None:
    """Truth counts from the job's start: version 3 is labelled 0, and the next 1."""
    bench = Bench(offset=3)
    call = bench.call()
    bench.refit(105.0, 4)
    bench.servers.do_next()

    assert (0, [(3, 50), (4, 50)], {"x:0": [(50, 1)]}) == (call.begin_label, call.segments, bench.servers.cuts)


def test_a_checkpoint_keeps_the_first_tokens() -> None:
    """55 tokens of a call with 40 from version 3 and 30 from version 4."""
    call = Call("x:0", 3, 100, 10.0)
    call.count_to(40, 3)
    call.count_to(70, 4)
    kept = call.stored(55)

    assert (55, [(3, 40), (4, 15)]) == (kept.tokens, kept.segments)
    assert 70 == call.counted


def test_the_clock_never_goes_back() -> None:
    """An action that is overdue happens now."""
    agenda = Agenda(100.0)
    happened: list[float] = []
    agenda.after(5.0, lambda: happened.append(agenda.now))
    agenda.advance_to(107.0)
    agenda.do_next()

    assert ([107.0], None) == (happened, agenda.due())
