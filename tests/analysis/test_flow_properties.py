"""Random histories: every attempt and every group ends in exactly one way, as looking at each by itself gives."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.flow.attempts import attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import groups
from rtrace_otel.analysis.flow.records import AttemptRecord
from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.events import Row
from tests.report.history import ended, event, refit, reserved, restored, started, trace, trained
from tests.report.timed import abandon, dispatch, group, refuse, seal

RUNS, IDS, GROUPS = ("a", "b", "c"), ("x", "y", "z"), ("g", "h")
ALL = Choice(limit=0)

_run, _id, _group = st.sampled_from(RUNS), st.sampled_from(IDS), st.sampled_from(GROUPS)
_time = st.floats(0, 100)
_resumed = st.builds(
    lambda run, attempt, level, group_id: event(
        run, "attempt_resumed", attempt_id=attempt, level=level, group_id=group_id, tokens_kept=3
    ),
    _run, _id, st.sampled_from(["sibling", "turn"]), _group,
)  # fmt: skip
_ATTEMPTS = st.one_of(
    st.builds(dispatch, _time, _run, _id, _group),
    st.builds(dispatch, _time, _run, _id, _group),
    st.builds(refuse, _time, _run, _id),
    st.builds(seal, _time, _run, _id, st.integers(0, 9)),
    st.builds(abandon, _time, _run, _id),
    _resumed,
)
_MARKS = st.sampled_from(["reserved", "admitted", "sealed", "published", "discarded"])
_OTHERS = st.one_of(
    st.builds(started, _run),
    st.builds(ended, _run),
    st.builds(group, _time, _run, _MARKS, _group),
    st.builds(lambda run, group_id, origin: reserved(run, group_id, origin_run=origin), _run, _group, _run),
    st.builds(lambda run, names: restored(run, 1, groups=names), _run, st.lists(_group, max_size=2)),
    st.builds(lambda run, step, names: trained(run, step, step, *names), _run, st.integers(0, 3), st.lists(_group)),
    st.builds(refit, _run, st.just(1), st.integers(1, 2), st.tuples(_id, st.integers(0, 9))),
    st.builds(event, _run, st.sampled_from(["train_step_started", "checkpoint_started"])),
)
HISTORIES = st.lists(st.one_of(_ATTEMPTS, _OTHERS), max_size=50)


def lives_of_attempts(rows: list[Row]) -> Counter[str]:
    """Attempts by outcome, attempt by attempt: an id that two runs use is an attempt of each."""
    total = Counter[str]()
    killed = {run.run for run in summarise(rows).runs if run.ended_how == "killed"}
    for run, attempt in product(RUNS, IDS):
        is_open = False
        for row in (row for row in rows if (row["run"], row.get("attempt_id")) == (run, attempt)):
            kind = row["event"]
            if row.get("level") == "sibling":
                total["kept"] += 1
            elif kind in ("attempt_dispatched", "attempt_resumed"):
                is_open = True
            elif kind != "attempt_refused" and is_open:
                total["sealed" if kind == "attempt_sealed" else "abandoned"] += 1
                is_open = False
        if is_open:
            total["interrupted" if run in killed else "open"] += 1
    return total


@settings(deadline=None, max_examples=300)
@given(HISTORIES)
def test_attempts_end_as_one_by_one(events: list[Row]) -> None:
    """Each in one way, whatever happens to their groups; and no duration is negative."""
    rows = trace(*events)
    found = attempts(rows, ALL)
    found.self_check()

    assert lives_of_attempts(rows) == Counter(found.by_outcome)
    assert found.matching == len(found.attempts)
    assert [] == [record for record in found.attempts for value in _durations(record) if value < 0]


def _durations(record: AttemptRecord) -> list[float]:
    return [value for value in (record.seconds, record.refused_s, record.waited_s) if value is not None]


@settings(deadline=None, max_examples=300)
@given(HISTORIES)
def test_groups_hold_the_attempts_that_name_them(events: list[Row]) -> None:
    """What groups count never exceeds what attempts count, and what is brought back goes on."""
    rows = trace(*events)
    by_group, by_attempt = groups(rows, ALL), attempts(rows, ALL)
    by_group.self_check()
    records = by_group.groups

    assert sum(r.kept for r in records) <= by_attempt.by_outcome.get("kept", 0)
    assert sum(r.sealed - r.kept for r in records) <= by_attempt.by_outcome.get("sealed", 0)
    assert [] == [r for r in records if not 0 <= r.kept <= r.sealed or r.open < 0 or r.abandoned < 0]
    brought = Counter((r.group_id, r.run, r.next_run) for r in records if r.outcome == "brought back")
    assert brought <= Counter((r.group_id, r.origin_run, r.run) for r in records)


@settings(deadline=None, max_examples=300)
@given(HISTORIES, st.integers(0, 5))
def test_the_limit_changes_what_is_shown_and_nothing_else(events: list[Row], limit: int) -> None:
    """Counts and latencies are those of all; what is shown is the head of all."""
    rows = trace(*events)
    head, whole = attempts(rows, Choice(limit=limit)), attempts(rows, ALL)

    assert (whole.by_outcome, whole.latencies, whole.begun) == (head.by_outcome, head.latencies, head.begun)
    assert whole.attempts[: limit or None] == head.attempts


@settings(deadline=None, max_examples=300)
@given(HISTORIES)
def test_wall_time_and_verdicts_add_up(events: list[Row]) -> None:
    """In any history, and every ``train_step`` row is one of the steps."""
    found = train_steps(trace(*events))
    found.self_check()

    ends = sum(row["event"] == "train_step" for row in events)
    assert ends == sum(step.groups is not None for step in found.steps)


def job(draw: Any) -> list[Row]:
    """Runs one after the other; each dispatches, seals and abandons attempts of its own."""
    events: list[Row] = []
    for run in RUNS[: draw(st.integers(1, 3))]:
        events.append(started(run))
        ids = [f"{run}{number}" for number in range(draw(st.integers(0, 5)))]
        events += [dispatch(1.0, run, attempt) for attempt in ids]
        events += [seal(2.0, run, attempt) for attempt in ids if draw(st.booleans())]
        events += [abandon(3.0, run, attempt) for attempt in ids if draw(st.booleans())]
        events += [ended(run)] * draw(st.booleans())
    return events


@settings(deadline=None)
@given(st.composite(job)())
def test_attempts_are_those_of_the_summary(events: list[Row]) -> None:
    """Where no id is used twice, both commands count the same."""
    rows = trace(*events)
    counts, found = summarise(rows).attempts, attempts(rows).by_outcome

    assert (counts.sealed, sum(counts.abandoned.values()), counts.interrupted, counts.open) == tuple(
        found.get(outcome, 0) for outcome in ("sealed", "abandoned", "interrupted", "open")
    )
