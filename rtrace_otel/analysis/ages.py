"""Staleness of each training step: three values of its batch age side by side, and why they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rtrace_otel.analysis.age_results import AgeDifference, AgeReport, DifferenceKind, StepAge
from rtrace_otel.analysis.batch_age import add_up, age_of, clean_counts
from rtrace_otel.analysis.refit_cuts import RefitCuts, record_refit, well_formed
from rtrace_otel.events import Row

__all__ = [
    "AgeDifference",
    "AgeFold",
    "AgeReport",
    "DifferenceKind",
    "StepAge",
    "recomputed_batch_age_by_step",
    "step_ages",
    "token_age_quantile",
]

TOLERANCE: Final = 1e-6
"""Ages closer than this are equal: a logged age may have been rounded."""

MAX_CALLS: Final = 262_144
"""Calls with cuts that wait for their group, at most: far more than run at once, so what is dropped was abandoned."""


def recomputed_batch_age_by_step(events: Iterable[Row]) -> dict[int, float]:
    """Each step's batch age, with every call split at the refits in the file: the truest that the file gives.

    Args:
        events: Rows in file order, of all runs.

    Returns:
        Batch age in versions by step number; from the published counts, else the logged age, where the file does not
        name the calls. Steps of which nothing is known are absent.
    """
    return {step.step: step.best for step in step_ages(events).steps if step.best is not None}


def step_ages(events: Iterable[Row]) -> AgeReport:
    """The staleness of every step.

    Args:
        events: Rows in file order, of all runs.
    """
    fold = AgeFold()
    for row in events:
        fold.add(row)
    return fold.result()


@dataclass(frozen=True, slots=True)
class _Published:
    run: str
    counts: Mapping[int, int] | None
    calls: tuple[Sequence[Any], ...]


@dataclass(frozen=True, slots=True)
class _Group:
    run: str
    counts: Mapping[int, int] | None
    recomputed: Mapping[int, int] | None
    cut_tokens: int
    lost_cuts: tuple[str, ...]
    """Runs whose cuts the publishing run did not have, one entry per call."""

    @property
    def best(self) -> Mapping[int, int]:
        return self.recomputed if self.recomputed is not None else self.counts or {}


class AgeFold:
    """Builds an :class:`AgeReport` row by row.

    Args:
        max_groups: How many groups to remember that were trained or discarded, the latest ones; ``None`` for all. One
            that is trained again later than that has no token data.
    """

    def __init__(self, *, max_groups: int | None = None) -> None:
        """Begin with no row seen."""
        self._max_groups = max_groups
        self._cuts = RefitCuts(max_calls=MAX_CALLS)
        self._untrained: dict[str, _Published] = {}
        self._groups: dict[str, _Group] = {}
        self._steps: dict[int, StepAge] = {}
        self._differences: dict[int, list[tuple[DifferenceKind, float, tuple[str, ...]]]] = {}

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        event = row.get("event")
        if event == "group_published" or event == "group_sealed":
            self._publish(row, event == "group_sealed")
        elif event == "train_step":
            self._train(row)
        elif event == "group_discarded":
            self._settled(str(row.get("group_id")))
        elif event == "weight_sync":
            record_refit(self._cuts, row)

    def result(self) -> AgeReport:
        """The report over the rows so far."""
        steps = tuple(self._steps[step] for step in sorted(self._steps))
        tokens, age_sum = 0, 0.0
        for step in steps:
            if step.best is not None and step.tokens:
                tokens += step.tokens
                age_sum += step.best * step.tokens
        mean = age_sum / tokens if tokens else None
        return AgeReport(steps, self._grouped_differences(steps), tokens, mean)

    def _publish(self, row: Row, sealed_only: bool) -> None:
        group_id, run = str(row.get("group_id")), str(row.get("run", ""))
        calls = tuple(well_formed(row.get("call_versions"), 3))
        counts = clean_counts(row.get("tokens_by_version"))
        if counts is None and not calls:
            before = self._untrained.get(group_id) or self._groups.get(group_id)
            if not sealed_only and before is not None and before.run != run:
                self._untrained.pop(group_id, None)
                self._groups.pop(group_id, None)
            return
        self._groups.pop(group_id, None)
        self._untrained[group_id] = _Published(run, counts, calls)

    def _settled(self, group_id: str) -> _Group | None:
        """A group that is trained or discarded; its calls are split only now: a refit can follow the publication."""
        published = self._untrained.pop(group_id, None)
        if published is not None:
            self._groups[group_id] = self._split_group(published)
            if self._max_groups is not None and len(self._groups) > self._max_groups:
                del self._groups[next(iter(self._groups))]
            for call in published.calls:
                self._cuts.release(str(call[0]))
        return self._groups.get(group_id)

    def _split_group(self, group: _Published) -> _Group:
        if not group.calls:
            return _Group(group.run, group.counts, None, 0, ())
        recomputed: dict[int, int] = {}
        cut_tokens = 0
        lost: list[str] = []
        for call_id, begin, tokens in ((str(call[0]), call[1], call[2]) for call in group.calls):
            segments = self._cuts.segments(call_id, begin, tokens)
            cut_tokens += tokens if len(segments) > 1 else 0
            for version, count in segments:
                recomputed[version] = recomputed.get(version, 0) + count
            if segments != self._cuts.segments(call_id, begin, tokens, recorded_by=group.run):
                lost += [run for run in self._cuts.sources(call_id) if run != group.run][:1]
        differs = recomputed != {version: count for version, count in (group.counts or {}).items() if count}
        return _Group(group.run, group.counts, recomputed, cut_tokens, tuple(lost) if differs else ())

    def _train(self, row: Row) -> None:
        step, version = row.get("step"), row.get("trained_version")
        if type(step) is not int:
            return
        named = row.get("group_ids")
        group_ids = [str(group_id) for group_id in named] if isinstance(named, (list, tuple)) else []
        found = map(self._settled, group_ids)
        groups = [group for group in found if group is not None and any(group.best.values())]
        before = self._steps.get(step)
        age = _step_age(row, step, version if type(version) is int else None, len(group_ids), groups)
        times = before.times_trained + 1 if before else 1
        self._steps[step] = replace(age, times_trained=times)
        self._differences[step] = _differences(age, groups)

    def _grouped_differences(self, steps: Iterable[StepAge]) -> tuple[AgeDifference, ...]:
        found: dict[tuple[DifferenceKind, str], list[tuple[int, float, tuple[str, ...]]]] = {}
        for step in steps:
            for kind, difference, runs in self._differences.get(step.step, ()):
                found.setdefault((kind, step.run), []).append((step.step, difference, runs))
        return tuple(
            AgeDifference(
                kind=kind,
                run=run,
                steps=tuple(step for step, _, _ in entries),
                smallest=min(difference for _, difference, _ in entries),
                largest=max(difference for _, difference, _ in entries),
                calls=sum(len(runs) for _, _, runs in entries),
                stopped_runs=tuple(dict.fromkeys(name for _, _, runs in entries for name in runs)),
            )
            for (kind, run), entries in found.items()
        )


def token_age_quantile(counts: Mapping[int, int], trained_version: int, quantile: float) -> int | None:
    """The smallest token age that at least this share of the tokens does not exceed.

    Args:
        counts: Tokens by weight version.
        trained_version: Version that the step updates.
        quantile: Share between 0 and 1; 1 is the largest age.

    Returns:
        An age in versions, or ``None`` without tokens.
    """
    needed = quantile * sum(counts.values())
    seen = 0
    for version in sorted((version for version, tokens in counts.items() if tokens), reverse=True):
        seen += counts[version]
        if seen >= needed:
            return trained_version - version
    return None


def _step_age(row: Row, step: int, version: int | None, groups_in_all: int, groups: Sequence[_Group]) -> StepAge:
    counted = [group.counts for group in groups if group.counts]
    best = add_up(group.best for group in groups)
    named = [group for group in groups if group.recomputed is not None]
    tokens = sum(best.values())
    return StepAge(
        step=step,
        run=str(row.get("run", "")),
        trained_version=version,
        logged=_finite(row.get("batch_age")),
        published=age_of(add_up(counted), version) if version is not None and counted else None,
        recomputed=age_of(best, version) if version is not None and named else None,
        p50=token_age_quantile(best, version, 0.50) if version is not None else None,
        p95=token_age_quantile(best, version, 0.95) if version is not None else None,
        max=token_age_quantile(best, version, 1.0) if version is not None else None,
        tokens=tokens,
        cut_share=sum(group.cut_tokens for group in named) / tokens if named and tokens else None,
        groups=groups_in_all,
        groups_with_tokens=len(groups),
        times_trained=1,
    )


def _differences(age: StepAge, groups: Sequence[_Group]) -> list[tuple[DifferenceKind, float, tuple[str, ...]]]:
    """What disagrees, with the signed difference; groups without published counts cannot be compared with them."""
    found: list[tuple[DifferenceKind, float, tuple[str, ...]]] = []
    counted = [group for group in groups if group.counts]
    compared = None
    if age.trained_version is not None and any(group.recomputed is not None for group in counted):
        compared = age_of(add_up(group.best for group in counted), age.trained_version)
    lost = tuple(run for group in groups for run in group.lost_cuts)
    if age.published is not None and compared is not None and abs(age.published - compared) > TOLERANCE:
        kind = DifferenceKind.CUTS_LOST_IN_RESTORE if lost else DifferenceKind.CUTS_NOT_APPLIED
        found.append((kind, age.published - compared, lost))
    reference, kind = age.published, DifferenceKind.LOGGED_OTHERWISE
    if not counted and age.recomputed is not None:
        reference, kind = age.recomputed, DifferenceKind.CUTS_LOST_IN_RESTORE if lost else kind
    elif len(counted) < len(groups):
        reference = None
    if reference is not None and age.logged is not None and abs(age.logged - reference) > TOLERANCE:
        found.append((kind, age.logged - reference, lost if kind is DifferenceKind.CUTS_LOST_IN_RESTORE else ()))
    return found


def _finite(value: Any) -> float | None:
    """A logged number, or ``None`` for what is none: a truth value, NaN, a number with hundreds of digits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None
