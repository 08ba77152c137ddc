"""Damaged rows never stop the analysis of stops, and whatever it says of them adds up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.events import EVENTS, Row
from rtrace_otel.report.formats import to_csv, to_json, to_markdown
from rtrace_otel.report.restore import restore_document, restore_json
from rtrace_otel.report.waste import waste_document, waste_json
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.ledger.stories import ONE_STOP, followed
from tests.report.history import trace

HUGE: Final = 10**400
WRONG: Final[list[Any]] = [
    None, True, -1, 2.5, HUGE, -HUGE, math.inf, -math.inf, math.nan, 5e-324, 1e300, "", "x", "7", [], [None], [[]],
    [[[]]], {}, {"x": 1}, [["c"]], [["c", 1]], [["c", HUGE, HUGE]], [[None, 3, 100]], ["g1", "g1"], ["c", 3, 100],
]  # fmt: skip
KEPT: Final = {"event", "run", "seq"}
"""What the reader has checked in every row."""


def assert_told(rows: list[Row]) -> None:
    """Both reports are made, hold their laws, and can be shown in every form."""
    _, report, waste = followed(rows)
    document, answer = restore_document(report, "f"), restore_json(report)
    assert to_markdown(document)
    assert to_csv(document)
    assert to_json("restore", answer, None)
    document, answer = waste_document(waste, "f"), waste_json(waste)
    assert to_markdown(document)
    assert to_csv(document)
    assert to_json("waste", answer, None)
    for stop in report.stops:
        assert all(amount.attempt_seconds >= 0 for amount in stop.fates.values())
        assert stop.interval.age_s is None or stop.interval.age_s >= 0
    for step in waste.steps:
        assert min(step.trained, step.masked, step.abandoned, step.discarded, step.lost) >= 0
    assert all(account.amount.tokens >= 0 for account in waste.accounts)


@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:20])
def test_any_value_in_any_field(value: Any) -> None:
    """One field of one row of a job with a stop is something else."""
    for place, row in enumerate(ONE_STOP):
        for name in row.keys() - KEPT:
            assert_told([*ONE_STOP[:place], row | {name: value}, *ONE_STOP[place + 1 :]])


def test_any_row_can_be_missing_or_doubled() -> None:
    """Each row of the job in turn, and each of its fields."""
    for place, row in enumerate(ONE_STOP):
        assert_told([*ONE_STOP[:place], *ONE_STOP[place + 1 :]])
        assert_told([*ONE_STOP[:place], row, *ONE_STOP[place:]])
        for name in row.keys() - KEPT:
            without = {key: value for key, value in row.items() if key != name}
            assert_told([*ONE_STOP[:place], without, *ONE_STOP[place + 1 :]])


@pytest.mark.parametrize("event", [event.name for event in EVENTS])
def test_events_without_any_field(event: str) -> None:
    """Bare rows of every kind, before, between and after good ones, in runs old and new."""
    bare = [row for run in ("a", "b", "new") for row in trace({"event": event, "run": run})]

    assert_told([*bare, *ONE_STOP[:8], *bare, *ONE_STOP[8:], *bare])


Damage = Callable[[list[Row]], None]


@st.composite
def damaged(draw: st.DrawFn) -> list[Row]:
    """Rows of a simulated job, some of them deleted, doubled, moved, or with fields of other rows or of no sense."""
    rows = [dict(row) for row in simulate(varied_settings(draw(st.integers(0, 10_000)))).rows]
    pool = [value for row in rows[:: max(1, len(rows) // 50)] for value in row.values()] + WRONG
    places = draw(st.lists(st.integers(0, len(rows) - 1), max_size=40))
    for place in places:
        place %= len(rows)
        fields = sorted(rows[place].keys() - KEPT)
        match draw(st.sampled_from(["delete", "double", "move", "remove field", "replace field"])):
            case "delete" if len(rows) > 1:
                del rows[place]
            case "double":
                rows.insert(draw(st.integers(0, len(rows))), dict(rows[place]))
            case "move":
                rows.insert(draw(st.integers(0, len(rows) - 1)), rows.pop(place))
            case "remove field" if fields:
                del rows[place][draw(st.sampled_from(fields))]
            case "replace field" if fields:
                rows[place][draw(st.sampled_from(fields))] = draw(st.sampled_from(pool))
            case _:
                pass
    return rows


@given(damaged())
@settings(max_examples=150, deadline=None)
def test_damaged_jobs(rows: list[Row]) -> None:
    """Whatever is damaged, nothing is raised and every rollout is in one account."""
    assert_told(rows)


@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_rows_in_no_order_at_all(seed: int, random: Any) -> None:
    """Lines of many runs, shuffled."""
    rows = list(simulate(varied_settings(seed)).rows)
    random.shuffle(rows)

    assert_told(rows)


def test_times_that_no_clock_shows() -> None:
    """Without any time there are rollouts and tokens, and no seconds; a clock that goes back makes none negative.

    Backwards, run a's latest time is 100, when it began; y runs from 87 until then, and z from 82.
    """
    timeless = restore_report([row | {"t": math.nan} for row in ONE_STOP]).stops[0]
    backwards = restore_report([row | {"t": 100.0 - row["t"]} for row in ONE_STOP]).stops[0]

    assert (None, None, None, None) == (
        timeless.killed_at, timeless.dead_s, timeless.first_seal_s, timeless.interval.age_s,
    )  # fmt: skip
    assert [amount.rollouts for amount in restore_report(ONE_STOP).stops[0].fates.values()] == [
        amount.rollouts for amount in timeless.fates.values()
    ]
    assert (13.0 + 18.0, None) == (backwards.total.attempt_seconds, backwards.first_dispatch_s)
