"""What stops took away and what came back: finds the same rollout again after a restore, under whatever name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rtrace_otel.analysis.ledger.branch import Branch
from rtrace_otel.analysis.ledger.work import Ended, Fate, Loss, Occurrence, PromptGroup, Rollout


class MissingWork:
    """Rollouts that stops took away and that have not come back yet.

    A rollout is found by its attempt id, else by its group's id, else by prompt, epoch and generation. Without an epoch
    the turns of a prompt are told apart by their order: a restored dataloader goes through the turns behind its
    checkpoint again, those included whose groups were discarded.
    """

    def __init__(self) -> None:
        """Begin with nothing missing."""
        self._by_attempt: dict[str, Loss] = {}
        self._taken: dict[str, Rollout] = {}
        self._by_group: dict[str, Occurrence] = {}
        self._by_prompt: dict[str, list[Occurrence]] = {}

    def add(self, branch: Branch, groups: Iterable[PromptGroup], losses: Iterable[Loss]) -> None:
        """A stop took these groups, and these rollouts of them; this run goes on."""
        for group in groups:
            turn = group.occurrence
            if branch.comes_round(turn):
                turn.place = None
            self._by_group[group.group_id] = turn
            turn.group_ids.add(group.group_id)
            turns = self._by_prompt.setdefault(turn.prompt_id or "", [])
            if turn not in turns:
                turns.append(turn)
            self._taken.update((rollout.attempt_id, rollout) for rollout in group.rollouts)
            results = group.rollouts if group.discarded is not None else ()
            turn.results = {result.generation: result for result in results if result.ended is Ended.SEALED}
        for loss in losses:
            rollout = loss.rollout
            self._by_attempt[rollout.attempt_id] = loss
            rollout.group.occurrence.missing.setdefault(rollout.generation, []).append(loss)

    def go_back(self, branch: Branch) -> None:
        """A run goes on from its checkpoint: turns behind it have yet to come, finished ones before it are over."""
        for prompt_id, turns in list(self._by_prompt.items()):
            for turn in list(turns):
                if branch.comes_round(turn):
                    turn.place = None
                elif not turn.missing:
                    turns.remove(turn)
                    for group_id in turn.group_ids:
                        if self._by_group.get(group_id) is turn:
                            del self._by_group[group_id]
            if not turns:
                del self._by_prompt[prompt_id]

    def by_attempt(self, *attempt_ids: object) -> Loss | None:
        """The loss of an attempt with one of these ids."""
        return next((loss for name in attempt_ids if (loss := self._by_attempt.get(str(name))) is not None), None)

    def taken(self, attempt_id: str) -> Rollout | None:
        """The rollout of this id in a group that some stop took, whether or not it has come back."""
        return self._taken.get(attempt_id)

    def forget(self, rollouts: Iterable[Rollout]) -> None:
        """These are settled: a row that names one of them tells of a result whose beginning is not known any more."""
        for rollout in rollouts:
            if self._taken.get(rollout.attempt_id) is rollout:
                del self._taken[rollout.attempt_id]

    def by_group(self, group_id: str, prompt_id: str | None, epoch: object) -> Occurrence | None:
        """The turn that a group of this id stood for, unless it names another prompt or epoch."""
        found = self._by_group.get(group_id)
        return found if found is not None and _same_turn(found, prompt_id, epoch) else None

    def by_prompt(
        self, branch: Branch, prompt_id: str | None, epoch: object, *, brought_back: bool
    ) -> Occurrence | None:
        """The turn of a prompt that a new group of a run stands for.

        Args:
            branch: The run.
            prompt_id: The prompt.
            epoch: Pass over the dataset, if the row says.
            brought_back: Whether the row says that the restore brought the group back.

        Returns:
            The oldest turn that no group of the run stands for yet: of those that the checkpoint holds if it was
            brought back, else of those that the dataloader went back behind, else of those that the restore may hold.
        """
        turns = self._by_prompt.get(prompt_id, ()) if prompt_id is not None else ()
        free = [turn for turn in turns if turn.order not in branch.linked and _same_turn(turn, prompt_id, epoch)]
        held = [turn for turn in free if not branch.comes_round(turn) and (brought_back or branch.may_hold(turn))]
        again = [] if brought_back else [turn for turn in free if branch.comes_round(turn)]
        if not again:
            again = [turn for turn in held if turn.missing or brought_back]
        return min(again, key=lambda turn: turn.order, default=None)

    def drop(self, loss: Loss) -> None:
        """This one is not missing after all."""
        missing, generation = loss.rollout.group.occurrence.missing, loss.rollout.generation
        others = [other for other in missing.pop(generation, []) if other is not loss]
        if others:
            missing[generation] = others
        if self._by_attempt.get(loss.rollout.attempt_id) is loss:
            del self._by_attempt[loss.rollout.attempt_id]

    def come_back(self, occurrence: Occurrence, generation: str, branch: Branch | None = None) -> list[Loss]:
        """Take out what is missing of a generation.

        Args:
            occurrence: The prompt's turn.
            generation: The generation.
            branch: The run that it comes back to; what its own stop or a later one took is not its to bring back.
        """
        missing = occurrence.missing.pop(generation, [])
        losses = missing if branch is None else lost_before(missing, branch)
        if len(losses) < len(missing):
            occurrence.missing[generation] = [loss for loss in missing if loss not in losses]
        for loss in losses:
            if self._by_attempt.get(loss.rollout.attempt_id) is loss:
                del self._by_attempt[loss.rollout.attempt_id]
        return losses


def lost_before(losses: Iterable[Loss], branch: Branch) -> list[Loss]:
    """What stops took before the one that ended this run, if one did: rows of it can come late."""
    return [loss for loss in losses if branch.stopped_by is None or loss.stop < branch.stopped_by]


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
    group.came_back.append(best)
    return carried(best.rollout, group)


def carried(before: Rollout, group: PromptGroup) -> Rollout:
    """A sealed result as it stands in the group that goes on with it."""
    again = replace(
        before, group=group, ended=Ended.SEALED, calls=None, booked=None, running_since=None, copy=None, taken=None
    )
    before.copy = again
    group.rollouts.append(again)
    return again


def _same_turn(turn: Occurrence, prompt_id: str | None, epoch: object) -> bool:
    same_prompt = prompt_id is None or turn.prompt_id is None or prompt_id == turn.prompt_id
    return same_prompt and (epoch is None or turn.epoch is None or epoch == turn.epoch)
