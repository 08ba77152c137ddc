"""Where every rollout ended: each is booked once, and what a stop takes is booked over to the stop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from rtrace_otel.analysis.checked import integer
from rtrace_otel.analysis.ledger.step_tokens import Account, Interval, StepColumns, StepWaste, totals_of
from rtrace_otel.analysis.ledger.work import Amount, Ended, Loss, PromptGroup, Rollout
from rtrace_otel.events import Row

MAX_REASONS: Final = 1000
"""Reasons told apart; further ones are booked together."""

LOST: Final = "lost"
"""What a stop took, between one step and the next."""

NOTHING: Final = Amount()


class Disposition(StrEnum):
    """Where a rollout ended, as far as no stop took it."""

    TRAINED = "trained"
    MASKED = "masked"
    ABANDONED = "abandoned"
    DISCARDED = "discarded"


_TRAINED: Final[Account] = (Disposition.TRAINED.value, None)
_MASKED: Final[Account] = (Disposition.MASKED.value, None)
_ABANDONED: Final = Disposition.ABANDONED.value
_DISCARDED: Final = Disposition.DISCARDED.value


@dataclass(slots=True)
class _Sum:
    """An :class:`Amount` in the making: one object for each account, not one for each rollout."""

    rollouts: int = 0
    tokens: int = 0
    exact: bool = True
    seconds: float = 0.0

    def amount(self) -> Amount:
        return Amount(self.rollouts, self.tokens, self.exact, 0, self.seconds)


class Books:
    """Accounts of rollouts by disposition and reason.

    Attributes:
        begun: Rollouts that were dispatched, or resumed in the middle.
        unseen: Sealed results that a restore kept and that the file does not tell the beginning of.
        tokens: Tokens by disposition and reason since the last step; ``lost`` is what a stop took.
    """

    def __init__(self) -> None:
        """Begin with nothing booked."""
        self.begun = 0
        self.unseen = 0
        self._sums: dict[tuple[str, str | None], _Sum] = {}
        self.tokens: dict[Account, int] = {}
        self._steps = StepColumns()
        self._keys: dict[tuple[str, str | None], tuple[str, str | None]] = {}

    @property
    def accounts(self) -> dict[tuple[str, str | None], Amount]:
        """What ended, by disposition and reason."""
        return {key: total.amount() for key, total in self._sums.items()}

    def trained(self, row: Row, groups: Iterable[PromptGroup]) -> None:
        """A step trained these groups."""
        for group in groups:
            self.kept_trained(rollout for rollout in group.rollouts if rollout.ended is Ended.SEALED)
        self._steps.append(integer(row.get("step")), row["run"], self.tokens)
        self.tokens = {}

    def steps(self) -> Iterator[StepWaste]:
        """What ended between one step and the next, in file order, and what ended since the last one."""
        yield from (step for step in self._steps if step.step is not None or step.tokens)
        if self.tokens:
            yield StepWaste(None, None, *totals_of(self.tokens))

    def intervals(self) -> Iterator[Interval]:
        """The same by account."""
        yield from (one for one in self._steps.intervals() if one.step is not None or one.tokens)
        tokens = {account: count for account, count in self.tokens.items() if count}
        if tokens:
            yield Interval(None, tokens)

    def kept_trained(self, rollouts: Iterable[Rollout]) -> None:
        """These sealed results are trained."""
        for rollout in rollouts:
            self._book(rollout, _MASKED if rollout.masked else _TRAINED)

    def discarded(self, group: PromptGroup) -> None:
        """A group was discarded."""
        for rollout in group.rollouts:
            if rollout.ended is Ended.SEALED:
                self._book(rollout, (_DISCARDED, group.discarded))

    def abandoned(self, rollout: Rollout) -> None:
        """An attempt was abandoned."""
        self._book(rollout, (_ABANDONED, rollout.reason))

    def sealed_late(self, rollout: Rollout) -> None:
        """An attempt was sealed after its group had been trained or discarded."""
        reason = "sealed after its group was trained" if rollout.group.trained else rollout.group.discarded
        self._book(rollout, (_DISCARDED, reason))

    def lost(self, losses: Iterable[Loss], forgotten: Amount) -> None:
        """A stop took these; what had been trained of them does not count as trained any more."""
        for loss in losses:
            rollout = loss.rollout
            if rollout.booked is not None:
                self._take_back(rollout.booked, amount_of_one(rollout))
                rollout.booked = None
            self._count((LOST, None), rollout.tokens)
        if forgotten.rollouts:
            self._take_back((Disposition.TRAINED.value, None), forgotten)
            self._count((LOST, None), forgotten.tokens)

    def _book(self, rollout: Rollout, key: Account) -> None:
        total = self._sums.get(key)
        if total is None:
            if len(self._sums) >= MAX_REASONS:
                key = (key[0], "(others)")
            total = self._sum(key)
        rollout.booked = self._keys.setdefault(key, key)  # one tuple for all rollouts of an account
        total.rollouts += 1
        total.tokens += rollout.tokens
        total.exact = total.exact and rollout.exact
        total.seconds += rollout.ran_s
        self._count(key, rollout.tokens)

    def _sum(self, key: tuple[str, str | None]) -> _Sum:
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = _Sum()
        return total

    def _count(self, account: Account, tokens: int) -> None:
        self.tokens[account] = self.tokens.get(account, 0) + tokens

    def _take_back(self, key: tuple[str, str | None], amount: Amount) -> None:
        total = self._sum(key)
        total.rollouts -= amount.rollouts
        total.tokens -= amount.tokens
        total.seconds -= amount.attempt_seconds


def amount_of_one(rollout: Rollout) -> Amount:
    """What a rollout has generated so far."""
    return Amount(1, rollout.tokens, rollout.exact, 0, rollout.ran_s)
