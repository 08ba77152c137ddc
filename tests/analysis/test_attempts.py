"""Rollout attempts of a small job with one kill: every field worked out by hand."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from rtrace_otel.analysis.flow.attempts import AttemptsFold, AttemptsReport, attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.records import AttemptRecord, Outcome, WaitsFor
from rtrace_otel.events import Row
from tests.report.history import event, started, trace
from tests.report.timed import JOB, abandon, at, dispatch, group, refuse, seal, step, sync


def found(rows: list[Row], **choice: Any) -> AttemptsReport:
    """The report, checked."""
    report = attempts(rows, Choice(**choice))
    report.self_check()
    return report


def one(*events: Row) -> AttemptRecord:
    """The only attempt of a trace."""
    (record,) = found(trace(*events)).attempts
    return record


BY_ID = {(record.run, record.attempt_id): record for record in found(JOB, limit=0).attempts}


def test_a_sealed_attempt() -> None:
    """Attempt x ran from 2 to 6 under version 4, before the refit, and step 5 trained it."""
    expected = AttemptRecord(
        attempt_id="x", group_id="g", prompt_id="17", generation_index=0, attempt_index=0, run="a", instance="s0",
        dispatched=2.0, ended=6.0, seconds=4.0, refused_s=0.0, tokens=100, tokens_at_least=None, tokens_kept=None,
        reward=0.5, masked=False, outcome=Outcome.SEALED, reason=None, resumed=None, refusals=0, refits_spanned=0,
        refits_cut=0, version_start=4, version_end=4, trained_step=5,
    )  # fmt: skip
    assert expected == BY_ID["a", "x"]


def test_a_refused_attempt_stands_still_until_it_is_dispatched_again() -> None:
    """It ran from 2.5 to 3 and from 5 to 10, first with version 3; the refit at 7 cut it at 40 tokens."""
    y = BY_ID["a", "y"]

    assert (5.5, 2.0, 1, 2.5) == (y.seconds, y.refused_s, y.refusals, y.dispatched)
    assert (3, 5, 1, 1, 40, 5) == (
        y.version_start, y.version_end, y.refits_spanned, y.refits_cut, y.tokens_at_least, y.trained_step
    )  # fmt: skip


def test_an_attempt_that_a_kill_interrupted() -> None:
    """Attempt v ran from 11.5 to 18, was refused, and had waited for two seconds at its run's last row."""
    v = BY_ID["a", "v"]

    assert (Outcome.INTERRUPTED, WaitsFor.DISPATCH_AGAIN, 18.0, 2.0) == (v.outcome, v.waiting_for, v.since, v.waited_s)
    assert (6.5, 2.0, 7, None, None) == (v.seconds, v.refused_s, v.tokens_at_least, v.tokens, v.trained_step)


def test_a_result_that_a_restore_kept() -> None:
    """Attempt u was sealed by run a and kept by run b, where it did not run."""
    before, kept = BY_ID["a", "u"], BY_ID["b", "u"]

    assert (Outcome.SEALED, 5.5, 30, None) == (before.outcome, before.seconds, before.tokens, before.resumed)
    assert (Outcome.KEPT, 0.0, 30, "sibling") == (kept.outcome, kept.seconds, kept.tokens_kept, kept.resumed)
    assert ("17", None, None) == (kept.prompt_id, kept.dispatched, kept.trained_step)


def test_an_abandoned_attempt_and_its_successor() -> None:
    """Attempt w ran for a second; z is open at the end of the file, with 5 + 6 tokens in two calls at the refit."""
    w, z = BY_ID["b", "w"], BY_ID["b", "z"]

    assert (Outcome.ABANDONED, "server error", 1.0, 1) == (w.outcome, w.reason, w.seconds, w.attempt_index)
    assert (Outcome.OPEN, WaitsFor.RESULT, 33.5, 2.5, 2.5) == (z.outcome, z.waiting_for, z.since, z.waited_s, z.seconds)
    assert (11, 1, 6, 7) == (z.tokens_at_least, z.refits_cut, z.version_start, z.version_end)


def test_counts() -> None:
    """Seven lives of attempts in two runs."""
    report = found(JOB, limit=0)

    assert {"sealed": 3, "interrupted": 1, "kept": 1, "abandoned": 1, "open": 1} == dict(report.by_outcome)
    assert (7, 7, True) == (report.matching, report.begun, report.calls_name_attempts)


