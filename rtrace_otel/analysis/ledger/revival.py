"""What a restore brings back that an earlier restore had given up: an older checkpoint was tried, then a newer one."""

from __future__ import annotations

from collections.abc import Iterable

from rtrace_otel.analysis.ledger.books import Books
from rtrace_otel.analysis.ledger.branch import Window
from rtrace_otel.analysis.ledger.missing import MissingWork
from rtrace_otel.analysis.ledger.work import Ended, Fate, PromptGroup


def trained_groups(windows: Iterable[Window]) -> list[PromptGroup]:
    """The groups of windows that were trained, with their turns where they had been on that timeline."""
    groups = [group for window in windows for _, group in window.finished if group.trained]
    for group in groups:
        group.occurrence.place, group.occurrence.began_at = group.place, group.began_at
    return groups


def count_again(groups: Iterable[PromptGroup], books: Books, missing: MissingWork) -> None:
    """Groups that a stop had taken are in the checkpoint after all: their results are trained, and were kept.

    Args:
        groups: From windows that were brought back.
        books: Where their rollouts are booked.
        missing: What stops took.
    """
    for group in groups:
        kept = []
        for rollout in group.rollouts:
            last = rollout
            while last.copy is not None:
                last = last.copy
            loss = last.taken
            if loss is None:
                continue
            if last is rollout and rollout.ended is not Ended.SEALED:
                loss.lives_on, rollout.taken = True, None  # open while its group was trained, as before
                continue
            for twin in missing.come_back(group.occurrence, rollout.generation):
                twin.fate = Fate.NEVER_CAME_BACK  # its prompt's turn is over
            loss.fate, loss.tokens_carried, loss.lives_on = Fate.REUSED, last.tokens, True
            kept.append(rollout)
        books.kept_trained(kept)
