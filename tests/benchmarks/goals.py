"""Goals of the benchmarks: what was measured against what is wanted, in one table when all have run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Goal:
    """A number and its limit.

    Attributes:
        what: What was measured.
        measured: The number.
        limit: What it should not pass.
        least: Whether the limit is the least that is wanted; else it is the most.
        unit: What follows the numbers.
    """

    what: str
    measured: float
    limit: float
    least: bool
    unit: str = "x"

    @property
    def met(self) -> bool:
        """Whether the number keeps to its limit."""
        return self.measured >= self.limit if self.least else self.measured <= self.limit


class Goals:
    """Those of a session, in the order of their benchmarks."""

    KEY = pytest.StashKey["Goals"]()

    def __init__(self) -> None:
        """Begin without any."""
        self._goals: list[Goal] = []

    def least(self, what: str, measured: float, limit: float) -> None:
        """A ratio that should be so large at least."""
        self._goals.append(Goal(what, measured, limit, least=True))

    def most(self, what: str, measured: float, limit: float, unit: str = "x") -> None:
        """A number that should be so large at most."""
        self._goals.append(Goal(what, measured, limit, least=False, unit=unit))

    def lines(self) -> Iterator[str]:
        """The table."""
        return lines_of(self._goals)


def lines_of(goals: Iterable[Goal]) -> Iterator[str]:
    """Goals as the lines of a table; none without goals."""
    found = list(goals)
    width = max((len(goal.what) for goal in found), default=0)
    for goal in found:
        sign, met = ("at least" if goal.least else "at most"), ("met" if goal.met else "NOT MET")
        yield f"{goal.what:{width}}  {goal.measured:8.2f} {goal.unit:4} {sign:>8} {goal.limit:g}  {met}"
