"""Tokens that ended between one step and the next, by account."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.ledger.step_tokens import Account, Interval
from rtrace_otel.analysis.restore import RestoreFold
from rtrace_otel.analysis.waste import WasteFold
from rtrace_otel.analysis.waste_steps import MAX_ACCOUNTS, OTHERS, WasteSteps, waste_steps
from rtrace_otel.testing import simulate, varied_settings

TRAINED, ERROR = ("trained", None), ("abandoned", "error")


def test_by_hand() -> None:
    """Step 1 was trained on 30 tokens, while 5 were abandoned; 7 more were abandoned after it. The most come first."""
    intervals = [Interval(1, {ERROR: 5, TRAINED: 30}), Interval(None, {ERROR: 7})]

    assert WasteSteps((1, None), {TRAINED: (30, 0), ERROR: (5, 7)}) == waste_steps(intervals)


def test_a_step_in_which_nothing_ended_is_an_interval() -> None:
    """It has a number, and no account."""
    assert WasteSteps((1,), {}) == waste_steps([Interval(1, {})])
    assert WasteSteps((), {}) == waste_steps([])


def test_the_smallest_accounts_share_a_line() -> None:
    """Of ten accounts the eight with the most tokens stand alone; nine are no more lines than eight and the rest."""
    ten: dict[Account, int] = {("abandoned", str(place)): 100 - place for place in range(MAX_ACCOUNTS + 2)}
    nine = dict(list(ten.items())[:-1])

    assert [*list(ten)[:MAX_ACCOUNTS], OTHERS] == list(waste_steps([Interval(1, ten)]).tokens)
    assert (92 + 91,) == waste_steps([Interval(1, ten)]).tokens[OTHERS]
    assert list(nine) == list(waste_steps([Interval(1, nine)]).tokens)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_the_intervals_add_up_to_the_steps_of_the_waste_report(seed: int) -> None:
    """In each interval the accounts of one name have the tokens that ``rtrace waste`` gives it."""
    restores = RestoreFold()
    fold = WasteFold(restores)
    for row in simulate(varied_settings(seed)).rows:
        restores.add(row)
        fold.add(row)
    report, found = fold.result(), waste_steps(restores.follower.books.intervals())

    found.self_check()
    assert [step.step for step in report.steps] == list(found.steps)
    for name in ("trained", "masked", "abandoned", "discarded", "lost"):
        if OTHERS not in found.tokens:
            series = [values for key, values in found.tokens.items() if key[0] == name]
            assert [getattr(step, name) for step in report.steps] == [
                sum(values) for values in zip(*series, strict=True)
            ] or not any(getattr(step, name) for step in report.steps)
    total = sum(step.trained + step.masked + step.abandoned + step.discarded + step.lost for step in report.steps)
    assert total == sum(map(sum, found.tokens.values()))
