"""What old stops took, added up: the fate of these rollouts does not change any more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from rtrace_otel.analysis.ledger.work import Amount, Ended, Fate, Loss, amount_of

LONGEST: Final = 5
"""Losses that are named."""


@dataclass(frozen=True, slots=True)
class LongLoss:
    """One of the dearest losses.

    Attributes:
        attempt_id: The attempt.
        prompt_id: Its prompt.
        generation: Which generation.
        fate: What became of it.
        tokens: Tokens lost, at least.
        tokens_exact: Whether that is all of them.
        attempt_seconds: Seconds that it had run.
    """

    attempt_id: str
    prompt_id: str | None
    generation: str
    fate: Fate
    tokens: int
    tokens_exact: bool
    attempt_seconds: float


@dataclass(slots=True)
class Settled:
    """Sums over losses.

    Attributes:
        rollouts: How many there are.
        fates: All of them by fate.
        lost: Those that did not come back whole, by fate, without the tokens that were carried over.
        in_flight: Those that were open at the stop.
        longest: The dearest.
    """

    rollouts: int = 0
    fates: dict[Fate, Amount] = field(default_factory=dict)
    lost: dict[Fate, Amount] = field(default_factory=dict)
    in_flight: Amount = field(default_factory=Amount)
    longest: tuple[LongLoss, ...] = ()

    def plus(self, losses: Iterable[Loss], until: float | None, *, finished: bool) -> Settled:
        """These sums and further losses.

        Args:
            losses: Losses of the same stop; of attempts that were abandoned nothing is lost.
            until: Time up to which those that had not ended ran.
            finished: Whether the job ended, which tells what a fate that is not known means.
        """
        alive = [loss for loss in losses if loss.rollout.ended is not Ended.ABANDONED]
        fates, lost = dict(self.fates), dict(self.lost)
        by_fate: dict[Fate, list[Loss]] = {fate: [] for fate in Fate}
        for loss in alive:
            by_fate[loss.fate_if(finished)].append(loss)
        for fate, found in by_fate.items():
            gone = [loss for loss in found if not loss.lives_on]
            if found:
                fates[fate] = fates.get(fate, Amount()) + amount_of(found, until)
            if gone:
                lost[fate] = lost.get(fate, Amount()) + _without_carried(gone, until)
        return Settled(
            rollouts=self.rollouts + len(alive),
            fates=fates,
            lost=lost,
            in_flight=self.in_flight + amount_of((one for one in alive if one.rollout.ended is Ended.OPEN), until),
            longest=_dearest([*self.longest, *_long(alive, until, finished)]),
        )


def _without_carried(losses: list[Loss], until: float | None) -> Amount:
    """What these had generated, without what lives on in other accounts."""
    every = amount_of(losses, until)
    carried = sum(loss.tokens_carried for loss in losses)
    return Amount(every.rollouts, every.tokens - carried, every.tokens_exact, 0, every.attempt_seconds)


def _long(losses: Iterable[Loss], until: float | None, finished: bool) -> Iterable[LongLoss]:
    lost = [loss for loss in losses if loss.rollout.tokens > loss.tokens_kept]
    for loss in nlargest(LONGEST, lost, key=lambda loss: loss.rollout.tokens - loss.tokens_kept):
        yield LongLoss(
            attempt_id=loss.rollout.attempt_id,
            prompt_id=loss.rollout.group.occurrence.prompt_id,
            generation=loss.rollout.generation,
            fate=loss.fate_if(finished),
            tokens=loss.rollout.tokens - loss.tokens_kept,
            tokens_exact=loss.rollout.exact,
            attempt_seconds=loss.rollout.seconds(until),
        )


def _dearest(found: Iterable[LongLoss]) -> tuple[LongLoss, ...]:
    return tuple(nlargest(LONGEST, found, key=lambda loss: loss.tokens))
