"""What is simulated: the size of the job, its faults, its stops, and what its rows say."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, fields
from typing import Final, Literal, TypeAlias, get_args

Keeps: TypeAlias = Literal["nothing", "group", "sibling", "turn", "prefix"]
"""What a checkpoint keeps of a group in flight: neither the group nor its prompt, the group but none of its work, its
sealed siblings, these and the complete turns, or these and every token."""

Ending: TypeAlias = Literal["clean", "killed", "running"]
"""How the last run ends. The rows of a run that was killed last and of one that still runs look the same."""

HowStopped: TypeAlias = Literal["kill", "clean", "drained"]
"""``kill``: nothing more is written. ``clean``: ``run_ended``, and what was open stays open. ``drained``: what is open
is abandoned and every group discarded with the reason ``run ended``; then ``run_ended``."""

_AT_LEAST: Final = {
    "prompts": 1,
    "epochs": 1,
    "generations": 1,
    "groups_per_step": 1,
    "steps": 1,
    "open_groups": 1,
    "calls": 1,
    "refit_every": 1,
    "checkpoint_every": 1,
    "give_up_after": 1,
    "staleness_limit": 0,
}
_POSITIVE: Final = ("tokens", "seconds", "train_s", "refit_s", "checkpoint_s", "load_s")
_RATES: Final = ("refusal_rate", "error_rate", "masked_rate")


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop, and the restart after it.

    Attributes:
        at_step: The run stops once this step is trained on its timeline; 0 for right at its start.
        after_rows: And not before it has written this many rows more.
        how: See :data:`HowStopped`.
        checkpoint: Which checkpoint the next run restores: 0 for the latest on the timeline, 1 for the one before it
            (or the oldest there is), and so on; ``None`` for none: the job starts over.
        down_s: Seconds from the last row of this run to the first of the next.
        late_row: Whether the last row is written only after the next run has begun. The row that completes a
            checkpoint is never late.

    Raises:
        ValueError: A value is out of its range.
    """

    at_step: int = 1
    after_rows: int = 0
    how: HowStopped = "kill"
    checkpoint: int | None = 0
    down_s: float = 60.0
    late_row: bool = False

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name, value in (("at_step", self.at_step), ("after_rows", self.after_rows)):
            _check_at_least(name, value, 0)
        if self.checkpoint is not None:
            _check_at_least("checkpoint", self.checkpoint, 0)
        _check_choice("how", self.how, get_args(HowStopped))
        if not (math.isfinite(self.down_s) and self.down_s >= 0):
            raise ValueError(f'"down_s" must be a number of at least 0: {self.down_s!r}')


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """A simulated job. Times are in seconds of the simulated clock.

    Attributes:
        seed: Seeds everything: lengths, faults, ids, the moments of stops given as a number.
        prompts: Prompts in the dataset.
        epochs: Passes over it; when they are used up the job ends, also before its last step.
        generations: Rollouts of each group.
        groups_per_step: Prompt groups that a step trains on.
        steps: Training steps in all.
        open_groups: Groups between reservation and training, at most.
        tokens: Mean tokens of a rollout.
        seconds: Mean time that a rollout generates.
        calls: Most model calls (turns) of a rollout; each has 1 to this many.
        train_s: Mean time of an optimizer step.
        refit_every: Steps between refits.
        refit_s: Mean time that a refit pauses the calls.
        checkpoint_every: Steps between checkpoints; ``None`` for none.
        checkpoint_s: Mean time from a checkpoint's start to its publication.
        load_s: Time from a run's first row until it has loaded its weights.
        stops: A number of kills spread over the job, or each stop. One that the job does not reach does not happen.
        keeps: See :data:`Keeps`.
        new_group_ids: Whether groups get new ids in a restore; those that were published are published again.
        derived_attempt_ids: Whether an attempt that goes on from another is named after it, as in ``x-1`` for ``x``.
            Two restores of one checkpoint then use the same id, and the same call ids, in two runs.
        version_restarts: Whether each run counts weight versions from 0, instead of going on.
        refusal_rate: Share of dispatches refused while a checkpoint is taken.
        error_rate: Share of attempts that a server error ends; their generation is dispatched again.
        give_up_after: Failed attempts of one generation in a run after which its group is discarded with the reason
            ``server error``; ``None`` for never.
        masked_rate: Share of results masked out; a group of masked results is discarded (``no valid rollout``).
        staleness_limit: Groups that began more than this many versions ago are discarded (``stale``); ``None`` for
            never.
        replacements: Whether a group discarded for an error is replaced by a prompt of a spare pool.
        writes_epoch: Whether ``group_reserved`` rows have ``epoch``.
        writes_checkpoint_started: Whether there are ``checkpoint_started`` rows. A checkpoint holds the state of that
            moment; without these rows, of the moment of its ``checkpoint_published`` row, which then has no
            ``seconds``.
        writes_resumed_dispatch: Whether an attempt that goes on from turns or tokens also has an
            ``attempt_dispatched`` row, right after its ``attempt_resumed``.
        ending: See :data:`Ending`.
        start: Time of the first row, in Unix seconds.

    Raises:
        ValueError: A value is out of its range.
    """

    seed: int = 0
    prompts: int = 64
    epochs: int = 4
    generations: int = 4
    groups_per_step: int = 4
    steps: int = 12
    open_groups: int = 12
    tokens: float = 200.0
    seconds: float = 20.0
    calls: int = 2
    train_s: float = 5.0
    refit_every: int = 1
    refit_s: float = 1.0
    checkpoint_every: int | None = 4
    checkpoint_s: float = 4.0
    load_s: float = 3.0
    stops: int | tuple[Stop, ...] = 1
    keeps: Keeps = "turn"
    new_group_ids: bool = False
    derived_attempt_ids: bool = False
    version_restarts: bool = False
    refusal_rate: float = 0.5
    error_rate: float = 0.03
    give_up_after: int | None = None
    masked_rate: float = 0.03
    staleness_limit: int | None = None
    replacements: bool = False
    writes_epoch: bool = True
    writes_checkpoint_started: bool = True
    writes_resumed_dispatch: bool = False
    ending: Ending = "clean"
    start: float = 1_750_000_000.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, least in _AT_LEAST.items():
            if values[name] is not None:
                _check_at_least(name, values[name], least)
        for name in _POSITIVE:
            if not (math.isfinite(values[name]) and values[name] > 0):
                raise ValueError(f'"{name}" must be a number above 0: {values[name]!r}')
        for name in _RATES:
            if not 0 <= values[name] <= 1:
                raise ValueError(f'"{name}" must be between 0 and 1: {values[name]!r}')
        _check_choice("keeps", self.keeps, get_args(Keeps))
        _check_choice("ending", self.ending, get_args(Ending))
        if not (math.isfinite(self.start) and self.start >= 0):
            raise ValueError(f'"start" must be a number of at least 0: {self.start!r}')
        self._check_together()

    def _check_together(self) -> None:
        if self.open_groups < self.groups_per_step:
            raise ValueError(
                f'"open_groups" must be at least "groups_per_step" ({self.groups_per_step}): {self.open_groups}'
            )
        if self.error_rate == 1 and self.give_up_after is None:
            raise ValueError('"error_rate" must be below 1 without "give_up_after", or no attempt ever ends well')
        if isinstance(self.stops, int):
            _check_at_least("stops", self.stops, 0)

    def planned_stops(self) -> tuple[Stop, ...]:
        """The stops in order; kills given as a number are spread over the steps, with moments from the seed."""
        if not isinstance(self.stops, int):
            return self.stops
        rng = random.Random(f"stops/{self.seed}")  # noqa: S311 - moments, not secrets
        share = self.steps / (self.stops + 1)
        rows = 2 * self.groups_per_step * (self.generations + 2)
        return tuple(
            Stop(min(round(share * (number + 1)), self.steps - 1), rng.randrange(rows), down_s=rng.uniform(20, 200))
            for number in range(self.stops)
        )


def _check_at_least(name: str, value: int, least: int) -> None:
    if type(value) is not int or value < least:
        raise ValueError(f'"{name}" must be a whole number of at least {least}: {value!r}')


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f'"{name}" must be one of {", ".join(choices)}: {value!r}')
