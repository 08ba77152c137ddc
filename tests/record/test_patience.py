"""A time limit that does not run while the process stands still."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from rtrace_otel.record.patience import SLICE_S, Patience


@dataclass
class Waited:
    """Waits that take as long as they are told; after the last of them what was waited for is done."""

    takes: Iterator[float]
    now: float = 1000.0
    asked: list[float] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def done(self, seconds: float) -> bool:
        self.asked.append(seconds)
        took = next(self.takes, None)
        self.now += took or 0.0
        return took is None


@pytest.mark.parametrize(
    ("limit_s", "takes", "answer"),
    [
        (1.0, [], True),
        (1.0, [SLICE_S] * 19, True),
        (1.0, [SLICE_S] * 21, False),
        (1.9, [60.0] * 3, True),  # three slices that took a minute each count as half a second each: 1.5 s
        (1.9, [60.0] * 4, False),
        (1.1, [0.4] * 2, True),  # that is slow, but it did not stand still: 0.8 s
        (1.1, [0.4] * 3, False),
        (0.0, [], True),
        (0.0, [0.0], False),
        (-5.0, [60.0], False),
    ],
)
def test_what_it_waits_for(limit_s: float, takes: list[float], answer: bool) -> None:
    """A slice counts as it took, but as half a second at most; one slice is waited for in any case."""
    waited = Waited(iter(takes))

    assert answer == Patience(limit_s, waited.clock).until(waited.done)
    assert {SLICE_S} == set(waited.asked)


def test_it_begins_again() -> None:
    """After progress the whole limit is left."""
    waited = Waited(iter([SLICE_S] * 30))
    patience = Patience(1.0, waited.clock)

    def done(seconds: float) -> bool:
        if len(waited.asked) == 15:
            patience.begin_again()
        return waited.done(seconds)

    assert patience.until(done)


def test_what_was_spent_before() -> None:
    """It is not left."""
    waited = Waited(iter([SLICE_S] * 11))
    patience = Patience(1.0, waited.clock)
    patience.spend(0.5)

    assert not patience.until(waited.done)
