"""Prompt groups by outcome, across kills and restores."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.summary_results import GroupCounts
from rtrace_otel.events import Row
from tests.report.history import ended, event, published, reserved, restored, started, trace, trained


def discarded(run: str, group: str, reason: str = "stale") -> Row:
    """A group is dropped."""
    return event(run, "group_discarded", group_id=group, reason=reason)


def counts(
    reserved: int = 0,
    brought_back: int = 0,
    trained: int = 0,
    trained_again: int = 0,
    discarded: dict[str, int] | None = None,
    interrupted: int = 0,
    still_open: int = 0,
) -> GroupCounts:
    """Expected counts; what is not named is zero."""
    return GroupCounts(reserved, brought_back, trained, trained_again, discarded or {}, interrupted, still_open)


CASES: dict[str, tuple[list[Row], GroupCounts]] = {
    "trained": ([reserved("a", "g"), trained("a", 1, 0, "g")], counts(reserved=1, trained=1)),
    "discarded": ([reserved("a", "g"), discarded("a", "g")], counts(reserved=1, discarded={"stale": 1})),
    "reasons": (
        [reserved("a", g) for g in "ghi"] + [discarded("a", g, r) for g, r in ("gx", "hy", "ix")],
        counts(reserved=3, discarded={"x": 2, "y": 1}),
    ),
    "open": ([reserved("a", "g")], counts(reserved=1, still_open=1)),
    "open when its run ended": ([reserved("a", "g"), ended("a"), started("b")], counts(reserved=1, still_open=1)),
    "lost with its run": ([reserved("a", "g"), started("b")], counts(reserved=1, interrupted=1)),
    "own run named as origin": ([reserved("a", "g", origin_run="a")], counts(reserved=1, still_open=1)),
    "brought back and trained": (
        [reserved("a", "g"), started("b"), reserved("b", "g", origin_run="a"), trained("b", 1, 0, "g")],
        counts(reserved=1, brought_back=1, trained=1),
    ),
    "brought back and open": (
        [reserved("a", "g"), started("b"), reserved("b", "g", origin_run="a")],
        counts(reserved=1, brought_back=1, still_open=1),
    ),
    "trained again": (
        [reserved("a", "g"), trained("a", 1, 0, "g"), started("b"), reserved("b", "g", origin_run="a"),
         trained("b", 1, 0, "g")],
        counts(reserved=1, brought_back=1, trained=2, trained_again=1),
    ),
    "discarded, brought back and trained": (
        [reserved("a", "g"), discarded("a", "g"), started("b"), reserved("b", "g", origin_run="a"),
         trained("b", 1, 0, "g")],
        counts(reserved=1, brought_back=1, trained=1, trained_again=1, discarded={"stale": 1}),
    ),
    "brought back twice and trained once": (
        [reserved("a", "g"), started("b"), reserved("b", "g", origin_run="a"), started("c"),
         reserved("c", "g", origin_run="a"), trained("c", 1, 0, "g")],
        counts(reserved=1, brought_back=2, trained=1),
    ),
    "trained, brought back twice, trained again": (
        [reserved("a", "g"), trained("a", 1, 0, "g"), started("b"), reserved("b", "g", origin_run="a"), started("c"),
         reserved("c", "g", origin_run="a"), trained("c", 1, 0, "g")],
        counts(reserved=1, brought_back=2, trained=2, trained_again=1),
    ),
    "trained by three runs": (
        [reserved("a", "g"), trained("a", 1, 0, "g"), reserved("b", "g", origin_run="a"), trained("b", 1, 0, "g"),
         reserved("c", "g", origin_run="b"), trained("c", 1, 0, "g")],
        counts(reserved=1, brought_back=2, trained=3, trained_again=2),
    ),
    "known from its publication only": (
        [published("a", "g", {0: 1}), trained("a", 1, 0, "g")], counts(trained=1)
    ),
    "known from its step only": ([trained("a", 1, 0, "g", "h")], counts(trained=2)),
    "published by one run and trained by the next": (
        [published("a", "g", {0: 1}), started("b"), trained("b", 1, 0, "g")], counts(trained=1)
    ),
    "published before the kill, trained after it": (
        [reserved("a", "g"), published("a", "g", {0: 1}), started("b"), restored("b", 0, groups=["g"]),
         trained("b", 1, 0, "g")],
        counts(reserved=1, brought_back=1, trained=1),
    ),
    "brought back by the restore itself": (
        [reserved("a", "g"), reserved("a", "h"), started("b"), restored("b", 0, groups=["g"])],
        counts(reserved=2, brought_back=1, interrupted=1, still_open=1),
    ),
    "twice in one step of two runs": (
        [reserved("a", "g"), reserved("b", "h"), trained("a", 1, 0, "g"), trained("b", 1, 0, "h")],
        counts(reserved=2, trained=2),
    ),
    "an id that is a number": (
        [reserved("a", "7"), event("a", "train_step", step=1, trained_version=0, group_ids=[7])],
        counts(reserved=1, trained=1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_groups_by_outcome(case: str) -> None:
    """Every history has the counts that follow from it by hand."""
    events, expected = CASES[case]

    assert expected == summarise(trace(*events)).groups
