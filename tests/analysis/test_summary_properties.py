"""Random histories of attempts, groups and runs, against a model that looks at each of them by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.summary import summarise
from rtrace_otel.analysis.summary_results import AttemptCounts
from rtrace_otel.events import Row
from tests.report.history import (
    abandoned,
    dispatched,
    ended,
    refused,
    reserved,
    resumed,
    sealed,
    started,
    trace,
    trained,
)  # fmt: skip

RUNS = ("a", "b", "c")
IDS = ("x", "y", "z", "w")

_run, _id = st.sampled_from(RUNS), st.sampled_from(IDS)
_ATTEMPTS = st.one_of(
    st.builds(dispatched, _run, _id),
    st.builds(dispatched, _run, _id),
    st.builds(refused, _run, _id),
    st.builds(sealed, _run, _id, masked=st.sampled_from([None, True, False])),
    st.builds(abandoned, _run, _id, st.sampled_from(["timeout", "error"])),
    st.builds(resumed, _run, _id, st.sampled_from(["sibling", "turn", "prefix"]), _id),
)
_OTHERS = st.one_of(st.builds(started, _run), st.builds(ended, _run), st.builds(reserved, _run, _id))
_HISTORIES = st.lists(st.one_of(_ATTEMPTS, _ATTEMPTS, _OTHERS), max_size=60)


def begins(event: Row) -> bool:
    """Whether an attempt of this run begins or goes on."""
    return event["event"] == "attempt_dispatched" or event.get("level") in {"turn", "prefix"}


def outcomes(events: Sequence[Row], killed: set[str]) -> AttemptCounts:
    """The counts, attempt by attempt, given the runs that were killed."""
    total, reasons, levels = Counter[str](), Counter[str](), Counter[str]()
    runs = list(dict.fromkeys(event["run"] for event in events if begins(event)))
    for attempt in IDS:
        holders: set[str] = set()
        for event in (event for event in events if event.get("attempt_id") == attempt):
            kind = event["event"]
            if kind == "attempt_refused":
                total["refusals"] += 1
            if kind == "attempt_resumed":
                levels[event["level"]] += 1
            if begins(event):
                total["begun"] += event["run"] not in holders
                holders.add(event["run"])
            elif holders and kind in {"attempt_sealed", "attempt_abandoned"}:
                holders.remove(event["run"] if event["run"] in holders else max(holders, key=runs.index))
                total["sealed"] += kind == "attempt_sealed"
                total["masked"] += kind == "attempt_sealed" and event.get("masked") is True
                if kind == "attempt_abandoned":
                    reasons[event["reason"]] += 1
        total["interrupted"] += len(holders & killed)
        total["open"] += len(holders - killed)
    return AttemptCounts(
        total["begun"], total["sealed"], total["masked"], dict(reasons), total["interrupted"], total["open"],
        total["refusals"], dict(levels),
    )  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(_HISTORIES)
def test_attempts_are_counted_as_one_by_one(events: list[Row]) -> None:
    """The fold over all rows gives what looking at each attempt gives, and it adds up."""
    found = summarise(trace(*events))
    found.self_check()

    assert outcomes(events, {run.run for run in found.runs if run.ended_how == "killed"}) == found.attempts
    assert Counter(event["run"] for event in events) == {run.run: run.rows for run in found.runs}


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 3)), max_size=6))
def test_runs_one_after_the_other_end_as_seen_one_by_one(shapes: list[tuple[bool, bool, int]]) -> None:
    """Clean with its last word; killed if a run that is no fork came after it; unknown otherwise."""
    events: list[Row] = []
    for number, (clean, fork, rows) in enumerate(shapes):
        run = f"r{number}"
        events.append(started(run, parent_run=f"r{number - 1}") if fork and number else started(run))
        events += [dispatched(run, "x")] * rows + [ended(run)] * clean
    expected = [
        "clean" if clean else "killed" if any(not fork for _, fork, _ in shapes[number + 1 :]) else "unknown"
        for number, (clean, _, _) in enumerate(shapes)
    ]

    assert expected == [run.ended_how for run in summarise(trace(*events)).runs]


@st.composite
def _group_lives(draw: Any) -> list[Row]:
    """Runs one after the other, each bringing back some groups, reserving new ones, training some."""
    events: list[Row] = []
    known: list[str] = []
    for place, run in enumerate(RUNS):
        events.append(started(run))
        held = [group for group in known if draw(st.booleans())]
        events += [reserved(run, group, origin_run=RUNS[place - 1]) for group in held]
        fresh = [f"{run}{number}" for number in range(draw(st.integers(0, 3)))]
        events += [reserved(run, group) for group in fresh]
        known += fresh
        chosen = [group for group in held + fresh if draw(st.booleans())]
        events.append(trained(run, place, place, *chosen))
    return events


@settings(deadline=None)
@given(_group_lives())
def test_groups_are_counted_as_one_by_one(events: list[Row]) -> None:
    """Every group by itself: how often reserved, brought back, trained, trained again, and how it is left."""
    total = Counter[str]()
    for group in {event["group_id"] for event in events if "group_id" in event}:
        finished, holder = 0, ""
        for event in events:
            if event.get("group_id") == group:
                total["brought_back" if event.get("origin_run") else "reserved"] += 1
                holder = event["run"]
            elif group in event.get("group_ids", ()):
                total["trained"] += 1
                total["trained_again"] += finished > 0
                finished, holder = finished + 1, ""
        if holder:
            total["open" if holder == RUNS[-1] else "interrupted"] += 1

    found = summarise(trace(*events)).groups
    names = ("reserved", "brought_back", "trained", "trained_again", "interrupted", "open")
    assert {name: total[name] for name in names} == {name: getattr(found, name) for name in names}
    assert {} == found.discarded
