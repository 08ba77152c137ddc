"""What is said of the staleness of a file: frozen results, without how they come about."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DifferenceKind(StrEnum):
    """Why two values of a step's batch age differ."""

    CUTS_LOST_IN_RESTORE = "cuts lost in restore"
    CUTS_NOT_APPLIED = "cuts not applied"
    LOGGED_OTHERWISE = "logged otherwise"


@dataclass(frozen=True, slots=True)
class StepAge:
    """Staleness of what one step trained on. Ages are in versions (weight updates).

    Attributes:
        step: Step number.
        run: The run that trained it last.
        trained_version: Version that the step updates; ``None`` if the row does not say.
        logged: Batch age that the controller logged.
        published: Batch age from the counts that the controller published.
        recomputed: Batch age from the calls, split anew at the refits of all runs.
        p50: Median token age, weighted by tokens.
        p95: 95th percentile of token age.
        max: Largest token age.
        tokens: Trained tokens with a known version.
        cut_share: Share of them in calls that a refit cut; ``None`` if the file does not name the calls.
        groups: Groups that the step trained on.
        groups_with_tokens: Those of them with token data.
        times_trained: How often the file has this step.
    """

    step: int
    run: str
    trained_version: int | None
    logged: float | None
    published: float | None
    recomputed: float | None
    p50: int | None
    p95: int | None
    max: int | None
    tokens: int
    cut_share: float | None
    groups: int
    groups_with_tokens: int
    times_trained: int

    @property
    def best(self) -> float | None:
        """The truest value that the file gives: recomputed, else published, else logged."""
        return next((age for age in (self.recomputed, self.published, self.logged) if age is not None), None)


@dataclass(frozen=True, slots=True)
class AgeDifference:
    """Steps of one run whose values differ for one reason.

    Attributes:
        kind: The reason.
        run: The run that trained them.
        steps: Their numbers.
        smallest: Least signed difference, in versions (positive: the first value is older).
        largest: Greatest signed difference.
        calls: Calls whose cuts explain it.
        stopped_runs: The runs that had recorded these cuts.
    """

    kind: DifferenceKind
    run: str
    steps: tuple[int, ...]
    smallest: float
    largest: float
    calls: int
    stopped_runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgeReport:
    """Staleness of every step of a file.

    Attributes:
        steps: By step number; a step trained again has the later run's values.
        differences: Where the three values differ.
        tokens: Trained tokens with a known version, over these steps.
        batch_age: Token-weighted mean over these steps, in versions; ``None`` without tokens.
    """

    steps: tuple[StepAge, ...]
    differences: tuple[AgeDifference, ...]
    tokens: int
    batch_age: float | None
