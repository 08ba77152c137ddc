"""Keeps the memory for finished rollouts bounded, over all runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rtrace_otel.analysis.ledger.branch import Branch, Window
from rtrace_otel.analysis.ledger.work import PromptGroup

MAX_RETAINED: Final = 50_000
"""Rollouts of finished groups that are remembered one by one, in case a checkpoint before them is restored."""


class Retention:
    """Keeps the memory for finished rollouts bounded, over all runs; the oldest are forgotten first.

    Args:
        limit: Rollouts and groups that are remembered.
    """

    def __init__(self, limit: int) -> None:
        """Begin with none."""
        self._limit = limit
        self._branches: list[Branch] = []
        self._rollouts = 0

    def add(self, branch: Branch, group: PromptGroup) -> None:
        """A group was finished."""
        if not self._branches or self._branches[-1] is not branch:
            self._branches.append(branch)
        self._rollouts += 1 + len(group.rollouts)
        while self._rollouts > self._limit and self._branches:
            forgotten = self._branches[0].forget_oldest()
            if forgotten:
                self._rollouts -= forgotten
            elif len(self._branches) > 1:
                del self._branches[0]
            else:
                break

    def given_up(self, windows: Iterable[Window]) -> None:
        """These windows are a stop's now."""
        self._rollouts -= sum(1 + len(group.rollouts) for window in windows for _, group in window.finished)
