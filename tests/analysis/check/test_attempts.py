"""Each attempt that was dispatched ends in exactly one way."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.check import attempts
from rtrace_otel.analysis.check.recent import Recent
from rtrace_otel.events import Row
from tests.analysis.check.checking import checked, done, found, given_up, kept, saved
from tests.report.history import dispatched, ended, refused, restored, resumed, started


def test_one_end_each_is_no_finding() -> None:
    """Sealed, abandoned, refused and dispatched again: each attempt ends once."""
    rows = [dispatched("a", "x"), refused("a", "x"), dispatched("a", "x"), done("a", "x"),
            dispatched("a", "y"), given_up("a", "y")]  # fmt: skip

    assert [] == found(*rows)


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        (done("a", "x"), done("a", "x"), "RT101"),
        (given_up("a", "x"), given_up("a", "x"), "RT102"),
        (done("a", "x"), given_up("a", "x"), "RT103"),
        (given_up("a", "x"), done("a", "x"), "RT103"),
    ],
)
def test_a_second_end_is_an_error(first: Row, second: Row, code: str) -> None:
    """Line 3 ends an attempt that line 2 ended; the rollouts are one end too many, so that they do not add up."""
    report = checked(dispatched("a", "x"), first, second)

    assert [(code, 3), ("RT311", None)] == [(one.code, one.line) for one in report.findings if one.code != "RT806"]
    assert "in line 2 already" in report.findings[0].message


def test_a_third_end_names_the_first() -> None:
    """The attempt ended in line 2, whatever came after."""
    report = checked(dispatched("a", "x"), done("a", "x"), given_up("a", "x"), done("a", "x"))

    assert [("RT101", 4), ("RT103", 3)] == [(one.code, one.line) for one in report.findings[:2]]
    assert "in line 2 already" in report.findings[0].message


def test_a_dispatch_after_the_end_does_not_make_a_second_end_legal() -> None:
    """An id that is used again for new work is one attempt with two ends."""
    assert ("RT101", "error", 4) in found(dispatched("a", "x"), done("a", "x"), dispatched("a", "x"), done("a", "x"))


def test_an_end_without_a_beginning() -> None:
    """A result is an error, giving up is a warning and is in no sum."""
    assert [("RT104", "error", 1), ("RT311", "error", None)] == found(done("a", "x"))
    assert [("RT105", "warning", 1)] == found(given_up("a", "x"))


def test_runs_do_not_share_attempts() -> None:
    """Two jobs may use the same ids; a result belongs to the run that dispatched."""
    assert [] == found(dispatched("a", "1"), dispatched("b", "1"), done("b", "1"), done("a", "1"))
    assert ("RT104", "error", 2) in found(dispatched("a", "1"), done("b", "1"))


def test_a_forked_process_may_end_what_its_parent_began() -> None:
    """They are one controller."""
    rows = [started("a"), dispatched("a", "x"), started("b", parent_run="a"), done("b", "x")]

    assert [] == found(*rows)
    assert ("RT101", "error", 5) in found(*rows, done("a", "x"))


def test_an_id_may_be_used_again_after_a_restore() -> None:
    """Run b goes on from step 0 of run a and does the work of x again."""
    rows = [started("a"), saved("a", 0), dispatched("a", "x"), done("a", "x"), started("b"), restored("b", 0),
            dispatched("b", "x"), done("b", "x")]  # fmt: skip

    assert [] == found(*rows)


def test_a_run_may_restore_by_itself() -> None:
    """A roll-back within one process opens a new stretch, in which ids may come again."""
    rows = [saved("a", 0), dispatched("a", "x"), done("a", "x"), restored("a", 0), dispatched("a", "x"), done("a", "x")]

    assert [] == found(*rows)


def test_a_sibling_that_was_kept_is_sealed() -> None:
    """Its seal is not repeated."""
    assert ("RT101", "error", 2) in found(kept("a", "x"), done("a", "x"))
    assert ("RT103", "error", 2) in found(kept("a", "x"), given_up("a", "x"))


def test_an_attempt_that_was_resumed_may_end() -> None:
    """A turn or prefix that a restore kept opens the attempt as a dispatch does."""
    assert [] == found(resumed("b", "x", "turn", "w"), done("b", "x"))


def test_open_when_the_run_ended_cleanly() -> None:
    """The run says that it ended; nobody says what became of the attempt."""
    assert [("RT106", "warning", 2)] == found(started("a"), dispatched("a", "x"), ended("a"))


def test_open_when_the_run_was_killed() -> None:
    """Two attempts, one note with the line of the first; a run that may go on has none."""
    rows = [started("a"), dispatched("a", "x"), dispatched("a", "y"), started("b")]
    report = checked(*rows)

    assert [("RT107", 2, "2 attempts were open when the run was killed; the first began here.")] == [
        (one.code, one.line, one.message) for one in report.findings
    ]
    assert () == checked(*rows[:3]).findings


def test_rows_without_an_id_are_passed_over() -> None:
    """The schema says what is wrong with them."""
    rows = [{**done("a", "x"), "attempt_id": None}, {**given_up("a", "x"), "attempt_id": [1]}, dispatched("a", "y")]
    rows[2].pop("attempt_id")

    assert [] == found(*rows)


def test_very_old_ends_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for two, the end of x is let go when z ends; its second end has no beginning then."""
    monkeypatch.setattr(attempts, "Recent", lambda: Recent(2))
    rows = [row for name in "xyz" for row in (dispatched("a", name), done("a", name))]

    assert ("RT101", "error", 7) in found(*rows, done("a", "y"))
    assert ("RT104", "error", 7) in found(*rows, done("a", "x"))
