"""Runs that were killed, that ended, and that still live."""

from __future__ import annotations

import pytest

from tests.spans.rows import T0, History, ids_of, named, spans_of


def open_run() -> History:
    """A run with a group, an attempt and a step open."""
    run = History()
    run.reserve()
    run.dispatch()
    run.add("train_step_started", step=4)
    return run


def test_live_run_has_no_ends() -> None:
    """What is open in the last run of a file is no finished span."""
    assert [] == spans_of(open_run())


def test_killed_run_ends_where_it_was_last_known() -> None:
    """A later run shows that the one before was killed: its spans end at its last row, truncated, in an error."""
    facts = ("rtrace.truncated", "rtrace.outcome")
    found = {
        span.name: (span.end_ns / 1e9 - T0, span.error, *(span.attributes[fact] for fact in facts))
        for span in spans_of(open_run(), History("b", T0 + 100))
    }
    expected = dict.fromkeys(
        ("rollout.attempt", "rollout.group", "train.step"), (3.0, "run killed", True, "interrupted")
    )
    assert expected == found


@pytest.mark.parametrize(
    ("events", "group", "attempt"),
    [
        ([], "admission", "a result"),
        ([("group_admitted", {"group_id": "g"})], "its rollouts", "a result"),
        ([("group_sealed", {"group_id": "g"})], "publication", "a result"),
        ([("group_published", {"group_id": "g"})], "training", "a result"),
        ([("attempt_refused", {"attempt_id": "x"})], "admission", "a new dispatch"),
        ([("note", {"attempt_id": "x"}), ("note", {"group_id": "g"})], "admission", "a result"),
    ],
)
def test_killed_span_says_what_it_waited_for(
    events: list[tuple[str, dict[str, str]]], group: str, attempt: str
) -> None:
    """The last event of the vocabulary says what a span waited for; a user's note changes nothing."""
    run = open_run()
    for name, fields in events:
        run.add(name, **fields)
    spans = spans_of(run, end_last=True)
    found = [named(spans, name).attributes["rtrace.waiting_for"] for name in ("rollout.group", "rollout.attempt")]
    assert [group, attempt] == found


def test_clean_end_ends_what_is_open() -> None:
    """``run_ended`` ends the open spans at its time, and they are not ended again when another run begins."""
    run = open_run()
    run.add("run_ended", reason="closed")
    found = sorted((span.name, span.end_ns / 1e9 - T0, span.error) for span in spans_of(run, History("b", T0 + 100)))
    reason = "run ended: closed"
    assert [("rollout.attempt", 4.0, reason), ("rollout.group", 4.0, reason), ("train.step", 4.0, reason)] == found


def test_fork_does_not_kill_its_parent() -> None:
    """The run of a forked child says nothing about the run that it came from."""
    child = History("b", T0 + 1)
    child.rows[0]["parent_run"] = "a" * 16
    assert [] == spans_of(open_run(), child)


def test_two_kills_end_each_run_once() -> None:
    """Every run before the last has its spans once."""
    second = History("b", T0 + 100)
    second.reserve(origin_run="a" * 16)
    second.dispatch("y")
    spans = spans_of(open_run(), second, History("c", T0 + 200))
    assert 5 == len(spans) == len({ids_of(span) for span in spans})


def test_second_start_of_a_phase_ends_the_first() -> None:
    """A step that began while another one was open leaves the other one truncated."""
    run = open_run()
    run.add("train_step_started", step=5)
    run.train(5)
    found = {span.attributes.get("rtrace.step"): span.error for span in spans_of(run) if span.name == "train.step"}
    assert {4: "another one began", 5: None} == found