def test_latencies() -> None:
    """g: 1 to 1.5 to 2, last seal 10 to 10.5, trained at 15; seals at 6 and 10 have their median at 8.

    Run b reserved h at 31 and admitted it in no row; of h in run a nothing but its reservation is known. The attempts
    that were sealed ran 4, 5.5 and 5.5 s; y stood still for 2 s.
    """
    phases = {latency.phase: latency.seconds for latency in found(JOB).latencies}

    assert {
        "reserved_to_admitted": (1, 0.5),
        "admitted_to_dispatched": (1, 0.5),
        "refused": (1, 2.0),
        "dispatched_to_sealed": (3, 5.5),
        "sealed_to_published": (1, 0.5),
        "published_to_trained": (1, 4.5),
        "straggler_gap": (1, 2.0),
    } == {phase: (value.count, value.p50) for phase, value in phases.items()}
    assert 5.5 == phases["dispatched_to_sealed"].max


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"prompt": "17"}, "xyuvuwz"),
        ({"prompt": "1"}, ""),
        ({"group": "h"}, "uvuwz"),
        ({"run": "b"}, "uwz"),
        ({"step": 5}, "xy"),
        ({"outcome": "sealed"}, "xyu"),
        ({"outcome": "kept"}, "u"),
        ({"reason": "SERVER"}, "w"),
        ({"reason": "timeout"}, ""),
        ({"open_only": True}, "vz"),
        ({"run": "a", "group": "h", "outcome": "interrupted"}, "v"),
    ],
    ids=str,
)
def test_choices(choice: dict[str, Any], expected: str) -> None:
    """Every condition must hold; counts and latencies are those of what matches."""
    report = found(JOB, limit=0, **choice)

    assert sorted(expected) == sorted(record.attempt_id for record in report.attempts)
    assert (len(expected), 7) == (report.matching, report.begun)


def test_latencies_are_those_of_all_that_match_not_of_those_shown() -> None:
    """One is shown, three are counted; the groups of these are counted once each."""
    report = found(JOB, outcome="sealed", limit=1)
    phases = {latency.phase: latency.seconds.count for latency in report.latencies}

    assert (1, 3, 3, 1) == (
        len(report.attempts), report.matching, phases["dispatched_to_sealed"], phases["published_to_trained"]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sort", "descending", "expected"),
    [
        ("time", False, ["x", "y", "u"]),
        ("seconds", True, ["v", "y", "u"]),
        ("seconds", False, ["u", "w", "z"]),
        ("tokens", True, ["x", "y", "u"]),
        ("dispatched", True, ["z", "w", "u"]),
        ("refusals", True, ["y", "v", "x"]),
        ("waited", True, ["z", "v", "x"]),
    ],
)
def test_orders(sort: str, descending: bool, expected: list[str]) -> None:
    """The first three; equal ones in the order in which they ended, unknown ones last."""
    report = found(JOB, sort=sort, descending=descending, limit=3)

    assert expected == [record.attempt_id for record in report.attempts]


def test_a_choice_that_makes_no_sense_is_refused() -> None:
    """The message names the argument and what it may be."""
    with pytest.raises(ValueError, match=r"cannot sort by 'x'; one of time, dispatched, "):
        attempts([], Choice(sort="x"))
    with pytest.raises(ValueError, match=r"limit must be >= 0: -1"):
        attempts([], Choice(limit=-1))


def test_the_result_can_be_asked_for_twice() -> None:
    """Asking changes nothing: what was open may end later."""
    fold = AttemptsFold(Choice(limit=0))
    for place, row in enumerate(JOB):
        fold.add(row)
        assert attempts(JOB[: place + 1], Choice(limit=0)) == fold.result()


def test_calls_without_names_leave_cuts_unknown() -> None:
    """A refit spanned the attempt; whether it cut it nobody can tell."""
    x = one(dispatch(1, "a", "x"), sync(2, "a", 5, ["c1", 9]), seal(3, "a", "x"))

    assert (1, None) == (x.refits_spanned, x.refits_cut)


