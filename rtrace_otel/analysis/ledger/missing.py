"""What stops took away and what came back: finds the same rollout again after a restore, under whatever name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rtrace_otel.analysis.ledger.branch import Branch
from rtrace_otel.analysis.ledger.work import Ended, Fate, Loss, Occurrence, PromptGroup, Rollout


class MissingWork:
    """Rollouts that stops took away and that have not come back yet.

    A rollout is found by its attempt id, else by its group's id, else by prompt, epoch and generation. Without an epoch
    the oldest turn of the prompt that is still missing is the one that comes back, because a restored dataloader goes
    through the prompts in the same order again.
    """

    def __init__(self) -> None:
        """Begin with nothing missing."""
        self._by_attempt: dict[str, Loss] = {}
        self._by_group: dict[str, Occurrence] = {}
        self._by_prompt: dict[str, list[Occurrence]] = {}

    def add(self, losses: Iterable[Loss]) -> None:
        """A stop took these."""
        for loss in losses:
            rollout, group = loss.rollout, loss.rollout.group
            occurrence = group.occurrence
            self._by_attempt[rollout.attempt_id] = loss
            self._by_group[group.group_id] = occurrence
            occurrence.group_ids.add(group.group_id)
            if occurrence.prompt_id is not None:
                turns = self._by_prompt.setdefault(occurrence.prompt_id, [])
                if occurrence not in turns:
                    turns.append(occurrence)
            occurrence.missing.setdefault(rollout.generation, []).append(loss)

    def by_attempt(self, *attempt_ids: object) -> Loss | None:
        """The loss of an attempt with one of these ids."""
        return next((loss for name in attempt_ids if (loss := self._by_attempt.get(str(name))) is not None), None)

    def by_group(self, group_id: str, prompt_id: str | None, epoch: object) -> Occurrence | None:
        """The turn that a group of this id stood for, unless it names another prompt or epoch."""
        found = self._by_group.get(group_id)
        return found if found is not None and _same_turn(found, prompt_id, epoch) else None

    def by_prompt(self, branch: Branch, prompt_id: str | None, epoch: object) -> Occurrence | None:
        """The oldest missing turn of a prompt that no group of the run stands for yet."""
        turns = self._by_prompt.get(prompt_id, ()) if prompt_id is not None else ()
        free = [turn for turn in turns if id(turn) not in branch.linked and _same_turn(turn, prompt_id, epoch)]
        return min(free, key=lambda turn: turn.order, default=None)

    def come_back(self, occurrence: Occurrence, generation: str) -> list[Loss]:
        """Take out what is missing of a generation."""
        losses = occurrence.missing.pop(generation, [])
        for loss in losses:
            if self._by_attempt.get(loss.rollout.attempt_id) is loss:
                del self._by_attempt[loss.rollout.attempt_id]
        if not occurrence.missing:
            self._forget(occurrence)
        return losses

    def _forget(self, occurrence: Occurrence) -> None:
        for group_id in occurrence.group_ids:
            if self._by_group.get(group_id) is occurrence:
                del self._by_group[group_id]
        occurrence.group_ids.clear()
        turns = self._by_prompt.get(occurrence.prompt_id or "", [])
        if occurrence in turns:
            turns.remove(occurrence)
            if not turns:
                del self._by_prompt[occurrence.prompt_id or ""]


def dispatched_again(losses: Iterable[Loss]) -> None:
    """The generation runs anew from its start."""
    for loss in losses:
        loss.fate = Fate.TRAINED_AGAIN if loss.rollout.group.trained else Fate.REDONE


def kept(losses: Iterable[Loss], group: PromptGroup) -> Rollout | None:
    """The generation's sealed result was kept: the rollout as it stands in its new group."""
    best: Loss | None = None
    for loss in losses:
        loss.fate = Fate.REDONE  # a twin of the one that was kept
        if best is None or (best.rollout.ended is not Ended.SEALED and loss.rollout.ended is Ended.SEALED):
            best = loss
    if best is None:
        return None
    best.fate, best.tokens_carried, best.lives_on = Fate.REUSED, best.rollout.tokens, True
    before = best.rollout
    carried = replace(before, group=group, ended=Ended.SEALED, calls=None, booked=None, running_since=None)
    carried.came_back = (*before.came_back, best)
    group.rollouts[carried.attempt_id] = carried
    return carried


def discarded(rollouts: Iterable[Rollout]) -> None:
    """What had been kept of them was kept for nothing."""
    for rollout in rollouts:
        for loss in rollout.came_back:
            loss.fate = Fate.DISCARDED


def _same_turn(turn: Occurrence, prompt_id: str | None, epoch: object) -> bool:
    same_prompt = prompt_id is None or turn.prompt_id is None or prompt_id == turn.prompt_id
    return same_prompt and (epoch is None or turn.epoch is None or epoch == turn.epoch)
