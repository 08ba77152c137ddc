"""Prompt groups of a small job with one kill: every field worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import GroupsFold, GroupsReport, groups
from rtrace_otel.analysis.flow.records import GroupRecord, Outcome, WaitsFor
from rtrace_otel.events import Row
from tests.report.history import event, restored, resumed, started, trace
from tests.report.timed import JOB, abandon, at, dispatch, group, seal, step


def found(rows: list[Row], **choice: Any) -> GroupsReport:
    """The report, checked."""
    report = groups(rows, Choice(**choice))
    report.self_check()
    return report


def lives(*events: Row) -> list[tuple[str, str, str]]:
    """Id, run and outcome of each group of a trace, in order of time."""
    return [(record.group_id, record.run, str(record.outcome)) for record in found(trace(*events)).groups]


G, H_IN_A, H_IN_B = found(JOB).groups


def test_a_trained_group() -> None:
    """Reserved at 1, admitted at 1.5, dispatched at 2; sealed at 6 and 10, published at 10.5, trained at 15.

    The median of the seals is 8, so the last one came 2 s later. The attempts had 100 and 60 tokens, the
    publication 150.
    """
    expected = GroupRecord(
        group_id="g", prompt_id="17", epoch=0, run="a", origin_run=None, next_run=None, generations=2, sealed=2, kept=0,
        abandoned=0, open=0, reserved=1.0, admitted_s=0.5, dispatch_s=0.5, publish_s=0.5, published_s=9.5, queue_s=4.5,
        straggler_s=2.0, straggler_generation=1, tokens=160, published_tokens=150, trained_step=5, trained_run="a",
        outcome=Outcome.TRAINED, reason=None,
    )  # fmt: skip
    assert expected == G


def test_a_group_that_is_brought_back_is_one_in_each_run() -> None:
    """In run a one of two attempts was sealed; run b kept it at 31, and had one abandoned and one open."""
    assert ("a", None, "b", 1, 0, 0, 1, Outcome.BROUGHT_BACK) == (
        H_IN_A.run, H_IN_A.origin_run, H_IN_A.next_run, H_IN_A.sealed, H_IN_A.kept, H_IN_A.abandoned, H_IN_A.open,
        H_IN_A.outcome,
    )  # fmt: skip
    assert ("b", "a", None, 1, 1, 1, 1, Outcome.OPEN) == (
        H_IN_B.run, H_IN_B.origin_run, H_IN_B.next_run, H_IN_B.sealed, H_IN_B.kept, H_IN_B.abandoned, H_IN_B.open,
        H_IN_B.outcome,
    )  # fmt: skip
    assert (WaitsFor.ROLLOUTS, 31.0, 5.0, 30, None) == (
        H_IN_B.waiting_for, H_IN_B.since, H_IN_B.waited_s, H_IN_B.tokens, H_IN_B.straggler_s
    )  # fmt: skip


def test_counts() -> None:
    """Two groups, of which one lives twice."""
    report = found(JOB)

    assert ({"trained": 1, "brought back": 1, "open": 1}, 3, 3) == (report.by_outcome, report.matching, report.known)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"prompt": "17"}, ["ga", "ha", "hb"]),
        ({"prompt": "1"}, []),
        ({"group": "h"}, ["ha", "hb"]),
        ({"run": "b"}, ["hb"]),
        ({"step": 5}, ["ga"]),
        ({"outcome": "brought back"}, ["ha"]),
        ({"open_only": True}, ["hb"]),
        ({"sort": "straggler", "descending": True, "limit": 1}, ["ga"]),
        ({"sort": "time", "descending": True, "limit": 1}, ["hb"]),
        ({"sort": "abandoned", "descending": True}, ["hb", "ga", "ha"]),
    ],
    ids=str,
)
def test_choices(choice: dict[str, Any], expected: list[str]) -> None:
    """Which groups, and in which order; equal ones in the order in which they ended."""
    assert expected == [record.group_id + record.run for record in found(JOB, **choice).groups]


def test_the_result_can_be_asked_for_twice() -> None:
    """Asking changes nothing: what was open may end later."""
    fold = GroupsFold(Choice(limit=0))
    for place, row in enumerate(JOB):
        fold.add(row)
        assert groups(JOB[: place + 1], Choice(limit=0)) == fold.result()


def test_a_discarded_group() -> None:
    """With its reason, and the attempts that were open then."""
    (record,) = found(
        trace(group(1, "a", "reserved"), dispatch(2, "a", "x"), group(3, "a", "discarded", reason="stale"))
    ).groups

    assert (Outcome.DISCARDED, "stale", 1) == (record.outcome, record.reason, record.open)


@pytest.mark.parametrize(
    ("rows", "waiting_for", "since"),
    [
        ([], WaitsFor.ADMISSION, 1.0),
        ([group(2, "a", "admitted")], WaitsFor.FIRST_DISPATCH, 2.0),
        ([group(2, "a", "admitted"), dispatch(3, "a", "x")], WaitsFor.ROLLOUTS, 3.0),
        ([dispatch(3, "a", "x"), seal(4, "a", "x"), dispatch(5, "a", "y")], WaitsFor.ROLLOUTS, 3.0),
        ([dispatch(3, "a", "x"), seal(4, "a", "x"), group(5, "a", "sealed")], WaitsFor.PUBLICATION, 5.0),
        ([group(6, "a", "published")], WaitsFor.TRAINING, 6.0),
    ],
)
def test_what_an_open_group_waits_for(rows: list[Row], waiting_for: WaitsFor, since: float) -> None:
    """Since the event that brought it there, up to its run's last row."""
    (record,) = found(trace(group(1, "a", "reserved"), *rows, at(9, event("a", "mark")))).groups

    assert (Outcome.OPEN, waiting_for, since, 9 - since) == (
        record.outcome, record.waiting_for, record.since, record.waited_s
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "waiting_for", "since"),
    [
        ([at(3, restored("b", 4, groups=["g"]))], WaitsFor.UNKNOWN, None),
        ([group(4, "b", "reserved", origin_run="a")], WaitsFor.UNKNOWN, 4.0),
        ([group(4, "b", "reserved", origin_run="a"), dispatch(5, "b", "x")], WaitsFor.ROLLOUTS, 5.0),
        ([at(5, resumed("b", "x", "sibling"), group_id="g")], WaitsFor.ROLLOUTS, None),
        ([group(5, "b", "published")], WaitsFor.TRAINING, 5.0),
    ],
)
def test_what_a_group_that_was_brought_back_waits_for(
    rows: list[Row], waiting_for: WaitsFor, since: float | None
) -> None:
    """It may have been published already, so nothing is said until a row of the new run tells."""
    before = [group(1, "a", "reserved"), group(2, "a", "admitted"), started("b")]
    record = next(r for r in found(trace(*before, *rows)).groups if r.run == "b")

    assert (Outcome.OPEN, "a", waiting_for, since) == (
        record.outcome, record.origin_run, record.waiting_for, record.since
    )  # fmt: skip


