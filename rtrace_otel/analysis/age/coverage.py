"""How many of the trained tokens have an age at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rtrace_otel.analysis.age.ages import TrainedStep


@dataclass(frozen=True, slots=True)
class Coverage:
    """Trained tokens with an age, and those without one, which count nowhere as age 0.

    Attributes:
        known: Tokens with an age.
        unknown_begin: Tokens of calls whose begin version is no version.
        beyond_known: Tokens that ``train_step.tokens`` states beyond those that the file accounts for.
        no_trained_version: Tokens of known version in steps that do not say which version they update.
        groups_without_tokens: Groups without token data.
        uncounted_groups: Those of them in steps that do not state their tokens: nobody knows how many they had.
    """

    known: int = 0
    unknown_begin: int = 0
    beyond_known: int = 0
    no_trained_version: int = 0
    groups_without_tokens: int = 0
    uncounted_groups: int = 0

    @property
    def unknown(self) -> int:
        """Tokens without an age, as far as the file counts them."""
        return self.unknown_begin + self.beyond_known + self.no_trained_version

    @property
    def complete(self) -> bool:
        """Whether every trained token has an age."""
        return not self.unknown and not self.uncounted_groups

    @property
    def share(self) -> float | None:
        """Share of the trained tokens that have an age; ``None`` if nobody knows how many were trained."""
        trained = self.known + self.unknown
        return self.known / trained if trained > 0 and not self.uncounted_groups else None


def coverage_of(step: TrainedStep) -> Coverage:
    """The coverage of one step."""
    age = step.age
    unknown_begin = sum(group.unknown_tokens for group in step.settled if group is not None)
    stated = step.row.get("tokens")
    stated = stated if type(stated) is int else None
    without = age.groups - age.groups_with_tokens
    has_version = age.trained_version is not None
    return Coverage(
        known=age.tokens if has_version else 0,
        unknown_begin=unknown_begin,
        beyond_known=0 if stated is None else max(stated - age.tokens - unknown_begin, 0),
        no_trained_version=0 if has_version else age.tokens,
        groups_without_tokens=without,
        uncounted_groups=without if stated is None else 0,
    )


def add_coverages(coverages: Iterable[Coverage]) -> Coverage:
    """The coverage over several steps."""
    total = Coverage()
    for one in coverages:
        total = Coverage(
            total.known + one.known,
            total.unknown_begin + one.unknown_begin,
            total.beyond_known + one.beyond_known,
            total.no_trained_version + one.no_trained_version,
            total.groups_without_tokens + one.groups_without_tokens,
            total.uncounted_groups + one.uncounted_groups,
        )
    return total
