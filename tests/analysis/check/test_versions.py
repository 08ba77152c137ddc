"""Weight versions rise, join, and exist before a token is made with them."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.check import versions
from rtrace_otel.events import Row
from tests.analysis.check.checking import checked, found, saved
from tests.report.history import ended, event, published, refit, restored, started

BEGAN = event("a", "weight_sync_started")


def test_a_chain_of_refits_is_no_finding() -> None:
    """Loaded weights, a refit that is tried again, a jump of two versions."""
    assert [] == found(refit("a", 3, 3), refit("a", 3, 4), refit("a", 3, 4), refit("a", 4, 6))


def test_a_version_that_goes_back() -> None:
    """4 is replaced with 3; the chain itself holds."""
    assert [("RT401", "error", 2)] == found(refit("a", 3, 4), refit("a", 4, 3))


def test_a_version_that_was_not_in_force() -> None:
    """Version 4 is in force when 5 is replaced: the row of a refit from 4 to 5 is missing."""
    report = checked(refit("a", 3, 4), refit("a", 5, 6), refit("a", 6, 7))

    assert [("RT402", 2)] == [(one.code, one.line) for one in report.findings]
    assert "A refit replaced version 5; version 4 was in force since the refit before." == report.findings[0].message


def test_a_restore_begins_a_new_chain() -> None:
    """Versions go back to the checkpoint's; other runs have chains of their own."""
    rows = [refit("a", 8, 9), saved("a", 4), restored("a", 4), refit("a", 4, 5), refit("b", 0, 1), refit("a", 5, 6)]

    assert [] == found(*rows)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (published("a", "g", {4: 10, 9: 1}), "tokens of version 9"),
        (published("a", "g", None, ("c", 4, 10), ("d", 9, 1)), "call d, which began on version 9"),
    ],
)
def test_a_version_from_the_future(row: Row, what: str) -> None:
    """Version 4 is the newest when the group is published, and 5 after the next refit; 9 never was."""
    report = checked(refit("a", 3, 4), row, refit("a", 4, 5), refit("a", 5, 9))

    assert [("RT403", 2, f"Group g has {what}; the newest version installed so far was 4.")] == [
        (one.code, one.line, one.message) for one in report.findings
    ]


def test_a_group_may_be_published_before_the_row_of_the_refit() -> None:
    """The servers have version 5 as soon as the refit is over; its row comes a moment later."""
    assert [] == found(refit("a", 3, 4), published("a", "g", {5: 10}), refit("a", 4, 5))


@pytest.mark.parametrize(
    ("rows", "is_error"),
    [
        ([published("a", "g", {5: 1})], False),
        ([BEGAN, published("a", "g", {5: 1})], False),
        ([published("a", "g", {6: 1})], True),
        ([BEGAN, refit("a", 4, 5), published("a", "g", {6: 1})], True),
        ([published("a", "g", {5: 1}), ended("a")], True),
    ],
    ids=["may be under way", "is under way", "two ahead", "no start row", "clean end"],
)
def test_the_last_refit_of_a_run_may_have_no_row(rows: list[Row], is_error: bool) -> None:
    """The file ends before the next refit: version 5 may just have been installed, unless the run ended cleanly."""
    assert is_error is ("RT403" in [code for code, _, _ in found(refit("a", 3, 4), *rows)])


def test_nothing_is_judged_before_a_refit_is_known() -> None:
    """A job may record no refit at all; zero tokens are of no version."""
    rows = [started("a", weight_version=3), published("a", "g", {9: 1}), refit("a", 3, 4)]

    assert [] == found(*rows, published("a", "h", {4: 1, 9: 0}), ended("a"))
    assert ["RT403"] == [code for code, _, _ in found(*rows, published("a", "h", {4: 1, 9: 1}), ended("a"))]


def test_a_restored_run_has_the_versions_of_its_checkpoint_only() -> None:
    """Run a had version 9, installed after the checkpoint with version 4: on run b's timeline it never was."""
    rows = [refit("a", 3, 4), saved("a", 4), refit("a", 4, 9), started("b"), restored("b", 4)]

    assert [] == found(*rows, published("b", "g", {4: 1}), ended("b"))
    assert ["RT403"] == [code for code, _, _ in found(*rows, published("b", "g", {9: 1}), ended("b"))]


def test_very_many_that_wait_are_judged_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for one, the first is judged by what was installed when it was published."""
    monkeypatch.setattr(versions, "MAX_WAITING", 1)
    rows = [refit("a", 3, 4), published("a", "g", {5: 1}), published("a", "h", {5: 1}), refit("a", 4, 5)]

    assert [("RT403", "error", 2)] == found(*rows)


def test_a_refit_without_its_versions_is_passed_over() -> None:
    """The schema says what is wrong with it; what waited for it cannot be confirmed."""
    rows = [refit("a", 3, 4), published("a", "g", {5: 1}), event("a", "weight_sync"), refit("a", 4, 5)]

    assert [("RT403", "error", 2)] == found(*rows)


def test_versions_below_zero_are_no_versions_from_the_future() -> None:
    """No call says what the tokens of version -3 came from."""
    rows = [refit("a", 3, 4), published("a", "g", {-3: 1}), published("a", "h", None, ("c", -5, 10))]

    assert [] == [code for code, _, _ in found(*rows) if code == "RT403"]
