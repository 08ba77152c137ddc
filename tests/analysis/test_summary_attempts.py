"""Attempts by outcome: each that began ended in exactly one way."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.summary_results import AttemptCounts
from rtrace_otel.events import Row
from tests.report.history import (
    abandoned,
    dispatched,
    ended,
    event,
    refused,
    resumed,
    sealed,
    started,
    trace,
)  # fmt: skip


def counts(
    begun: int,
    sealed: int = 0,
    masked: int = 0,
    abandoned: dict[str, int] | None = None,
    interrupted: int = 0,
    still_open: int = 0,
    refusals: int = 0,
    resumed: dict[str, int] | None = None,
) -> AttemptCounts:
    """Expected counts; what is not named is zero."""
    return AttemptCounts(begun, sealed, masked, abandoned or {}, interrupted, still_open, refusals, resumed or {})


CASES: dict[str, tuple[list[Row], AttemptCounts]] = {
    "sealed": ([dispatched("a", "x"), sealed("a", "x")], counts(1, sealed=1)),
    "masked": ([dispatched("a", "x"), sealed("a", "x", masked=True)], counts(1, sealed=1, masked=1)),
    "explicitly not masked": ([dispatched("a", "x"), sealed("a", "x", masked=False)], counts(1, sealed=1)),
    "abandoned": ([dispatched("a", "x"), abandoned("a", "x")], counts(1, abandoned={"timeout": 1})),
    "reasons": (
        [dispatched("a", n) for n in "xyz"] + [abandoned("a", n, r) for n, r in ("xa", "yb", "za")],
        counts(3, abandoned={"a": 2, "b": 1}),
    ),
    "refused and sent again": (
        [dispatched("a", "x"), refused("a", "x"), dispatched("a", "x"), refused("a", "x"), dispatched("a", "x"),
         sealed("a", "x")],
        counts(1, sealed=1, refusals=2),
    ),
    "refused and given up": (
        [dispatched("a", "x"), refused("a", "x"), abandoned("a", "x", "stale")],
        counts(1, abandoned={"stale": 1}, refusals=1),
    ),
    "refused at the end": ([dispatched("a", "x"), refused("a", "x")], counts(1, still_open=1, refusals=1)),
    "refused and killed": (
        [dispatched("a", "x"), refused("a", "x"), started("b")], counts(1, interrupted=1, refusals=1)
    ),
    "open at the end of the file": ([dispatched("a", "x")], counts(1, still_open=1)),
    "open when its run ended": ([dispatched("a", "x"), ended("a"), started("b")], counts(1, still_open=1)),
    "open at a kill": ([dispatched("a", "x"), started("b"), ended("b")], counts(1, interrupted=1)),
    "turn resumed under a new id": (
        [dispatched("a", "x"), started("b"), resumed("b", "y", "turn", "x"), sealed("b", "y")],
        counts(2, sealed=1, interrupted=1, resumed={"turn": 1}),
    ),
    "turn resumed under the same id": (
        [dispatched("a", "x"), started("b"), resumed("b", "x", "turn", "x"), sealed("b", "x")],
        counts(2, sealed=1, interrupted=1, resumed={"turn": 1}),
    ),
    "dispatched again by the run after under the same id": (
        [dispatched("a", "x"), started("b"), dispatched("b", "x"), sealed("b", "x")],
        counts(2, sealed=1, interrupted=1),
    ),
    "one id in two runs at once": (
        [dispatched("a", "x"), dispatched("b", "x"), sealed("a", "x"), abandoned("b", "x")],
        counts(2, sealed=1, abandoned={"timeout": 1}),
    ),
    "prefix resumed and open": (
        [dispatched("a", "x"), started("b"), resumed("b", "y", "prefix", "x")],
        counts(2, interrupted=1, still_open=1, resumed={"prefix": 1}),
    ),
    "resumed, killed again, resumed again": (
        [dispatched("a", "x"), started("b"), resumed("b", "y", "turn", "x"), started("c"),
         resumed("c", "z", "turn", "y"), abandoned("c", "z")],
        counts(3, abandoned={"timeout": 1}, interrupted=2, resumed={"turn": 2}),
    ),
    "sealed sibling kept": (
        [dispatched("a", "x"), sealed("a", "x"), started("b"), resumed("b", "x", "sibling")],
        counts(1, sealed=1, resumed={"sibling": 1}),
    ),
    "sealed twice": ([dispatched("a", "x"), sealed("a", "x"), sealed("a", "x")], counts(1, sealed=1)),
    "sealed, then abandoned": ([dispatched("a", "x"), sealed("a", "x"), abandoned("a", "x")], counts(1, sealed=1)),
    "abandoned, then sealed": (
        [dispatched("a", "x"), abandoned("a", "x"), sealed("a", "x", masked=True)], counts(1, abandoned={"timeout": 1})
    ),
    "ends of what never began": ([sealed("a", "x"), abandoned("a", "y"), refused("a", "z")], counts(0, refusals=1)),
    "sealed by the run after": ([dispatched("a", "x"), started("b"), sealed("b", "x")], counts(1, sealed=1)),
    "begun anew after its end": (
        [dispatched("a", "x"), sealed("a", "x"), dispatched("a", "x"), abandoned("a", "x")],
        counts(2, sealed=1, abandoned={"timeout": 1}),
    ),
    "runs that interleave": (
        [dispatched("a", "x"), dispatched("b", "y"), sealed("a", "x"), dispatched("a", "z"), sealed("b", "y"),
         dispatched("b", "w"), ended("a"), ended("b")],
        counts(4, sealed=2, still_open=2),
    ),
    "open in a forked child": (
        [started("a"), started("child", parent_run="a"), dispatched("child", "x"), dispatched("a", "y"), ended("a")],
        counts(2, still_open=2),
    ),
    "ids that are numbers": (
        [dispatched("a", "7"), event("a", "attempt_sealed", attempt_id=7)], counts(1, sealed=1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_attempts_by_outcome(case: str) -> None:
    """Every history has the counts that follow from it by hand, and they add up."""
    events, expected = CASES[case]
    found = summarise(trace(*events))
    found.self_check()

    assert expected == found.attempts
