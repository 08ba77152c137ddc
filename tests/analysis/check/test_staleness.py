"""Ages below zero, and ages that differ: the findings of the age analysis with their lines."""

from __future__ import annotations

from tests.analysis.check.checking import checked, found, saved
from tests.report.history import published, refit, restored, started, trained


def test_an_age_that_agrees_is_no_finding() -> None:
    """40 tokens of version 3 and 60 of 4, trained at 5: 5 - 3.6 = 1.4, logged to 1e-7."""
    rows = [refit("a", 3, 4, ("c", 40)), published("a", "g", {3: 40, 4: 60}, ("c", 3, 100)),
            trained("a", 1, 5, "g", logged=1.4000001)]  # fmt: skip

    assert [] == found(*rows)


def test_a_negative_age() -> None:
    """Tokens of version 6, trained at 5."""
    report = checked(refit("a", 5, 6), published("a", "g", {6: 10}), trained("a", 1, 5, "g"))

    assert [("RT501", 3, "Step 1 has a batch age of -1; it updates version 5.")] == [
        (one.code, one.line, one.message) for one in report.findings
    ]


def test_counts_that_do_not_follow_from_the_calls() -> None:
    """The same run cut the call at 40, and published all 100 tokens under version 3: 2 in place of 1.4."""
    rows = [refit("a", 3, 4, ("c", 40)), published("a", "g", {3: 100}, ("c", 3, 100)), trained("a", 1, 5, "g")]
    report = checked(*rows)

    assert [("RT303", 2), ("RT502", 3)] == [(one.code, one.line) for one in report.findings]
    assert "Step 1: the published age is 0.6 too old compared with the one recomputed from the calls." == (
        report.findings[1].message
    )


def test_an_age_that_was_logged_otherwise() -> None:
    """Steps 1 and 2 are logged 0.5 too young, and 0.25 too old."""
    rows = [published("a", "g", {4: 10}), published("a", "h", {5: 10}), trained("a", 1, 5, "g", logged=0.5),
            trained("a", 2, 6, "h", logged=1.25)]  # fmt: skip
    report = checked(*rows)

    assert [("RT503", 3)] == [(one.code, one.line) for one in report.findings]
    assert "Steps 1, 2: the logged age is 0.5 too young to 0.25 too old compared with the one of the groups." == (
        report.findings[0].message
    )


def test_cuts_that_a_restore_lost_are_a_note() -> None:
    """Run a cut the call at 40; run b published it uncut and logged the age 0.6 too old."""
    rows = [refit("a", 3, 4, ("c", 40)), saved("a", 4), started("b"), restored("b", 4),
            published("b", "g", {3: 100}, ("c", 3, 100)), trained("b", 5, 5, "g", logged=2.0)]  # fmt: skip
    report = checked(*rows)

    assert [("RT504", "info", 6)] == [(one.code, one.severity, one.line) for one in report.findings]
    assert "Step 5: the published age is 0.6 too old; a kill took the cuts of 1 call." == report.findings[0].message


def test_a_step_that_is_trained_again_hides_nothing() -> None:
    """Run a's step 2 was logged wrong; run b trains step 2 again, and logs it right."""
    rows = [trained("a", 1, 0), saved("a", 1), published("a", "g", {1: 10}), trained("a", 2, 1, "g", logged=3.0),
            started("b"), restored("b", 1), published("b", "h", {1: 10}), trained("b", 2, 1, "h", logged=0.0),
            ]  # fmt: skip

    assert [("RT503", "error", 4)] == found(*rows)


def test_many_steps_are_named_by_the_first() -> None:
    """Seven steps, each logged 1 too old."""
    steps = range(1, 8)
    rows = [published("a", f"g{step}", {step: 10}) for step in steps]
    rows += [trained("a", step, step, f"g{step}", logged=1.0) for step in steps]

    assert "Steps 1, 2, 3, 4, 5 and 2 more: the logged age is 1 too old compared with the one of the groups." == (
        checked(*rows).findings[0].message
    )
