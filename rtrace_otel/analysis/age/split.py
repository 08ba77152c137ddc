"""Where a step's batch age comes from: in the call, in the group, in the queue, in the trainer.

A token of version ``v`` in a step that updates version ``V`` has age ``V - v``. Four moments lie between:

    V - v = (version of the call's last token - v)                                      in_call
          + (version in force at publication - version of the call's last token)        in_group
          + (version in force at the step's start - version in force at publication)    in_queue
          + (V - version in force at the step's start)                                  train_lag

Each part is the mean over the step's tokens, so the parts add up to its batch age.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rtrace_otel.analysis.age.ages import TrainedStep


class SplitMissing(StrEnum):
    """Why the batch age of a step cannot be split."""

    NO_TOKENS = "no token data"
    NO_TRAINED_VERSION = "no trained_version"
    NO_CALLS = "no call_versions"
    UNKNOWN_AT_PUBLICATION = "version in force at publication unknown"
    UNKNOWN_AT_START = "version in force at the start of the step unknown"
    REFIT_MISSING = "a weight_sync row is missing"
    NO_SENSIBLE_VERSION = "versions too large for numbers"


@dataclass(frozen=True, slots=True)
class AgeSplit:
    """Token-weighted means, in versions. Negative parts are left as they are.

    Attributes:
        in_call: Refits that cut the token's call after it was generated.
        in_group: Refits between the call's last token and the publication of its group.
        in_queue: Refits between the publication and the start of the step.
        train_lag: Versions that the trainer was ahead of the servers when the step began.
        tokens: Tokens that these are means over.
    """

    in_call: float
    in_group: float
    in_queue: float
    train_lag: float
    tokens: int

    @property
    def batch_age(self) -> float:
        """The sum of the parts."""
        return self.in_call + self.in_group + self.in_queue + self.train_lag


@dataclass(frozen=True, slots=True)
class SplitSums:
    """The same before it is divided by the tokens: whole numbers, which add up over steps without loss."""

    in_call: int
    in_group: int
    in_queue: int
    train_lag: int
    tokens: int

    def means(self) -> AgeSplit | None:
        """The parts per token; ``None`` without tokens, or if a number is too large for one."""
        if not self.tokens:
            return None
        try:
            return AgeSplit(
                self.in_call / self.tokens,
                self.in_group / self.tokens,
                self.in_queue / self.tokens,
                self.train_lag / self.tokens,
                self.tokens,
            )
        except OverflowError:
            return None


def split_step(step: TrainedStep) -> SplitSums | SplitMissing:
    """Split a step's age, or say why it cannot be split.

    Args:
        step: A step with its groups, whose calls are split at the refits of all runs.
    """
    tokens, trained, start = sum(step.counts.values()), step.age.trained_version, step.start.version
    if not tokens:
        return SplitMissing.NO_TOKENS
    if trained is None:
        return SplitMissing.NO_TRAINED_VERSION
    last_sum = published_sum = 0
    for group in step.groups:
        if group.recomputed is None:
            return SplitMissing.NO_CALLS
        if group.published_at.version is None:
            return SplitMissing.UNKNOWN_AT_PUBLICATION
        last_sum += group.last_sum
        published_sum += group.published_at.version * sum(group.recomputed.values())
    if start is None:
        return SplitMissing.UNKNOWN_AT_START
    version_sum = sum(version * count for version, count in step.counts.items())
    sums = SplitSums(
        in_call=last_sum - version_sum,
        in_group=published_sum - last_sum,
        in_queue=start * tokens - published_sum,
        train_lag=(trained - start) * tokens,
        tokens=tokens,
    )
    if step.age.recomputed is None or sums.means() is None:
        return SplitMissing.NO_SENSIBLE_VERSION
    return sums


def add_splits(splits: Iterable[SplitSums]) -> AgeSplit | None:
    """The split over several steps, weighted by tokens; ``None`` without any."""
    total = SplitSums(0, 0, 0, 0, 0)
    for split in splits:
        total = SplitSums(
            total.in_call + split.in_call,
            total.in_group + split.in_group,
            total.in_queue + split.in_queue,
            total.train_lag + split.train_lag,
            total.tokens + split.tokens,
        )
    return total.means()
