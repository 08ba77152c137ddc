"""A policy small enough for a laptop: a softmax over eight tokens for each kind of task, and its policy gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from rtrace_otel.demo.settings import TASKS, VOCABULARY

LEARNING_RATE: Final = 2.5

Floats = npt.NDArray[np.float64]


class Policy:
    """A table of logits, one row for each kind of task.

    Args:
        logits: Shape ``(TASKS, VOCABULARY)``; zeros, hence uniform, by default.
    """

    def __init__(self, logits: Sequence[Sequence[float]] | None = None) -> None:
        """Take the logits."""
        self.logits: Floats = np.zeros((TASKS, VOCABULARY)) if logits is None else np.array(logits, dtype=np.float64)

    def probabilities(self, task: int) -> Floats:
        """Shape ``(VOCABULARY,)``; sums to 1."""
        exponentials = np.exp(self.logits[task] - self.logits[task].max())
        return np.asarray(exponentials / exponentials.sum())

    def sample(self, tasks: Sequence[int], rng: np.random.Generator) -> list[int]:
        """One token for each task."""
        table = np.cumsum([self.probabilities(task) for task in range(TASKS)], axis=1)
        draws = rng.random(len(tasks))
        chosen = [np.searchsorted(table[task], draw) for task, draw in zip(tasks, draws, strict=True)]
        return [min(int(token), VOCABULARY - 1) for token in chosen]

    def reinforce(self, task: int, rollouts: Sequence[Sequence[int]], rewards: Sequence[float]) -> None:
        """One policy-gradient step on a group, with advantages normalised within it.

        The gradient is ``sum_i A_i * mean_t(onehot(token_it) - p)``, with ``A_i`` the reward's distance from the
        group's mean in standard deviations (REINFORCE with a group baseline, as in GRPO without clipping).

        Args:
            task: Kind of the group's prompt.
            rollouts: Tokens of each generation.
            rewards: Reward of each generation.
        """
        values = np.array(rewards)
        spread = values.std()
        if not len(values) or spread == 0:
            return
        p = self.probabilities(task)
        gradient = np.zeros(VOCABULARY)
        for tokens, advantage in zip(rollouts, (values - values.mean()) / spread, strict=True):
            gradient += advantage * (np.bincount(tokens, minlength=VOCABULARY) / len(tokens) - p)
        self.logits[task] += LEARNING_RATE * gradient


def task_of(prompt_id: int) -> int:
    """Kind of a prompt."""
    return prompt_id % TASKS


def reward_of(prompt_id: int, tokens: Sequence[int]) -> float:
    """Share of the tokens that are the right one for the prompt."""
    return sum(token == task_of(prompt_id) for token in tokens) / len(tokens)