def test_a_group_lost_with_its_run_is_interrupted() -> None:
    """The next run does not bring it back."""
    assert [("g", "a", "interrupted")] == lives(started("a"), group(1, "a", "reserved"), started("b"))


def test_a_group_trained_before_and_brought_back_is_trained_twice() -> None:
    """The later run restored a checkpoint from before the step."""
    assert [("g", "a", "trained"), ("g", "b", "trained")] == lives(
        group(1, "a", "reserved"), step(2, "a", 5, "g"), at(3, restored("b", 4, groups=["g"])),
        group(4, "b", "reserved", origin_run="a"), step(5, "b", 5, "g"),
    )  # fmt: skip


def test_a_restore_that_names_no_group_is_seen_by_the_rows_that_follow() -> None:
    """A dispatch of the new run takes the group up, under its old prompt."""
    report = found(trace(group(1, "a", "reserved", epoch=2), started("b"), dispatch(3, "b", "x")))

    assert [("a", "brought back", None), ("b", "open", "a")] == [
        (record.run, record.outcome, record.origin_run) for record in report.groups
    ]
    assert ["17", "17"] == [record.prompt_id for record in report.groups]
    assert [2, 2] == [record.epoch for record in report.groups]


def test_a_later_run_can_train_what_an_earlier_one_published() -> None:
    """The group stays the earlier run's; the step is the later one's."""
    (record,) = found(trace(group(1, "a", "reserved"), group(2, "a", "published"), step(5, "b", 3, "g"))).groups

    assert ("a", "b", 3, 3.0) == (record.run, record.trained_run, record.trained_step, record.queue_s)


def test_late_rows_of_a_killed_run_do_not_touch_what_the_next_one_has() -> None:
    """A step of run a ends the group of run a; it neither ends nor doubles the group of run b, nor do rows after it."""
    late = [
        group(5, "a", "published"),
        step(6, "a", 9, "g"),
        group(7, "a", "discarded", reason="x"),
        dispatch(8, "a", "y"),
    ]
    rows = [group(1, "a", "reserved"), started("b"), group(3, "b", "reserved", origin_run="a"), *late]
    trained = next(record for record in found(trace(*rows)).groups if record.run == "a")

    assert [("g", "a", "trained"), ("g", "b", "open")] == lives(*rows)
    assert (9, "a", 1.0, None) == (trained.trained_step, trained.trained_run, trained.queue_s, trained.next_run)


