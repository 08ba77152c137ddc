"""Columns of the charts of staleness: one row for each training step, or for each bin of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from rtrace_otel.analysis.age.ages import token_age_quantile
from rtrace_otel.analysis.age.histogram import add_histograms
from rtrace_otel.analysis.age.results import StepAge
from rtrace_otel.analysis.age.staleness import Staleness, StepDetail
from rtrace_otel.report.html.bins import bins, known
from rtrace_otel.report.html.columns import Columns, floats, numbers

PARTS: Final = ("in_call", "in_group", "in_queue", "train_lag")

_Step: TypeAlias = tuple[StepAge, StepDetail]


def age_tables(found: Staleness) -> Mapping[str, Columns]:
    """The tables ``ages`` and ``token_ages``; the second has the tokens of each age in each row of the first."""
    steps: Sequence[_Step] = list(zip(found.ages.steps, found.steps, strict=True))
    several = bins(steps)
    return {"ages": _ages(several), "token_ages": _token_ages(several)}


def _ages(several: Sequence[Sequence[_Step]]) -> Columns:
    histograms = [add_histograms(detail.histogram for _, detail in steps) for steps in several]
    return {
        "step": numbers([steps[0][0].step for steps in several]),
        "last": numbers([steps[-1][0].step for steps in several]),
        "age": floats([_mean(steps, lambda step: step[0].best) for steps in several]),
        "logged": floats([_mean(steps, lambda step: step[0].logged) for steps in several]),
        "p50": numbers([_percentile(steps, hist, 0.50) for steps, hist in zip(several, histograms, strict=True)]),
        "p95": numbers([_percentile(steps, hist, 0.95) for steps, hist in zip(several, histograms, strict=True)]),
        "max": numbers([max(known(age.max for age, _ in steps), default=None) for steps in several]),
        "tokens": numbers([sum(age.tokens for age, _ in steps) for steps in several]),
        "times_trained": numbers([max(age.times_trained for age, _ in steps) for steps in several]),
        **{part: floats([_mean(steps, _part(part)) for steps in several]) for part in PARTS},
    }


def _token_ages(several: Sequence[Sequence[_Step]]) -> Columns:
    cells = [
        (place, age, tokens)
        for place, steps in enumerate(several)
        for age, tokens in add_histograms(detail.histogram for _, detail in steps).items()
    ]
    return {
        "place": numbers([place for place, _, _ in cells]),
        "age": numbers([age for _, age, _ in cells]),
        "tokens": numbers([tokens for _, _, tokens in cells]),
    }


def _part(name: str) -> Callable[[_Step], float | None]:
    return lambda step: None if step[1].split is None else float(getattr(step[1].split, name))


def _mean(steps: Sequence[_Step], value: Callable[[_Step], float | None]) -> float | None:
    """The mean over steps, weighted by their tokens; of steps without tokens, each counts alike."""
    found = [(age.tokens, known) for age, detail in steps if (known := value((age, detail))) is not None]
    if len(found) == 1:
        return found[0][1]
    tokens = sum(weight for weight, _ in found)
    if tokens:
        return sum(weight / tokens * one for weight, one in found)
    return sum(one for _, one in found) / len(found) if found else None


def _percentile(steps: Sequence[_Step], histogram: Mapping[int, int], share: float) -> int | None:
    if len(steps) == 1:
        return steps[0][0].p50 if share == 0.5 else steps[0][0].p95
    return token_age_quantile({-age: tokens for age, tokens in histogram.items()}, 0, share)


def staleness_facts(found: Staleness) -> dict[str, Any]:
    """What the charts say in words: how many steps there are, and how many each point stands for."""
    steps = len(found.ages.steps)
    return {"steps": steps, "points": len(bins(found.ages.steps))}
