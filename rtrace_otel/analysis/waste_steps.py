"""Tokens that ended between one training step and the next, by where they ended and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.ledger.step_tokens import Account, Interval

MAX_ACCOUNTS: Final = 8
"""Accounts that are told apart, those with the most tokens; the rest are counted together."""

OTHERS: Final[Account] = ("others", None)


@dataclass(frozen=True, slots=True)
class WasteSteps:
    """What ended between one step and the next, in file order.

    Attributes:
        steps: The step that ended each interval; ``None`` for one after the last step, or without a number.
        tokens: Tokens of each account in each interval, the account with the most first; trained ones are one too.
            Those of ``lost`` are what a stop took, reused results included: what comes back is known only later.
    """

    steps: tuple[int | None, ...]
    tokens: dict[Account, tuple[int, ...]]

    def self_check(self) -> None:
        """Every account has a number for each interval.

        Raises:
            AssertionError: One does not.
        """
        assert all(len(series) == len(self.steps) for series in self.tokens.values()), self


def waste_steps(intervals: Iterable[Interval]) -> WasteSteps:
    """The tokens of each interval by account.

    Args:
        intervals: What ended between one step and the next.
    """
    intervals = list(intervals)
    totals: dict[Account, int] = {}
    for one in intervals:
        for account, tokens in one.tokens.items():
            totals[account] = totals.get(account, 0) + tokens
    order = sorted((account for account, tokens in totals.items() if tokens), key=lambda a: totals[a], reverse=True)
    named = order[:MAX_ACCOUNTS] if len(order) > MAX_ACCOUNTS + 1 else order
    series = {account: [0] * len(intervals) for account in named}
    rest = [0] * len(intervals)
    for place, one in enumerate(intervals):
        for account, tokens in one.tokens.items():
            series.get(account, rest)[place] += tokens
    if len(named) < len(order):
        series[OTHERS] = rest
    return WasteSteps(tuple(one.step for one in intervals), {a: tuple(values) for a, values in series.items()})