def test_a_late_discard_ends_the_group_of_its_own_run() -> None:
    """Run b goes on with the group and trains it; run a had given it up before it was killed."""
    rows = [
        group(1, "a", "reserved"), started("b"), group(3, "b", "reserved", origin_run="a"),
        group(4, "a", "discarded", reason="x"), step(6, "b", 2, "g"),
    ]  # fmt: skip

    assert [("g", "a", "discarded"), ("g", "b", "trained")] == lives(*rows)


def test_late_rows_count_for_a_group_whose_id_a_later_run_uses_for_another() -> None:
    """Run b reserves g anew, without a restore; the step of run a trains the g of run a."""
    rows = [group(1, "a", "reserved"), started("b"), group(3, "b", "reserved"), step(4, "a", 2, "g")]

    assert [("g", "a", "trained"), ("g", "b", "open")] == lives(*rows)


def test_groups_left_behind_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one, the older of two is settled when the second comes back, and a late step does not train it.

    A group whose id was only used again is still open in its run.
    """
    monkeypatch.setattr("rtrace_otel.analysis.flow.flow.MAX_BEHIND", 1)
    rows = [
        group(1, "a", "reserved", "f"), group(1, "a", "reserved", "g"), group(1, "a", "reserved", "h"), started("b"),
        group(2, "b", "reserved", "f"), group(3, "b", "reserved", "g", origin_run="a"),
        group(3, "b", "reserved", "h", origin_run="a"), step(4, "a", 2, "g", "h"),
    ]  # fmt: skip

    assert [
        ("f", "a", "open"), ("g", "a", "brought back"), ("h", "a", "trained"),
        ("f", "b", "open"), ("g", "b", "open"), ("h", "b", "open"),
    ] == sorted(lives(*rows), key=lambda life: (life[1], life[0]))  # fmt: skip


def test_a_late_row_does_not_open_a_group_that_has_ended() -> None:
    """A publication that is written after the step, or tried again, is no new group."""
    rows = [group(1, "a", "reserved"), step(2, "a", 1, "g"), group(3, "a", "published"), step(4, "a", 1, "g")]

    assert [("g", "a", "trained")] == lives(*rows)


def test_an_id_that_a_later_run_reserves_anew_is_another_group() -> None:
    """It has no origin; the earlier one was lost with its run."""
    rows = [started("a"), group(1, "a", "reserved"), started("b"), group(3, "b", "reserved")]

    assert [("g", "a", "interrupted"), ("g", "b", "open")] == lives(*rows)


def test_an_attempt_belongs_to_the_group_that_was_open_when_it_began() -> None:
    """Its group is discarded and the id reserved again in the same run; the late seal is none of the new group's."""
    first = [group(1, "a", "reserved"), dispatch(2, "a", "x"), dispatch(2, "a", "y"), group(3, "a", "discarded")]
    report = found(trace(*first, group(4, "a", "reserved"), dispatch(5, "a", "z"), seal(6, "a", "x")))

    assert [("discarded", 2, 0), ("open", 1, 0)] == [(r.outcome, r.open, r.sealed) for r in report.groups]


def test_a_file_that_begins_in_the_middle() -> None:
    """Groups are known from their first row on, whatever it is; what came before is not made up."""
    rows = trace(group(1, "a", "published", "f"), step(2, "a", 1, "f", "e"), dispatch(3, "a", "x", "d"))
    records = found(rows).groups

    assert {("f", "trained"), ("e", "trained"), ("d", "open")} == {(r.group_id, str(r.outcome)) for r in records}
    assert {None} == {record.reserved for record in records}


def test_three_seals_and_an_abandonment() -> None:
    """Seals at 4, 5 and 9: the median is 5, the last is 4 s later and was generation 2."""
    rows = [dispatch(1, "a", str(n), generation=n) for n in range(4)]
    rows += [seal(4, "a", "0", 7), abandon(4.5, "a", "3"), seal(5, "a", "1", 7), seal(9, "a", "2", 7)]
    (record,) = found(trace(*rows)).groups

    assert (4.0, 2, 3, 1, 21) == (
        record.straggler_s, record.straggler_generation, record.sealed, record.abandoned, record.tokens
    )  # fmt: skip


def test_tokens_are_unknown_if_one_attempt_does_not_tell() -> None:
    """A sum of some of them would look like the sum of all."""
    rows = [dispatch(1, "a", "x"), dispatch(1, "a", "y"), seal(2, "a", "x", 5), seal(3, "a", "y")]
    (record,) = found(trace(*rows)).groups

    assert record.tokens is None


def test_the_check_of_conservation_can_fail() -> None:
    """A group too many is caught."""
    report = found(JOB)
    for wrong in ({"matching": 2}, {"by_outcome": {"open": 4}}, {"known": 2}):
        with pytest.raises(AssertionError):
            replace(report, **wrong).self_check()
