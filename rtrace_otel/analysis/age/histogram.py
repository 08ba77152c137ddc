"""How the ages of a step's tokens are distributed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rtrace_otel.analysis.age.ages import TrainedStep
from rtrace_otel.analysis.age.batch_age import add_up


def histogram_of(step: TrainedStep) -> dict[int, int]:
    """Tokens by age in versions, youngest first; empty without a trained version."""
    trained = step.age.trained_version
    if trained is None:
        return {}
    return {
        trained - version: step.counts[version] for version in sorted(step.counts, reverse=True) if step.counts[version]
    }


def add_histograms(histograms: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """The histogram over several steps, youngest first."""
    return dict(sorted(add_up(histograms).items()))
