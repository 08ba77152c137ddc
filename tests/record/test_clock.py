"""Unix seconds that never decrease, whatever the host's clock does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.record.clock import RunClock

START = 1_800_000_000.0


class FakeTime:
    """A host's wall clock, which can be stepped, and its monotonic clock, which only goes on."""

    def __init__(self) -> None:
        self.wall = START
        self.monotonic = 500.0
        self.clock = RunClock(lambda: self.wall, lambda: self.monotonic)

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds

    def now(self) -> float:
        return self.clock.unix_s(self.monotonic)


def test_follows_the_monotonic_clock() -> None:
    """The first answer is the wall clock's, and later ones go on by what the monotonic clock measures."""
    host = FakeTime()
    answers = [host.now()]
    for _ in range(3):
        host.advance(0.25)
        answers.append(host.now())

    assert [START, START + 0.25, START + 0.5, START + 0.75] == answers


def test_a_stamp_of_the_past_gets_its_own_time() -> None:
    """A row is dated when it happened, not when it was written."""
    host = FakeTime()
    stamp = host.monotonic
    host.advance(60.0)

    assert START == host.clock.unix_s(stamp)


def test_steady_clock_is_not_stepped() -> None:
    """Time that merely passes is no step, an hour of it included."""
    host = FakeTime()
    host.advance(3600.0)

    assert host.clock.stepped() is None


@pytest.mark.parametrize("jitter", [0.001, -0.001, 0.05, -0.05])
def test_small_jitter_is_left_alone(jitter: float) -> None:
    """Noise of scheduling is no step, and does not move the times."""
    host = FakeTime()
    host.wall += jitter

    assert (None, START) == (host.clock.stepped(), host.now())


@pytest.mark.parametrize("step", [1.0, 3600.0, 1e8])
def test_step_forward(step: float) -> None:
    """A step forward is reported once, with its size, and later times follow the host's clock."""
    host = FakeTime()
    host.now()
    host.wall += step

    assert [step, None] == [host.clock.stepped(), host.clock.stepped()]
    host.advance(1.0)
    assert START + step + 1.0 == host.now()


@pytest.mark.parametrize("step", [-1.0, -3600.0, -1e8])
def test_step_backward(step: float) -> None:
    """A step back is reported once, with its size, and later times do not go back but on."""
    host = FakeTime()
    before = host.now()
    host.wall += step

    assert [step, None] == [host.clock.stepped(), host.clock.stepped()]
    host.advance(1.0)
    assert before < host.now()


def test_two_steps_are_two_reports() -> None:
    """Each step is reported, with the host's clock minus the clock of the rows before it."""
    host = FakeTime()
    reports = []
    for step in (-10.0, -5.0, 15.0, 30.0):
        host.wall += step
        reports.append(host.clock.stepped())

    assert [-10.0, -15.0, 0.0, 30.0] == reports


def test_stamps_out_of_order() -> None:
    """Threads may queue their stamps in another order than they took them: no answer is below an earlier one."""
    host = FakeTime()
    stamps = [500.0, 500.3, 500.2, 500.1, 500.4]

    answers = [host.clock.unix_s(stamp) for stamp in stamps]
    assert sorted(answers) == answers
    assert START + 0.4 == pytest.approx(answers[-1], abs=1e-5)


STEPS = st.lists(
    st.tuples(
        st.floats(0, 1e4),  # time that passes
        st.one_of(st.just(0.0), st.floats(-1e6, 1e6)),  # the host's clock is stepped
        st.booleans(),  # somebody looks at the clock
        st.floats(0, 2),  # how old the stamp is
    ),
    max_size=30,
)


@given(steps=STEPS)
def test_never_decreases(steps: list[tuple[float, float, bool, float]]) -> None:
    """No sequence of steps, looks and stamps makes an answer smaller than one before it."""
    host = FakeTime()
    answers = [host.now()]
    for passed, step, look, age in steps:
        host.advance(passed)
        host.wall += step
        if look:
            host.clock.stepped()
        answers.append(host.clock.unix_s(host.monotonic - age))

    assert sorted(answers) == answers


@given(
    steps=st.lists(st.tuples(st.floats(0, 1e4), st.sampled_from([0.0, 1.0, -1.0, 7.5, -7.5, 1e6, -1e6])), max_size=30)
)
def test_reports_only_real_steps(steps: list[tuple[float, float]]) -> None:
    """A look reports something exactly if the clock was stepped since the look before it."""
    host = FakeTime()
    for passed, step in steps:
        host.advance(passed)
        host.wall += step
        assert (step != 0.0) == (host.clock.stepped() is not None)
