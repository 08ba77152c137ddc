"""What starts ends, and steps follow one another."""

from __future__ import annotations

import pytest

from rtrace_otel.analysis.check import phases
from rtrace_otel.events import Row
from tests.analysis.check.checking import checked, found, saved
from tests.report.history import ended, event, refit, restored, started, trained


def begun(what: str, **fields: object) -> Row:
    """A step, refit or checkpoint of run a starts."""
    return event("a", f"{what}_started", **fields)


def step_begun(step: int) -> Row:
    """A training step of run a starts."""
    return begun("train_step", step=step)


def test_everything_ended() -> None:
    """A step, a refit and a checkpoint that overlaps the next step."""
    rows = [step_begun(1), trained("a", 1, 0), begun("weight_sync"), refit("a", 0, 1), begun("checkpoint"),
            step_begun(2), saved("a", 1), trained("a", 2, 1), ended("a")]  # fmt: skip

    assert [] == found(*rows)


def test_a_step_that_never_ended() -> None:
    """Step 1 started in line 1; step 2 ended."""
    report = checked(step_begun(1), step_begun(2), trained("a", 2, 1))

    assert [("RT601", 1, "Step 1 started here and never ended, though step 2 did.")] == [
        (one.code, one.line, one.message) for one in report.findings
    ]


def test_a_stop_in_a_step_is_no_finding() -> None:
    """What is under way at the end of the file, at a kill, or when the recorder is closed, is not over."""
    rows = [started("a"), step_begun(1), begun("weight_sync"), begun("checkpoint")]

    assert [] == found(*rows)
    assert [] == found(*rows, started("b"))
    assert [] == found(*rows, ended("a"))


@pytest.mark.parametrize(("what", "code"), [("weight_sync", "RT602"), ("checkpoint", "RT603")])
def test_a_refit_or_checkpoint_that_never_ended(what: str, code: str) -> None:
    """Of two that started one may be under way; the one in line 2 never ended."""
    rows = [started("a"), begun(what), begun(what)]

    assert [(code, "warning", 2)] == found(*rows)
    assert [(code, "warning", 2)] == found(*rows, ended("a"))


def test_the_latest_start_is_the_one_that_ended() -> None:
    """A refit that failed in line 2, and the one that worked."""
    assert [("RT602", "warning", 2)] == found(
        started("a"), begun("weight_sync"), begun("weight_sync"), refit("a", 0, 1), begun("weight_sync")
    )


@pytest.mark.parametrize(
    ("step", "how"),
    [(3, "on: no"), (5, "the steps between have no row"), (2, "the same number again"), (1, "the numbers go back")],
)
def test_steps_follow_one_another(step: int, how: str) -> None:
    """After step 2 comes step 3."""
    report = checked(trained("a", 1, 0), trained("a", 2, 1), trained("a", step, 2))
    expected = [] if step == 3 else [("RT604", 3)]

    assert expected == [(one.code, one.line) for one in report.findings]
    assert step == 3 or f"Step {step} follows step 2: {how}" in report.findings[0].message


def test_a_restore_begins_a_new_count() -> None:
    """Run b trains step 2 again, and run a may roll back by itself; two runs do not share a count."""
    rows = [trained("a", 1, 0), saved("a", 1), trained("a", 2, 1), trained("a", 3, 2)]

    assert [] == found(*rows, started("b"), restored("b", 1), trained("b", 2, 1))
    assert [] == found(*rows, restored("a", 1), trained("a", 2, 1))
    assert [] == found(trained("a", 1, 0), trained("b", 7, 6), trained("a", 2, 1))


def test_steps_without_a_number_are_passed_over() -> None:
    """The schema says what is wrong with them."""
    assert [] == found(
        trained("a", 1, 0), event("a", "train_step", group_ids=[]), begun("train_step"), trained("a", 2, 1)
    )


def test_what_starts_and_never_ends_does_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for two of each kind, the oldest is let go."""
    monkeypatch.setattr(phases, "MAX_STARTED", 2)
    steps, refits = [step_begun(number) for number in (1, 2, 3)], [begun("weight_sync")] * 3

    assert [("RT601", "error", 2), ("RT601", "error", 3)] == found(*steps, trained("a", 4, 3))
    assert [("RT602", "warning", 2)] == found(*refits)
