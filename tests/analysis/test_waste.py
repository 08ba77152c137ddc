"""Where the tokens went: every rollout in one account, in total and per step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.ledger.books import MAX_REASONS
from rtrace_otel.analysis.ledger.step_tokens import StepWaste
from rtrace_otel.analysis.ledger.work import Amount
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.waste import LEFT_OPEN, RUN_ENDED, Account, WallClock, WasteFold, WasteReport, waste_report
from rtrace_otel.events import Row
from rtrace_otel.testing import simulate, varied_settings
from tests.analysis.ledger.stories import ONE_STOP, back, drop, keep, once, save, seal, send, train
from tests.report.history import abandoned, event, refit, started, trace


def accounts(rows: list[Row]) -> dict[tuple[str, str | None], Amount]:
    """The accounts of some rows, which add up."""
    report = waste_report(rows)
    report.self_check()
    return {(account.name, account.reason): account.amount for account in report.accounts}


def test_a_job_in_full() -> None:
    """One stop, worked out in the test of the restore report.

    Seven rollouts began: a1, x, y and z in run a, and y1, z1 and a2 in run b. The result x lives on and waits, with
    its 30 tokens and 4 s. Of y, 5 of 7 tokens live on in y1, which runs from 53 to 59; z1 from 54 on. Step 2 of run a
    trained a1; run b lost what there was at the stop, 47 tokens, before it trained step 2 again.
    """
    report = waste_report(ONE_STOP)

    report.self_check()
    assert WasteReport(
        accounts=(
            Account("waiting", RUN_ENDED, None, Amount(1, 30, True, 0, 4.0)),
            Account("trained", None, "productive", Amount(1, 10, True, 0, 2.0)),
            Account("lost", "trained_again", "wasted", Amount(1, 10, True, 0, 2.0)),
            Account("open", RUN_ENDED, None, Amount(2, 5, False, 0, 6.0 + 5.0)),
            Account("lost", "resumed", "wasted", Amount(1, 2, False, 0, 7.0)),
            Account("lost", "redone", "wasted", Amount(1, 0, False, 0, 2.0)),
        ),
        begun=7,
        unseen=0,
        steps=(StepWaste(2, "a", 10, 0, 0, 0, 0), StepWaste(2, "b", 10, 0, 0, 0, 47)),
        wall=WallClock(59.0, 30.0, None, None, None),
        attempt_seconds=28.0,
    ) == report  # fmt: skip


def test_every_account_without_a_stop() -> None:
    """Trained, masked, abandoned, discarded, waiting and open, and the time that rows say."""
    rows = trace(
        started("a"), send("a", "t", "g", "p"), send("a", "m", "g", "p", 1), seal("a", "t"),
        seal("a", "m", 20, masked=True), send("a", "e", "g", "p", 2), abandoned("a", "e") | {"tokens": 7},
        train("a", 1, "g", seconds=1.5), refit("a", 1, 2, seconds=0.25), save("a", 1, seconds=0.5),
        send("a", "d", "h", "q"), seal("a", "d", 5), drop("a", "h"), send("a", "w", "i", "r"), seal("a", "w", 3),
        send("a", "o", "i", "r", 1), refit("a", 2, 3, ("o", 2), seconds=0.25),
    )  # fmt: skip
    report = waste_report(rows)

    assert {
        ("trained", None): Amount(1, 10, True, 0, 2.0),
        ("masked", None): Amount(1, 20, True, 0, 2.0),
        ("abandoned", "timeout"): Amount(1, 7, True, 0, 1.0),
        ("discarded", "stale"): Amount(1, 5, True, 0, 1.0),
        ("waiting", None): Amount(1, 3, True, 0, 1.0),
        ("open", None): Amount(1, 2, False, 0, 1.0),
    } == accounts(rows)
    assert (StepWaste(1, "a", 10, 20, 7, 0, 0), StepWaste(None, None, 0, 0, 0, 5, 0)) == report.steps
    assert WallClock(16.0, 0.0, 1.5, 0.5, 0.5) == report.wall
    assert 10 / 47 == report.share("trained")
    assert 0.0 == report.share("lost")


def test_no_rollout() -> None:
    """Nothing has no share and takes no time."""
    report = waste_report([])

    assert WasteReport((), 0, 0, (), WallClock(None, 0.0, None, None, None), 0.0) == report
    assert report.share("trained") is None


def test_a_result_that_comes_too_late() -> None:
    """Sealed after its group was trained, or after it was discarded."""
    rows = trace(
        started("a"), send("a", "x", "g", "p"), train("a", 1, "g"), seal("a", "x"),
        send("a", "y", "h", "q"), drop("a", "h", "no valid rollout"), seal("a", "y"),
    )  # fmt: skip

    assert {
        ("discarded", "sealed after its group was trained"): Amount(1, 10, True, 0, 2.0),
        ("discarded", "no valid rollout"): Amount(1, 10, True, 0, 2.0),
    } == accounts(rows)


def test_a_result_that_comes_after_its_run_was_given_up() -> None:
    """Group h was written off before the stop, and x comes in after run b took over: it is still booked."""
    rows = trace(
        started("a"), send("a", "x", "h", "q"), drop("a", "h"), started("b"), back("b", 0), seal("a", "x"),
    )  # fmt: skip

    assert {("discarded", "stale"): Amount(1, 10, True, 0, 4.0)} == accounts(rows)


def test_attempts_that_nobody_waited_for_when_their_run_stopped() -> None:
    """They are not open for ever: x belongs to a group that was trained and saved, y to one that was discarded."""
    rows = trace(
        started("a"), send("a", "x", "g", "p"), train("a", 1, "g"), save("a", 1), send("a", "y", "h", "q"),
        drop("a", "h"), started("b"), back("b", 1),
    )  # fmt: skip

    assert {
        ("discarded", LEFT_OPEN): Amount(1, 0, False, 0, 4.0), ("discarded", "stale"): Amount(1, 0, False, 0, 1.0),
    } == accounts(rows)  # fmt: skip


def test_one_id_for_two_attempts() -> None:
    """A damaged row sends out x again after it was sealed: both are there, and both were trained."""
    rows = trace(
        started("a"), send("a", "x", "g", "p"), seal("a", "x"), send("a", "x", "g", "p"), seal("a", "x", 5),
        train("a", 1, "g"),
    )  # fmt: skip

    assert {("trained", None): Amount(2, 15, True, 0, 2.0)} == accounts(rows)


def test_what_was_kept_stays_kept_when_the_stopped_run_abandons_it() -> None:
    """Run b kept x, whose seal is not in the file; the row of run a's clean-up comes late."""
    rows = trace(
        started("a"), send("a", "x", "g", "p"), started("b"), back("b", 0), keep("b", "x", "g", tokens_kept=9),
        abandoned("a", "x", "run ended"), train("b", 1, "g"),
    )  # fmt: skip

    assert {("trained", None): 1} == {key: amount.rollouts for key, amount in accounts(rows).items()}


