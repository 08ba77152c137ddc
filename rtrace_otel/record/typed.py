"""One recording method per event, with positional fields: the fast path. Generated from the registry.

Do not edit: change ``rtrace_otel/events.py`` and run ``python -m tests.generate``.

Each method does what ``emit`` does, without the cost of a dict per event. ``None`` leaves an optional field out;
``extra`` takes fields of your own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import UUID

from rtrace_otel.record.clock import now
from rtrace_otel.record.queue import RowQueue

Id: TypeAlias = str | int | UUID
"""Ids of any type are written as strings."""


def _copy(value: Any) -> Any:
    """A shallow copy, so that a later change by the caller does not change the row; never raises."""
    try:
        if isinstance(value, (str, bytes)):
            return value
        return dict(value) if isinstance(value, Mapping) else list(value)
    except Exception:  # not iterable, or its iteration failed: the worker writes what it is
        return value


def _shallow(value: Any) -> Any:
    try:
        if isinstance(value, list):
            return list(value)
        return dict(value) if isinstance(value, dict) else value
    except Exception:  # a subclass may do anything: the worker writes what it is
        return value


def _copies(extra: Mapping[str, Any]) -> Any:
    try:
        return {n: _shallow(v) for n, v in extra.items()}
    except Exception:  # not a mapping: the worker writes what it is
        return {"extra": extra}


class TypedEvents:
    """The vocabulary as methods. None of them blocks or raises."""

    _queue: RowQueue

    def group_reserved(
        self,
        group_id: Id,
        prompt_id: Id,
        generations: int | None = None,
        weight_version: int | None = None,
        epoch: int | None = None,
        origin_run: Id | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A prompt was taken from the dataset and given a group.

        Args:
            group_id: Prompt group: all generations of one prompt.
            prompt_id: Dataset index of the prompt; the key that matches rows across runs.
            generations: How many generations the group will have. Unit: attempts.
            weight_version: Weight version in force. Unit: versions.
            epoch: Pass over the dataset.
            origin_run: The run that first reserved the group, if it was restored.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("group_reserved", stamp, group_id, prompt_id, generations, weight_version, epoch, origin_run, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def group_admitted(
        self,
        group_id: Id,
        target_step: int | None = None,
        weight_version: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The group may be dispatched.

        Args:
            group_id: Prompt group: all generations of one prompt.
            target_step: Training step that it is meant for.
            weight_version: Weight version in force. Unit: versions.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("group_admitted", stamp, group_id, target_step, weight_version, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def group_sealed(
        self,
        group_id: Id,
        tokens_by_version: Mapping[int, int] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Every generation has a result.

        Args:
            group_id: Prompt group: all generations of one prompt.
            tokens_by_version: Trained tokens by the weight version that generated them. Unit: tokens.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("group_sealed", stamp, group_id, None if tokens_by_version is None else _copy(tokens_by_version), None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def group_published(
        self,
        group_id: Id,
        tokens_by_version: Mapping[int, int] | None = None,
        call_versions: Iterable[Sequence[Any]] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The group can be trained on.

        Args:
            group_id: Prompt group: all generations of one prompt.
            tokens_by_version: Trained tokens by the weight version that generated them. Unit: tokens.
            call_versions: Each trained model call: its id, the weight version when it began, its tokens. Unit: tokens.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("group_published", stamp, group_id, None if tokens_by_version is None else _copy(tokens_by_version), None if call_versions is None else _copy(call_versions), None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def group_discarded(
        self,
        group_id: Id,
        reason: str,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The group will not be trained on.

        Args:
            group_id: Prompt group: all generations of one prompt.
            reason: Why, in a short stable phrase.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("group_discarded", stamp, group_id, reason, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def attempt_dispatched(
        self,
        group_id: Id,
        attempt_id: Id,
        prompt_id: Id,
        generation_index: int,
        attempt_index: int | None = None,
        weight_version: int | None = None,
        instance: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """An attempt was sent to an inference server.

        Args:
            group_id: Prompt group: all generations of one prompt.
            attempt_id: Rollout attempt; a redispatch after a refusal keeps it.
            prompt_id: Dataset index of the prompt; the key that matches rows across runs.
            generation_index: Which of the group's generations, from 0.
            attempt_index: How many attempts this generation had before, from 0.
            weight_version: Weight version in force. Unit: versions.
            instance: Inference server or replica.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("attempt_dispatched", stamp, group_id, attempt_id, prompt_id, generation_index, attempt_index, weight_version, instance, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def attempt_refused(
        self,
        attempt_id: Id,
        reason: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The environment refused the dispatch; the attempt stays open and may be dispatched again.

        Args:
            attempt_id: Rollout attempt; a redispatch after a refusal keeps it.
            reason: Why, in a short stable phrase.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("attempt_refused", stamp, attempt_id, reason, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def attempt_resumed(
        self,
        attempt_id: Id,
        level: str,
        previous_attempt_id: Id | None = None,
        tokens_kept: int | None = None,
        group_id: Id | None = None,
        prompt_id: Id | None = None,
        generation_index: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Work from before a restore goes on or is kept.

        Args:
            attempt_id: Rollout attempt; a redispatch after a refusal keeps it.
            level: What was kept: a sealed sibling, the turns so far, or the tokens so far.
            previous_attempt_id: The attempt that this one continues.
            tokens_kept: Tokens that need not be generated again. Unit: tokens.
            group_id: Prompt group: all generations of one prompt.
            prompt_id: Dataset index of the prompt; the key that matches rows across runs.
            generation_index: Which of the group's generations, from 0.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("attempt_resumed", stamp, attempt_id, level, previous_attempt_id, tokens_kept, group_id, prompt_id, generation_index, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def attempt_sealed(
        self,
        attempt_id: Id,
        tokens: int | None = None,
        reward: float | None = None,
        masked: bool | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The attempt has its result.

        Args:
            attempt_id: Rollout attempt; a redispatch after a refusal keeps it.
            tokens: Tokens generated. Unit: tokens.
            reward: Reward of the rollout.
            masked: Whether training masks the result out.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("attempt_sealed", stamp, attempt_id, tokens, reward, masked, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def attempt_abandoned(
        self,
        attempt_id: Id,
        reason: str,
        tokens: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """The attempt ended without a result.

        Args:
            attempt_id: Rollout attempt; a redispatch after a refusal keeps it.
            reason: Why, in a short stable phrase.
            tokens: Tokens generated until then. Unit: tokens.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("attempt_abandoned", stamp, attempt_id, reason, tokens, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def train_step_started(
        self,
        step: int,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A training step began.

        Args:
            step: Training step.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("train_step_started", stamp, step, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def train_step(
        self,
        step: int,
        trained_version: int,
        group_ids: Iterable[Id],
        batch_age: float | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A training step ended.

        Args:
            step: Training step.
            trained_version: Weight version that the step updates, before the update. Unit: versions.
            group_ids: The groups trained on.
            batch_age: Batch age that the controller computed. Unit: versions.
            tokens: Tokens trained on. Unit: tokens.
            seconds: How long it took. Unit: s.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("train_step", stamp, step, trained_version, _copy(group_ids), batch_age, tokens, seconds, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def weight_sync_started(
        self,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A refit began.

        Args:
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("weight_sync_started", stamp, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def weight_sync(
        self,
        replaced_version: int,
        new_version: int,
        calls: Iterable[Sequence[Any]] | None = None,
        seconds: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A refit ended: the inference servers have new weights.

        Args:
            replaced_version: Weight version before. Unit: versions.
            new_version: Weight version installed. Unit: versions.
            calls: Every call that the refit paused, with its tokens so far. Unit: tokens.
            seconds: How long it took. Unit: s.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("weight_sync", stamp, replaced_version, new_version, None if calls is None else _copy(calls), seconds, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def checkpoint_started(
        self,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A checkpoint began.

        Args:
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("checkpoint_started", stamp, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def checkpoint_published(
        self,
        checkpoint_id: Id,
        step: int,
        kind: str | None = None,
        groups: Iterable[Id] | None = None,
        seconds: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A checkpoint is complete and may be restored.

        Args:
            checkpoint_id: Name of the checkpoint.
            step: Training step.
            kind: What it holds, for example trainer or snapshot.
            groups: The groups that it holds.
            seconds: How long it took. Unit: s.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("checkpoint_published", stamp, checkpoint_id, step, kind, None if groups is None else _copy(groups), seconds, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)

    def checkpoint_restored(
        self,
        checkpoint_id: Id,
        step: int,
        groups: Iterable[Id] | None = None,
        from_run: Id | None = None,
        seconds: float | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """This run goes on from a checkpoint.

        Args:
            checkpoint_id: Name of the checkpoint.
            step: Training step.
            groups: The groups that the restore brought back.
            from_run: The run that published the checkpoint.
            seconds: How long it took. Unit: s.
            extra: Fields of your own.
        """
        queue = self._queue
        stamp = now()
        if len(queue) < queue.limit:
            queue.append(("checkpoint_restored", stamp, checkpoint_id, step, None if groups is None else _copy(groups), from_run, seconds, None if extra is None else _copies(extra)))
            if queue.idle:
                queue.wake()
        else:
            queue.lose(stamp)
