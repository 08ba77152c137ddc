"""What really happened in a simulated job, as the simulator itself knows it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rtrace_otel.testing.settings import Ending, HowStopped
from rtrace_otel.testing.state import Key, Outcome


class Fate(StrEnum):
    """What became of a rollout that a stop gave up: the first that holds."""

    DISCARDED = "discarded"
    """Its result or tokens were brought back, and then its group was discarded as stale by the run that did so. Also if
    none of the following holds and its group was brought back, and discarded for any reason before it was dispatched or
    trained."""
    REUSED = "reused"
    """A restore kept its sealed result: as ``attempt_resumed`` with level ``sibling`` says, whatever becomes of it but
    for the above; or with its whole group, which was published or trained later."""
    RESUMED = "resumed"
    """It went on with its turns or tokens."""
    TRAINED_AGAIN = "trained_again"
    """Its group had been trained by a step after the checkpoint, and it was dispatched again from the start."""
    REDONE = "redone"
    """It was dispatched again from the start."""
    NEVER_CAME_BACK = "never_came_back"
    """None of these, although the last run ended cleanly."""
    UNKNOWN = "unknown"
    """None of these, and the last run was killed or still runs."""


@dataclass(frozen=True, slots=True)
class Work:
    """An amount of rollout work.

    Attributes:
        rollouts: Attempts.
        tokens: Tokens that these had, also those kept from an earlier attempt.
        tokens_kept: Tokens that a restore brought back. They are more than ``tokens`` if the checkpoint holds an
            earlier attempt, which has failed since, and the attempt that followed it had not come as far.
        attempt_seconds: How long they ran.
    """

    rollouts: int = 0
    tokens: int = 0
    tokens_kept: int = 0
    attempt_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AttemptTruth:
    """One attempt. A sealed result that a restore keeps is still the attempt that made it.

    Attributes:
        attempt_id: Its id.
        group_id: Its group's id in its run.
        run: The run that dispatched or resumed it.
        prompt_id: Its prompt.
        epoch: Which occurrence of the prompt, from 0, whether the rows say so or not.
        generation_index: Its place in the group.
        attempt_index: Attempts before it.
        dispatched_at: When it was first dispatched or resumed, in Unix seconds.
        ended_at: When it was sealed or abandoned; ``None`` if it was not.
        seconds: How long it ran, to its end, to the stop or to the last row. A refused dispatch does not run.
        tokens: Tokens that it had then, those kept included.
        tokens_kept: Tokens kept from the attempt that it went on from.
        previous_attempt_id: That attempt.
        outcome: How it ended; ``interrupted`` by a stop, ``open`` if its run still runs.
        masked: Whether training masks its result out.
        trained_in: The step of the surviving timeline that trained on its result.
        segments: Weight versions and token counts in the order of generation. Versions count the updates since the
            job's start, also where each run's rows count from 0.
    """

    attempt_id: str
    group_id: str
    run: str
    prompt_id: str
    epoch: int
    generation_index: int
    attempt_index: int
    dispatched_at: float
    ended_at: float | None
    seconds: float
    tokens: int
    tokens_kept: int
    previous_attempt_id: str | None
    outcome: Outcome
    masked: bool
    trained_in: int | None
    segments: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class StepTruth:
    """One training step; a step that was trained again is here again.

    Attributes:
        step: Its number.
        run: The run that trained it.
        trained_version: The version that it updated, as its row says.
        group_ids: The groups that it trained on.
        tokens: Trained tokens.
        batch_age: Batch age in weight updates, from the version that really made each token; ``None`` without tokens.
        survives: Whether it lies on the timeline of the last run.
    """

    step: int
    run: str
    trained_version: int
    group_ids: tuple[str, ...]
    tokens: int
    batch_age: float | None
    survives: bool


@dataclass(frozen=True, slots=True)
class RolloutFate:
    """One rollout that a stop gave up.

    Attributes:
        key: Prompt id, occurrence and generation index.
        attempt_id: The attempt that was open or sealed at the stop.
        fate: What became of it.
        work: This one rollout's work; ``tokens_kept`` is what a restore brought back of it.
    """

    key: Key
    attempt_id: str
    fate: Fate
    work: Work


@dataclass(frozen=True, slots=True)
class StopTruth:
    """One stop, and the restart after it.

    Attributes:
        how: How the run was stopped.
        stopped_run: The run that was stopped.
        restored_run: The run that began next.
        checkpoint_id: The checkpoint that it restored; ``None`` if it started over.
        is_restored: Whether that run got as far as restoring it (or, without one, as starting over). If it was stopped
            before that, no row of it says which checkpoint this was.
        killed_at: Time of the stopped run's last row, in Unix seconds.
        dead_s: From there to the first row of the next run.
        first_dispatch_s: From that row to the next run's first ``attempt_dispatched``; ``None`` if it has none.
        first_seal_s: The same for ``attempt_sealed``.
        first_train_step_s: The same for ``train_step``.
        steps_lost: Steps trained after the checkpoint on the timeline that was given up.
        steps_trained_again: Those of them that a later run trained again.
        in_flight: Attempts that were open.
        given_up: What the fates are about: attempts that were open, or sealed in a group that was not trained yet or
            was trained by one of the lost steps. Not those that were abandoned or whose group was discarded before, and
            not rollouts that an earlier stop gave up and that had not come back.
        rollouts: The fate of each.
    """

    how: HowStopped
    stopped_run: str
    restored_run: str
    checkpoint_id: str | None
    is_restored: bool
    killed_at: float
    dead_s: float
    first_dispatch_s: float | None
    first_seal_s: float | None
    first_train_step_s: float | None
    steps_lost: tuple[int, ...]
    steps_trained_again: tuple[int, ...]
    in_flight: Work
    given_up: Work
    rollouts: tuple[RolloutFate, ...]

    @property
    def fates(self) -> dict[Fate, Work]:
        """The work of each fate, also of those without any."""
        return {fate: total(r.work for r in self.rollouts if r.fate is fate) for fate in Fate}


@dataclass(frozen=True, slots=True)
class Truth:
    """What really happened in a job.

    Attributes:
        runs: The runs in order.
        ending: How the last one ended.
        attempts: Every attempt, in the order in which they were dispatched or resumed.
        steps: Every training step in order.
        stops: Every stop in order: one less than there are runs.
    """

    runs: tuple[str, ...]
    ending: Ending
    attempts: tuple[AttemptTruth, ...]
    steps: tuple[StepTruth, ...]
    stops: tuple[StopTruth, ...]

    def self_check(self) -> None:
        """Raise ``AssertionError`` if something does not add up."""
        assert len(self.runs) == len(self.stops) + 1
        assert len({(attempt.run, attempt.attempt_id) for attempt in self.attempts}) == len(self.attempts)
        for attempt in self.attempts:
            assert attempt.tokens == sum(tokens for _, tokens in attempt.segments)
            assert 0 <= attempt.tokens_kept <= attempt.tokens
            assert (attempt.ended_at is None) == (attempt.outcome in {"interrupted", "open"})
        for stop in self.stops:
            assert set(stop.steps_trained_again) <= set(stop.steps_lost)
            _check_same(stop.given_up, total(stop.fates.values()))
            open_then = [
                attempt
                for attempt in self.attempts
                if attempt.run == stop.stopped_run and attempt.outcome == "interrupted"
            ]
            open_work = Work(
                len(open_then), sum(a.tokens for a in open_then), 0, math.fsum(a.seconds for a in open_then)
            )
            _check_same(stop.in_flight, open_work)


def total(parts: Iterable[Work]) -> Work:
    """The sum of several amounts of work."""
    parts = list(parts)
    return Work(
        sum(part.rollouts for part in parts),
        sum(part.tokens for part in parts),
        sum(part.tokens_kept for part in parts),
        math.fsum(part.attempt_seconds for part in parts),
    )


def _check_same(one: Work, other: Work) -> None:
    assert (one.rollouts, one.tokens) == (other.rollouts, other.tokens)
    assert math.isclose(one.attempt_seconds, other.attempt_seconds, abs_tol=1e-6)
