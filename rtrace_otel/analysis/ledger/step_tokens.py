"""What ended between one training step and the next, in columns: a few dozen bytes a step, kept to the end."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from rtrace_otel.analysis.checked import MAX_INT

NAMES: Final = ("trained", "masked", "abandoned", "discarded", "lost")
"""Accounts that a step tells apart."""

Account: TypeAlias = tuple[str, str | None]
"""Where tokens ended, one of ``NAMES``, and the reason, if one was given."""

_NO_STEP: Final = -MAX_INT


@dataclass(frozen=True, slots=True)
class StepWaste:
    """What ended between the step before and this one.

    Attributes:
        step: Step number; ``None`` for what ended after the last step.
        run: The run that trained it.
        trained: Tokens trained.
        masked: Tokens of masked rollouts.
        abandoned: Tokens of abandoned attempts.
        discarded: Tokens of discarded groups.
        lost: Tokens that a stop took, reused ones included: what comes back is known only later.
    """

    step: int | None
    run: str | None
    trained: int
    masked: int
    abandoned: int
    discarded: int
    lost: int

    @property
    def tokens(self) -> int:
        """Tokens of all accounts."""
        return self.trained + self.masked + self.abandoned + self.discarded + self.lost


@dataclass(frozen=True, slots=True)
class Interval:
    """What ended between one step and the next.

    Attributes:
        step: The step that ended it; ``None`` for what ended after the last step, or if it has no number.
        tokens: Tokens by account; none is 0.
    """

    step: int | None
    tokens: Mapping[Account, int]


class StepColumns:
    """The steps so far, in file order. What is said of a step does not change any more."""

    def __init__(self) -> None:
        """Begin without steps."""
        self._runs: dict[str, int] = {}
        self._run = array("l")
        self._step = array("q")
        self._tokens = array("q")
        self._accounts: dict[Account, int] = {}
        self._reasons_end = array("q")
        self._reasons = array("q")

    def append(self, step: int | None, run: str, tokens: Mapping[Account, int]) -> None:
        """A step was trained.

        Args:
            step: Its number.
            run: The run that trained it.
            tokens: Tokens by account since the step before; numbers of more than 63 bits, which no job has, are cut.
        """
        self._run.append(self._runs.setdefault(run, len(self._runs)))
        self._step.append(_NO_STEP if step is None else step)
        self._tokens.extend(totals_of(tokens))
        for account, count in tokens.items():
            if account[1] is not None and count:
                self._reasons.extend((self._accounts.setdefault(account, len(self._accounts)), min(count, MAX_INT - 1)))
        self._reasons_end.append(len(self._reasons))

    def __iter__(self) -> Iterator[StepWaste]:
        """Each step, with what ended since the one before."""
        runs = list(self._runs)
        for place, step in enumerate(self._step):
            yield StepWaste(None if step == _NO_STEP else step, runs[self._run[place]], *self._totals(place))

    def intervals(self) -> Iterator[Interval]:
        """Each step, with what ended since the one before by account."""
        accounts = list(self._accounts)
        begin = 0
        for place, (step, end) in enumerate(zip(self._step, self._reasons_end, strict=True)):
            tokens: dict[Account, int] = {}
            rest = dict(zip(NAMES, self._totals(place), strict=True))
            for number, count in zip(self._reasons[begin:end:2], self._reasons[begin + 1 : end : 2], strict=True):
                tokens[accounts[number]] = count
                rest[accounts[number][0]] -= count
            tokens.update({(name, None): count for name, count in rest.items() if count})
            yield Interval(None if step == _NO_STEP else step, tokens)
            begin = end

    def _totals(self, place: int) -> Sequence[int]:
        return self._tokens[place * len(NAMES) : (place + 1) * len(NAMES)]


def totals_of(tokens: Mapping[Account, int]) -> list[int]:
    """Tokens of each of ``NAMES``, over all reasons."""
    totals = dict.fromkeys(NAMES, 0)
    for (name, _), count in tokens.items():
        totals[name] += count
    return [min(count, MAX_INT - 1) for count in totals.values()]
