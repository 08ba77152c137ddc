"""The numbers of one job, and the same numbers over many jobs: both are one type, and one is the sum of the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from rtrace_otel.analysis.age.ages import token_age_quantile

WASTED: Final = ("masked", "abandoned", "discarded", "lost")
"""Accounts whose tokens trained nothing."""


@dataclass(frozen=True, slots=True)
class Volume:
    """Rollouts and their tokens.

    Attributes:
        rollouts: How many.
        tokens: Tokens, at least.
        exact: Whether that is all of them.
    """

    rollouts: int = 0
    tokens: int = 0
    exact: bool = True

    def __add__(self, other: Volume) -> Volume:
        """Both together."""
        return Volume(self.rollouts + other.rollouts, self.tokens + other.tokens, self.exact and other.exact)


@dataclass(frozen=True, slots=True)
class Numbers:
    """What one job cost and trained on, or several jobs together.

    Attributes:
        jobs: Traces that these numbers are of.
        runs: Runs in them.
        rows: Events.
        rows_missing: Rows missing by their sequence numbers.
        damages: Faults that the reader met.
        steps: Training steps, each number once.
        steps_without_age: Those of them without token data.
        stops: Runs that ended and that a later run went on from.
        dead_s: Seconds in which nothing ran, from a run's last row to the next run's first.
        stops_untimed: Stops whose dead time is unknown.
        steps_lost: Steps that stops took back.
        fates: What became of the rollouts that stops took, by fate.
        lost: What the stops cost; see :attr:`rtrace_otel.analysis.restore_results.Stop.lost`.
        accounts: Where every rollout went, by the name of its account.
        abandoned: Abandoned attempts by reason.
        begun: Rollouts that were dispatched, or resumed in the middle.
        attempt_s: Seconds that attempts ran, added up.
        ages: Trained tokens by age in versions.
        findings: Findings of the check, by severity.
        codes: The same, by rule.
    """

    jobs: int = 0
    runs: int = 0
    rows: int = 0
    rows_missing: int = 0
    damages: int = 0
    steps: int = 0
    steps_without_age: int = 0
    stops: int = 0
    dead_s: float = 0.0
    stops_untimed: int = 0
    steps_lost: int = 0
    fates: Mapping[str, Volume] = field(default_factory=dict)
    lost: Volume = Volume()
    accounts: Mapping[str, Volume] = field(default_factory=dict)
    abandoned: Mapping[str, Volume] = field(default_factory=dict)
    begun: int = 0
    attempt_s: float = 0.0
    ages: Mapping[int, int] = field(default_factory=dict)
    findings: Mapping[str, int] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)

    @property
    def generated(self) -> Volume:
        """All rollouts."""
        return sum(self.accounts.values(), Volume())

    @property
    def waste(self) -> float | None:
        """Share of the generated tokens that trained nothing; ``None`` if no row tells of tokens."""
        tokens = self.generated.tokens
        return sum(self.accounts.get(name, _NONE).tokens for name in WASTED) / tokens if tokens else None

    @property
    def age_mean(self) -> float | None:
        """Mean token age in versions: the batch age over all steps; ``None`` without token data."""
        tokens = sum(self.ages.values())
        try:
            return sum(age * number for age, number in self.ages.items()) / tokens if tokens else None
        except OverflowError:  # versions of a damaged file
            return None

    def age_at(self, quantile: float) -> int | None:
        """The smallest token age that at least this share of the tokens does not exceed.

        Args:
            quantile: Share between 0 and 1.
        """
        return token_age_quantile({-age: number for age, number in self.ages.items()}, 0, quantile)

    def fate(self, name: str) -> Volume:
        """Rollouts of one fate."""
        return self.fates.get(name, _NONE)

    def self_check(self) -> None:
        """Conservation: the rollouts that stops took have a fate each, and abandoned attempts a reason each.

        Raises:
            AssertionError: The parts do not add up.
        """
        abandoned = sum(self.abandoned.values(), Volume())
        assert abandoned == self.accounts.get("abandoned", _NONE), (abandoned, self.accounts)
        assert sum(self.findings.values()) == sum(self.codes.values()), (self.findings, self.codes)
        assert self.stops_untimed <= self.stops, self
        assert self.steps_without_age <= self.steps, self


_NONE: Final = Volume()


def total_of(parts: Iterable[Numbers]) -> Numbers:
    """The sum. It does not depend on the order, also in its last digit (``math.fsum``)."""
    parts = tuple(parts)
    return Numbers(
        jobs=sum(part.jobs for part in parts),
        runs=sum(part.runs for part in parts),
        rows=sum(part.rows for part in parts),
        rows_missing=sum(part.rows_missing for part in parts),
        damages=sum(part.damages for part in parts),
        steps=sum(part.steps for part in parts),
        steps_without_age=sum(part.steps_without_age for part in parts),
        stops=sum(part.stops for part in parts),
        dead_s=fsum(part.dead_s for part in parts),
        stops_untimed=sum(part.stops_untimed for part in parts),
        steps_lost=sum(part.steps_lost for part in parts),
        fates=add_volumes(part.fates for part in parts),
        lost=sum((part.lost for part in parts), Volume()),
        accounts=add_volumes(part.accounts for part in parts),
        abandoned=add_volumes(part.abandoned for part in parts),
        begun=sum(part.begun for part in parts),
        attempt_s=fsum(part.attempt_s for part in parts),
        ages=_ages(part.ages for part in parts),
        findings=_counts(part.findings for part in parts),
        codes=_counts(part.codes for part in parts),
    )


def add_volumes(parts: Iterable[Mapping[str, Volume]]) -> dict[str, Volume]:
    """Volumes by name, added up; in the order of the names."""
    total: dict[str, Volume] = {}
    for part in parts:
        for name, volume in part.items():
            total[name] = total.get(name, _NONE) + volume
    return dict(sorted(total.items()))


def _counts(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return dict(sorted(total.items()))


def _ages(parts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: dict[int, int] = {}
    for part in parts:
        for age, number in part.items():
            total[age] = total.get(age, 0) + number
    return dict(sorted(total.items()))
