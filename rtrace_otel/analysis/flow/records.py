"""What is known of one rollout attempt and of one prompt group: frozen results, without how they come about."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final


class Outcome(StrEnum):
    """How an attempt or a group ended within its run."""

    SEALED = "sealed"
    KEPT = "kept"
    ABANDONED = "abandoned"
    TRAINED = "trained"
    DISCARDED = "discarded"
    BROUGHT_BACK = "brought back"
    INTERRUPTED = "interrupted"
    OPEN = "open"


ATTEMPT_OUTCOMES = (Outcome.SEALED, Outcome.KEPT, Outcome.ABANDONED, Outcome.INTERRUPTED, Outcome.OPEN)
"""The outcomes of attempts. ``kept``: sealed by an earlier run, and its result kept by a restore."""

GROUP_OUTCOMES = (Outcome.TRAINED, Outcome.DISCARDED, Outcome.BROUGHT_BACK, Outcome.INTERRUPTED, Outcome.OPEN)
"""The outcomes of groups. ``brought back``: unfinished in this run, and taken up by a later one."""


class WaitsFor(StrEnum):
    """What something that is open waits for."""

    DISPATCH_AGAIN = "refused, waiting to be dispatched again"
    RESULT = "running"
    ADMISSION = "admission"
    FIRST_DISPATCH = "first dispatch"
    ROLLOUTS = "rollouts"
    PUBLICATION = "publication"
    TRAINING = "training"
    UNKNOWN = "unknown: brought back, and no row since"


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One rollout attempt in one run. What no row says is ``None``.

    Attributes:
        attempt_id: Its id.
        group_id: Its prompt group.
        prompt_id: Its prompt.
        generation_index: Which generation of the group.
        attempt_index: How many attempts the generation had before.
        run: The run that worked on it.
        instance: Inference server or replica.
        dispatched: First dispatch, in Unix seconds.
        ended: When it was sealed or abandoned, in Unix seconds.
        seconds: Running time, up to the run's last row if it is open. It stands still from a refusal to the next
            dispatch. 0 for a result that was kept.
        refused_s: Time from refusals to the next dispatch; of an open attempt, up to the run's last row.
        tokens: Tokens generated, as its last row says.
        tokens_at_least: Tokens that its paused calls had at its latest refit.
        tokens_kept: Tokens that a restore kept.
        reward: Its reward.
        masked: Whether training masks its result out.
        outcome: How it ended.
        reason: Why it was abandoned.
        resumed: What a restore kept: ``sibling``, ``turn`` or ``prefix``.
        refusals: Dispatches refused.
        refits_spanned: Refits of its run while it was open.
        refits_cut: Those that paused one of its calls; ``None`` if the calls of the file do not name their attempts.
        version_start: Weight version of the first dispatch, else the one in force in its run.
        version_end: Weight version in force in its run at its end.
        trained_step: Step that trained its group, if it was sealed or kept.
        waiting_for: What it waits for, if it is open or was interrupted.
        since: When it began to wait for that, in Unix seconds.
        waited_s: From then to its run's last row.
    """

    attempt_id: str
    group_id: str | None
    prompt_id: str | None
    generation_index: int | None
    attempt_index: int | None
    run: str
    instance: str | None
    dispatched: float | None
    ended: float | None
    seconds: float | None
    refused_s: float | None
    tokens: int | None
    tokens_at_least: int | None
    tokens_kept: int | None
    reward: float | None
    masked: bool | None
    outcome: Outcome
    reason: str | None
    resumed: str | None
    refusals: int
    refits_spanned: int
    refits_cut: int | None
    version_start: int | None
    version_end: int | None
    trained_step: int | None = None
    waiting_for: WaitsFor | None = None
    since: float | None = None
    waited_s: float | None = None

    def trained(self, step: int | None) -> AttemptRecord:
        """The same, when a step has trained its group; ``dataclasses.replace`` takes twice as long."""
        values: tuple[Any, ...] = (*_BEFORE_TRAINING(self), step, *_AFTER_TRAINING(self))
        return AttemptRecord(*values)


_FIELDS: Final = tuple(field.name for field in fields(AttemptRecord))
_BEFORE_TRAINING: Final = attrgetter(*_FIELDS[: _FIELDS.index("trained_step")])
_AFTER_TRAINING: Final = attrgetter(*_FIELDS[_FIELDS.index("trained_step") + 1 :])


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """One prompt group in one run. What no row says is ``None``.

    Attributes:
        group_id: Its id.
        prompt_id: Its prompt.
        epoch: Pass over the dataset.
        run: The run that worked on it.
        origin_run: The run that it was brought back from.
        next_run: The run that brought it back.
        generations: How many generations it is to have.
        sealed: Attempts sealed in this run, and results of an earlier run that were kept.
        kept: The latter.
        abandoned: Attempts abandoned.
        open: Attempts open at the group's end, or at the run's.
        reserved: When it was reserved, in Unix seconds.
        admitted_s: From its reservation to its admission.
        dispatch_s: From its admission to the first dispatch.
        publish_s: From the last seal to its publication.
        published_s: From its reservation to its publication.
        queue_s: From its publication to the end of the step that trained it.
        straggler_s: Last seal minus the median seal of its attempts; ``None`` with fewer than two.
        straggler_generation: Generation of the attempt sealed last.
        tokens: Tokens of its sealed attempts.
        published_tokens: Tokens of the publication.
        trained_step: Step that trained it.
        trained_run: The run of that step.
        outcome: How it ended.
        reason: Why it was discarded.
        waiting_for: What it waits for, if it is open or was interrupted.
        since: When it began to wait for that, in Unix seconds.
        waited_s: From then to its run's last row.
    """

    group_id: str
    prompt_id: str | None
    epoch: int | None
    run: str
    origin_run: str | None
    next_run: str | None
    generations: int | None
    sealed: int
    kept: int
    abandoned: int
    open: int
    reserved: float | None
    admitted_s: float | None
    dispatch_s: float | None
    publish_s: float | None
    published_s: float | None
    queue_s: float | None
    straggler_s: float | None
    straggler_generation: int | None
    tokens: int | None
    published_tokens: int | None
    trained_step: int | None
    trained_run: str | None
    outcome: Outcome
    reason: str | None
    waiting_for: WaitsFor | None = None
    since: float | None = None
    waited_s: float | None = None
