"""What the demo's processes agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

VOCABULARY: Final = 8
"""Tokens that the policy chooses from."""

TASKS: Final = 4
"""Prompts are of this many kinds; the kind decides which token is right."""

PROMPTS: Final = 24
"""Prompts in the dataset."""

STALE_AFTER: Final = 5
"""A group that began more than this many versions before the trainer's is not trained."""


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """Size and speed of the demo.

    Attributes:
        seed: Seeds the policy's sampling, the lengths and the faults; the order of events is real and varies.
        steps: Training steps in all.
        groups_per_step: Prompt groups that a step trains on.
        generations: Rollouts of each group.
        groups_in_flight: Groups between reservation and training.
        checkpoint_every: Steps between checkpoints.
        train_s: How long the optimizer step takes, beside the real gradient.
        checkpoint_s: How long the environment's admission stays closed for a checkpoint.
        token_s: Time from one token of a call to the next.
        slots: Calls that the inference server runs at once.
        failure_rate: Share of calls that the server fails half-way.
        masked_rate: Share of rollouts whose reward cannot be computed.
        dies_in_step: Step in which the controller kills itself, or the first one after it that begins with a published
            checkpoint; ``None`` for never.
        dies_after: Share of that step's training time that has passed by then.
    """

    seed: int = 0
    steps: int = 14
    groups_per_step: int = 5
    generations: int = 4
    groups_in_flight: int = 12
    checkpoint_every: int = 4
    train_s: float = 0.12
    checkpoint_s: float = 0.25
    token_s: float = 0.004
    slots: int = 36
    failure_rate: float = 0.04
    masked_rate: float = 0.03
    dies_in_step: int | None = None
    dies_after: float = 0.0
