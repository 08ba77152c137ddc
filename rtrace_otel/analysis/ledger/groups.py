"""Prompt groups: whose turn of the prompt each one is, and what was kept, discarded or trained of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from rtrace_otel.analysis.checked import names
from rtrace_otel.analysis.ledger.books import Books
from rtrace_otel.analysis.ledger.branch import Branch
from rtrace_otel.analysis.ledger.missing import MissingWork, carried, kept, lost_before
from rtrace_otel.analysis.ledger.work import Ended, Fate, Occurrence, PromptGroup, Rollout
from rtrace_otel.events import Row

STALE: Final = frozenset({"stale", "staleness", "old", "outdated", "age", "aged", "expired", "evicted", "lag"})
"""Words in the reason of a discard that say that the group was too old."""


class Groups:
    """Finds and makes the groups of runs.

    Args:
        missing: What stops took.
        books: Where rollouts are booked.
        take_late: Called with what a run goes on with after another one took over from it.

    Attributes:
        place: Number of the present row, among the rows of the file.
        now: Its time.
    """

    def __init__(self, missing: MissingWork, books: Books, take_late: Callable[[Branch, Rollout], None]) -> None:
        """Begin with none."""
        self._take_late = take_late
        self._missing = missing
        self._books = books
        self.place = 0
        self.now: float | None = None

    def named(self, branch: Branch, row: Row, turn: Occurrence | None = None) -> PromptGroup:
        """The group that a row of the run names, made if the run does not have it.

        Args:
            branch: The run.
            row: Any row with a ``group_id``.
            turn: The turn of the prompt that it stands for, if that is known.
        """
        group_id = str(row.get("group_id"))
        group = branch.groups.get(group_id)
        if group is not None:
            return group
        prompt_id, epoch = id_of(row.get("prompt_id")), row.get("epoch")
        turn = turn or self._missing.by_group(group_id, prompt_id, epoch)
        brought_back = turn is not None or row.get("origin_run") not in (None, branch.run)
        turn = turn or self._missing.by_prompt(branch, prompt_id, epoch, brought_back=brought_back)
        if turn is None:
            place, now = (0, None) if brought_back else (self.place, self.now)  # what came back had begun before
            turn = Occurrence(self.place, place, now, prompt_id, epoch)
        else:
            branch.link(turn)
            if turn.place is None:
                turn.place, turn.began_at = self.place, self.now
        group = branch.groups[group_id] = PromptGroup(
            group_id, turn, brought_back=brought_back, place=turn.place, began_at=turn.began_at
        )
        return group

    def known(self, branch: Branch, group_id: Any) -> PromptGroup | None:
        """The group of this id, if the run has it or a stop took it."""
        name = str(group_id)
        if name in branch.groups or self._missing.by_group(name, None, None) is not None:
            return self.named(branch, {"group_id": name})
        return None

    def reserve(self, branch: Branch, row: Row, _t: float | None) -> None:
        """A ``group_reserved`` row."""
        self.named(branch, row)

    def publish(self, branch: Branch, row: Row, _t: float | None) -> None:
        """A ``group_sealed`` or ``group_published`` row."""
        group = self.known(branch, row.get("group_id"))
        if group is not None:
            self._keep_sealed(branch, group)

    def discard(self, branch: Branch, row: Row, t: float | None) -> PromptGroup | None:
        """A ``group_discarded`` row; gives the group, if a run had it."""
        group = self.known(branch, row.get("group_id"))
        if group is None or branch.given_up:
            return None
        branch.groups.pop(group.group_id, None)
        group.discarded = str(row.get("reason"))
        for losses in group.occurrence.missing.values() if group.brought_back else ():
            for loss in losses:
                loss.dropped = True
        if _is_stale(group.discarded):
            for loss in group.came_back:  # kept for nothing
                loss.fate = Fate.DISCARDED
        group.came_back = []
        self._books.discarded(group)
        branch.finish(group, t)
        return group

    def train(self, branch: Branch, row: Row) -> list[PromptGroup]:
        """The groups that a ``train_step`` row names and that the file tells of."""
        groups = []
        for group_id in names(row.get("group_ids")):
            group = self.known(branch, group_id)
            if group is None:
                continue
            self._keep_sealed(branch, group)
            group.trained, group.came_back = True, []
            branch.groups.pop(group.group_id, None)
            groups.append(group)
        return groups

    def _keep_sealed(self, branch: Branch, group: PromptGroup) -> None:
        """The group goes on with results that it does not generate again: they were kept."""
        missing, before = group.occurrence.missing, len(group.rollouts)
        for generation in tuple(missing):
            if any(loss.rollout.ended is Ended.SEALED for loss in lost_before(missing[generation], branch)):
                kept(self._missing.come_back(group.occurrence, generation, branch), group)
        if group.brought_back and group.occurrence.results:
            there = {rollout.generation for rollout in group.rollouts}
            for generation, result in group.occurrence.results.items():
                if generation not in there:
                    carried(result, group)
                    self._books.unseen += 1
        for rollout in group.rollouts[before:] if branch.given_up else ():
            self._take_late(branch, rollout)


def _is_stale(reason: str) -> bool:
    """Whether the group was too old."""
    return not STALE.isdisjoint(re.split(r"[^a-z]+", reason.lower()))


def id_of(value: Any) -> str | None:
    """An id as text; ``None`` for none."""
    return None if value is None else str(value)
