"""Where the rollouts and the tokens of a trace went: two sums that must agree."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Balance:
    """What was generated, and what became of it: generated = the sum of all others.

    Attributes:
        generated: Rollout attempts that began, or tokens that rows tell of them.
        trained: Trained on by a step; also by a step whose work a restore took back.
        masked: Masked; as tokens also those dropped from a group that was trained on, such as dead branches.
        discarded: Discarded with their group.
        abandoned: Of attempts that were abandoned.
        lost: Open, or in an unfinished group, when the run was killed, and not brought back by a restore.
        open: Open, or in a group that waits, at the end of the file or of a run that ended cleanly.
        unmatched: Of ends that no open attempt has: ended twice, or never dispatched.
    """

    generated: int
    trained: int
    masked: int
    discarded: int
    abandoned: int
    lost: int
    open: int
    unmatched: int

    @property
    def residual(self) -> int:
        """Generated minus the sum of all others: 0 where everything adds up."""
        ended = self.trained + self.masked + self.discarded + self.abandoned
        return self.generated - ended - self.lost - self.open - self.unmatched


@dataclass(frozen=True, slots=True)
class Ledger:
    """The conservation laws of a trace.

    Attributes:
        rollouts: Of rollout attempts.
        tokens: Of generated tokens, where rows tell them.
        without_tokens: Rollout attempts whose tokens no row tells; in flight at a kill, for example.
    """

    rollouts: Balance
    tokens: Balance
    without_tokens: int

    def self_check(self) -> None:
        """Both sums agree.

        Raises:
            AssertionError: One of them does not.
        """
        assert self.rollouts.residual == 0, self.rollouts
        assert self.tokens.residual == 0, self.tokens
