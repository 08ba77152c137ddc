"""What ended between one training step and the next, in columns: a few dozen bytes a step, kept to the end."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.checked import MAX_INT

NAMES: Final = ("trained", "masked", "abandoned", "discarded", "lost")
"""Accounts that a step tells apart."""

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


class StepColumns:
    """The steps so far, in file order. What is said of a step does not change any more."""

    def __init__(self) -> None:
        """Begin without steps."""
        self._runs: dict[str, int] = {}
        self._run = array("l")
        self._step = array("q")
        self._tokens = array("q")

    def append(self, step: int | None, run: str, tokens: Mapping[str, int]) -> None:
        """A step was trained.

        Args:
            step: Its number.
            run: The run that trained it.
            tokens: Tokens by account since the step before; numbers of more than 63 bits, which no job has, are cut.
        """
        self._run.append(self._runs.setdefault(run, len(self._runs)))
        self._step.append(_NO_STEP if step is None else step)
        self._tokens.extend(min(tokens.get(name, 0), MAX_INT - 1) for name in NAMES)

    def __iter__(self) -> Iterator[StepWaste]:
        """Each step, with what ended since the one before."""
        runs = list(self._runs)
        for place, step in enumerate(self._step):
            tokens = self._tokens[place * len(NAMES) : (place + 1) * len(NAMES)]
            yield StepWaste(None if step == _NO_STEP else step, runs[self._run[place]], *tokens)