def test_what_a_stopped_run_abandons_late_cannot_be_kept_afterwards() -> None:
    """Run a abandons y after run b took over: the result that b keeps for that generation is another one."""
    rows = trace(
        started("a"), send("a", "y", "g", "p"), started("b"), back("b", 0), abandoned("a", "y"),
        keep("b", "z", "h", prompt_id="p"), train("b", 1, "h"),
    )  # fmt: skip

    assert {("trained", None): 1, ("abandoned", "timeout"): 1} == {k: a.rollouts for k, a in accounts(rows).items()}


def test_a_group_that_is_named_twice_by_a_step() -> None:
    """It is trained once, also if it came back from a stop."""
    rows = trace(
        started("a"), *once("a", 1, "1"), started("b"), back("b", 0), send("b", "x", "g1", "p1"), seal("b", "x"),
        train("b", 1, "g1", "g1"), train("b", 2, "g1"),
    )  # fmt: skip

    assert {("trained", None): 1, ("lost", "trained_again"): 1} == {k: a.rollouts for k, a in accounts(rows).items()}


def test_many_reasons_are_booked_together() -> None:
    """Memory is bounded: reasons behind the first thousand share one account."""
    rows = trace(
        started("a"),
        *(
            row
            for number in range(MAX_REASONS + 5)
            for row in (send("a", f"x{number}", "g", "p"), abandoned("a", f"x{number}", f"reason {number}"))
        ),
    )
    found = accounts(rows)

    assert MAX_REASONS + 1 == len(found)
    assert 5 == found["abandoned", "(others)"].rollouts


def test_a_fold_beside_the_restores_of_the_same_pass() -> None:
    """It reads what they followed, and comes to the same."""
    restores = RestoreFold()
    waste = WasteFold(restores)
    for row in ONE_STOP:
        restores.add(row)
        waste.add(row)

    assert waste_report(ONE_STOP) == waste.result()


def test_accounts_that_do_not_add_up() -> None:
    """One rollout too many, or fewer than none."""
    report = waste_report(ONE_STOP)

    for wrong in (
        replace(report, begun=8),
        replace(report, accounts=(replace(report.accounts[0], amount=Amount(-1)), *report.accounts[1:]), begun=5),
    ):
        with pytest.raises(AssertionError):
            wrong.self_check()


@given(st.integers(0, 500))
@settings(deadline=None)
def test_steps_add_up_to_the_accounts(seed: int) -> None:
    """What no stop took is in the books of some step: without stops, tokens per step add up to the accounts."""
    rows = simulate(replace(varied_settings(seed), stops=())).rows
    report = waste_report(rows)

    report.self_check()
    for name in ("trained", "masked", "abandoned", "discarded"):
        total = sum(account.amount.tokens for account in report.accounts if account.name == name)
        assert total == sum(getattr(step, name) for step in report.steps)


def test_events_of_other_kinds_change_nothing() -> None:
    """Rows that a user adds, and odd durations, are passed over."""
    rows = trace(started("a"), event("a", "mark", seconds=4.0), train("a", 1, seconds=-1.0), train("a", 2, seconds="x"))

    assert WallClock(3.0, 0.0, None, None, None) == waste_report(rows).wall