def test_loaded_weights_are_no_refit() -> None:
    """They say which version is in force, and cut nothing."""
    x = one(dispatch(1, "a", "x"), sync(2, "a", 5, ["x", 9]) | {"replaced_version": 5}, seal(3, "a", "x"))

    assert (0, 5, None) == (x.refits_spanned, x.version_end, x.tokens_at_least)


def test_refusals_without_a_dispatch_between_count_and_change_nothing_else() -> None:
    """1 to 2 and 6 to 7 are running time; it waits from the first refusal on."""
    x = one(
        dispatch(1, "a", "x"), refuse(2, "a", "x"), refuse(4, "a", "x"), dispatch(6, "a", "x"), dispatch(6.5, "a", "x"),
        seal(7, "a", "x"),
    )  # fmt: skip

    assert (2.0, 4.0, 2) == (x.seconds, x.refused_s, x.refusals)


def test_an_attempt_that_goes_on_after_a_restore_runs_from_its_dispatch() -> None:
    """The restore keeps 20 tokens at 1; it is dispatched at 3 and sealed at 5."""
    resumed = event("b", "attempt_resumed", attempt_id="x-1", level="turn", tokens_kept=20, group_id="g", t=1.0)
    x = one(resumed, dispatch(3, "b", "x-1"), seal(5, "b", "x-1", 50))

    assert (2.0, 3.0, "turn", 20) == (x.seconds, x.dispatched, x.resumed, x.tokens_kept)


def test_without_a_dispatch_it_runs_from_its_resumption() -> None:
    """Its group is that of the attempt that it continues."""
    rows = trace(
        dispatch(1, "a", "x"),
        event("b", "attempt_resumed", attempt_id="y", level="prefix", previous_attempt_id="x", t=4.0),
        seal(6, "b", "y"),
        group(7, "b", "published"),
        step(8, "b", 3, "g"),
    )
    y = next(record for record in found(rows).attempts if record.run == "b")

    assert (2.0, None, "g", 3) == (y.seconds, y.dispatched, y.group_id, y.trained_step)


def test_an_id_that_a_later_run_uses_again_is_another_attempt() -> None:
    """And a late row of the killed run ends the one of its own run."""
    rows = trace(
        started("a"), dispatch(2, "a", "x"), started("b"), dispatch(4, "b", "x"), seal(5, "a", "x", 9),
        seal(6, "b", "x", 8),
    )  # fmt: skip

    assert [("a", "sealed", 9), ("b", "sealed", 8)] == [
        (record.run, record.outcome, record.tokens) for record in found(rows).attempts
    ]


def test_an_attempt_that_ends_after_its_group_is_not_called_trained() -> None:
    """Whether the step used it no row says."""
    rows = trace(dispatch(1, "a", "x"), group(2, "a", "published"), step(3, "a", 1, "g"), seal(4, "a", "x"))

    assert [("sealed", None)] == [(record.outcome, record.trained_step) for record in found(rows).attempts]


def test_ends_of_attempts_that_never_began_are_none() -> None:
    """As when the file begins in the middle."""
    rows = trace(seal(1, "a", "x"), abandon(2, "a", "y"), refuse(3, "a", "z"))

    assert (0, ()) == ((report := found(rows)).begun, report.attempts)


def test_clocks_that_go_back_leave_the_time_unknown() -> None:
    """No duration is made up, and none is negative."""
    x = one(dispatch(5, "a", "x"), seal(3, "a", "x"))

    assert (None, 5.0, 3.0) == (x.seconds, x.dispatched, x.ended)


def test_an_attempt_without_its_group() -> None:
    """It is counted all the same."""
    x = one(at(1, event("a", "attempt_dispatched", attempt_id="x")), seal(2, "a", "x"))

    assert (None, None, 1.0) == (x.group_id, x.prompt_id, x.seconds)


def test_a_run_that_ended_cleanly_leaves_attempts_open() -> None:
    """Nothing interrupted them."""
    x = one(dispatch(1, "a", "x"), at(2, event("a", "run_ended", reason="closed")))

    assert (Outcome.OPEN, 1.0) == (x.outcome, x.waited_s)


def test_every_field_is_in_the_record() -> None:
    """The record of an attempt that knows nothing has every field."""
    assert 28 == len(asdict(one(event("a", "attempt_dispatched", t="x"))))
