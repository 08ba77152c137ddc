"""Rows of a killed run that are written after the next run has begun: they belong to the killed run."""

from __future__ import annotations

import pytest

from rtrace_otel.events import Row
from tests.analysis.ledger.stories import back, keep, reserve, save, seal, send, told, train
from tests.report.history import ended, started, trace


def twice_stopped(*late: Row, sealed: bool) -> list[Row]:
    """Run a has attempt x of group g when b takes over, and c takes over from b; then b's late row comes; c ends."""
    result = [seal("a", "x", 30)] if sealed else []
    return trace(
        started("a"), save("a", 1), reserve("a", "g", "p"), send("a", "x", "g", "p"), *result, save("a", 2),
        started("b"), back("b", 2), reserve("b", "g", "p", origin_run="a"), started("c"), back("c", 2), *late,
        ended("c"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("late", "sealed", "first", "second"),
    [
        (send("b", "y", "g", "p"), True, {"x": "redone"}, {"y": "never_came_back"}),
        (keep("b", "y", "g", "turn", previous_attempt_id="x"), False, {"x": "resumed"}, {"y": "never_came_back"}),
        (keep("b", "x", "g"), True, {"x": "reused"}, {"x": "never_came_back"}),
        (train("b", 3, "g"), True, {"x": "reused"}, {"x": "never_came_back"}),
    ],
    ids=["dispatched again", "resumed", "kept", "trained"],
)
def test_what_an_earlier_stop_took_came_back(
    late: Row, sealed: bool, first: dict[str, str], second: dict[str, str]
) -> None:
    """By b's late row; b's own stop took it again, and run c does nothing with it."""
    story = told(twice_stopped(late, sealed=sealed))

    assert [("a", "b", "c2"), ("b", "c", "c2")] == story.stops
    assert [first, second] == story.fates


@pytest.mark.parametrize(
    "late", [send("a", "x2", "g", "p"), keep("a", "x", "g"), keep("a", "x2", "g", "turn", previous_attempt_id="x")]
)
def test_a_late_row_does_not_bring_back_what_its_own_stop_took(late: Row) -> None:
    """Run a sealed x; its late row comes after the stop that took it, and run b has not done anything yet."""
    rows = trace(
        started("a"), reserve("a", "g", "p"), send("a", "x", "g", "p"), seal("a", "x", 30), save("a", 2),
        started("b"), back("b", 2), late, ended("b"),
    )  # fmt: skip
    (fates,) = told(rows).fates

    assert "never_came_back" == fates["x"]
