"""Tokens that ended between one training step and the next, by where they ended and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rtrace_otel.analysis.ledger.books import StepBooks

MAX_ACCOUNTS: Final = 8
"""Accounts that are told apart, those with the most tokens; the rest are counted together."""

Key: TypeAlias = tuple[str, str | None]
"""Name and reason of an account, as those of :class:`rtrace_otel.analysis.waste.Account`."""

OTHERS: Final[Key] = ("others", None)


@dataclass(frozen=True, slots=True)
class WasteSteps:
    """What ended between one step and the next, in file order.

    Attributes:
        steps: The step that ended each interval; ``None`` for one after the last step, or without a number.
        tokens: Tokens of each account in each interval, the account with the most first; trained ones are one too.
            Those of ``lost`` are what a stop took, reused results included: what comes back is known only later.
    """

    steps: tuple[int | None, ...]
    tokens: dict[Key, tuple[int, ...]]

    def self_check(self) -> None:
        """Every account has a number for each interval.

        Raises:
            AssertionError: One does not.
        """
        assert all(len(series) == len(self.steps) for series in self.tokens.values()), self


def waste_steps(books: Sequence[StepBooks]) -> WasteSteps:
    """The tokens of each interval by account.

    Args:
        books: What was booked in each interval.
    """
    intervals = [one for one in books if one.step is not None or one.booked]
    totals: dict[Key, int] = {}
    for one in intervals:
        for key, amount in one.booked.items():
            totals[key] = totals.get(key, 0) + amount.tokens
    order = sorted((key for key, tokens in totals.items() if tokens), key=lambda key: totals[key], reverse=True)
    named = order[:MAX_ACCOUNTS] if len(order) > MAX_ACCOUNTS + 1 else order
    series = {key: [0] * len(intervals) for key in named}
    rest = [0] * len(intervals)
    for place, one in enumerate(intervals):
        for key, amount in one.booked.items():
            series.get(key, rest)[place] += amount.tokens
    if len(named) < len(order):
        series[OTHERS] = rest
    return WasteSteps(tuple(one.step for one in intervals), {key: tuple(values) for key, values in series.items()})
