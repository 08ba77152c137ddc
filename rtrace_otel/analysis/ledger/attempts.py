"""Rollout attempts: dispatched, refused, resumed, sealed, abandoned, and how far a refit found them."""

from __future__ import annotations

from collections.abc import Callable
from sys import intern

from rtrace_otel.analysis.age.refit_cuts import well_formed
from rtrace_otel.analysis.calls import attempt_of_call
from rtrace_otel.analysis.checked import amount
from rtrace_otel.analysis.ledger.books import Books
from rtrace_otel.analysis.ledger.branch import Branch
from rtrace_otel.analysis.ledger.groups import Groups, id_of
from rtrace_otel.analysis.ledger.missing import MissingWork, carried, dispatched_again, kept, lost_before
from rtrace_otel.analysis.ledger.work import Ended, Fate, Loss, PromptGroup, Rollout
from rtrace_otel.events import Row


class Attempts:
    """Follows the attempts of runs.

    Args:
        groups: The groups that they belong to.
        missing: What stops took.
        books: Where they are booked.
        take_late: Called with a rollout that a run begins after another one took over from it.
    """

    def __init__(
        self,
        groups: Groups,
        missing: MissingWork,
        books: Books,
        take_late: Callable[[Branch, Rollout], None],
    ) -> None:
        """Begin with none."""
        self._groups = groups
        self._missing = missing
        self._books = books
        self._take_late = take_late

    def dispatch(self, branch: Branch, row: Row, t: float | None) -> None:
        """An ``attempt_dispatched`` row."""
        branch.pace.dispatched(t)
        attempt_id = str(row.get("attempt_id"))
        rollout = branch.open.get(attempt_id)
        if rollout is None:
            group = self._groups.named(branch, row)
            generation = intern(str(row.get("generation_index")))
            rollout = self._begin(branch, attempt_id, generation, group)
            if group.occurrence.missing:
                dispatched_again(self._missing.come_back(group.occurrence, generation, branch))
            if branch.stopped_by is not None:
                self._take_late(branch, rollout)
        rollout.dispatch(t)

    def refuse(self, branch: Branch, row: Row, t: float | None) -> None:
        """An ``attempt_refused`` row."""
        rollout = branch.open.get(str(row.get("attempt_id")))
        if rollout is not None:
            rollout.pause(t)

    def resume(self, branch: Branch, row: Row, t: float | None) -> None:
        """An ``attempt_resumed`` row."""
        attempt_id, before = str(row.get("attempt_id")), id_of(row.get("previous_attempt_id"))
        loss = self._missing.by_attempt(before, attempt_id) if before else self._missing.by_attempt(attempt_id)
        if loss is not None and not lost_before([loss], branch):
            loss = None
        if attempt_id in branch.open or (loss is None and row.get("group_id") is None):
            return
        if loss is not None:
            turn, generation = loss.rollout.group.occurrence, loss.rollout.generation
            named = row if row.get("group_id") is not None else {**row, "group_id": loss.rollout.group.group_id}
            group = self._groups.named(branch, named, turn)
        else:
            group, generation = self._groups.named(branch, row), str(row.get("generation_index"))
            turn = group.occurrence
        losses = self._missing.come_back(turn, generation, branch)
        tokens = amount(row.get("tokens_kept")) or 0
        if row.get("level") == "sibling":
            rollout = kept(losses, group) or self._find(attempt_id, generation, group, tokens, branch.run)
        else:
            branch.pace.dispatched(t)
            rollout = self._begin(branch, attempt_id, generation, group)
            self._go_on(rollout, losses, tokens, t)
        if branch.given_up and rollout is not None:
            self._take_late(branch, rollout)
        if row.get("level") == "sibling":
            return
        if loss is not None and loss.rollout.tokens < tokens:
            loss.rollout.tokens = loss.tokens_carried = tokens  # what was kept of it, it must have had

    def seal(self, branch: Branch, row: Row, t: float | None) -> None:
        """An ``attempt_sealed`` row."""
        rollout = _end(branch, row, t, Ended.SEALED)
        if rollout is None:
            return
        rollout.masked = row.get("masked") is True
        if rollout.copy is not None:
            rollout.tell_copies()
        branch.pace.sealed(t)
        if rollout.taken is None and (rollout.group.trained or rollout.group.discarded is not None):
            self._books.sealed_late(rollout)

    def abandon(self, branch: Branch, row: Row, t: float | None) -> None:
        """An ``attempt_abandoned`` row."""
        taken = branch.open[attempt_id].taken if (attempt_id := str(row.get("attempt_id"))) in branch.open else None
        if taken is not None and taken.lives_on:
            return  # the run that took over kept its result
        rollout = _end(branch, row, t, Ended.ABANDONED)
        if rollout is None:
            return
        if taken is not None:
            self._missing.drop(taken)  # it had ended, so nothing comes back
        rollout.reason = str(row.get("reason"))
        if not branch.given_up:
            rollout.group.rollouts.remove(rollout)
        self._books.abandoned(rollout)

    @staticmethod
    def refit(branch: Branch, row: Row, _t: float | None) -> None:
        """A ``weight_sync`` row: attempts have at least the tokens that their paused calls had."""
        for call in well_formed(row.get("calls"), 2):
            attempt_id = attempt_of_call(call, branch.open)
            if attempt_id is not None and call[1] > 0:
                branch.open[attempt_id].saw_call(str(call[0]), call[1])

    def _begin(self, branch: Branch, attempt_id: str, generation: str, group: PromptGroup) -> Rollout:
        rollout = Rollout(attempt_id, branch.run, generation, group)
        branch.open[attempt_id] = rollout
        group.rollouts.append(rollout)
        self._books.begun += 1
        return rollout

    @staticmethod
    def _go_on(rollout: Rollout, losses: list[Loss], tokens: int, t: float | None) -> None:
        rollout.tokens = rollout.inherited = tokens
        rollout.group.came_back += losses
        rollout.dispatch(t)
        for loss in losses:
            loss.fate = Fate.RESUMED
            loss.tokens_carried = min(tokens, loss.rollout.tokens)

    def _find(self, attempt_id: str, generation: str, group: PromptGroup, tokens: int, run: str) -> Rollout | None:
        """A result was kept that is not missing: it was made good before, or its beginning is not in the file."""
        if any(rollout.attempt_id == attempt_id and rollout.ended is Ended.SEALED for rollout in group.rollouts):
            return None  # a row that stands there twice
        before = self._missing.taken(attempt_id)
        if before is None:
            before = Rollout(attempt_id, run, generation, group, tokens=tokens, inherited=tokens)
        self._books.unseen += 1
        return carried(before, group)


def _end(branch: Branch, row: Row, t: float | None, ended: Ended) -> Rollout | None:
    rollout = branch.open.pop(str(row.get("attempt_id")), None)
    if rollout is None:
        return None
    rollout.pause(t)
    rollout.ended, rollout.ended_at, rollout.calls = ended, t, None
    tokens = amount(row.get("tokens"))
    if tokens is not None:
        rollout.tokens, rollout.exact = max(tokens, rollout.inherited), True
    return rollout
