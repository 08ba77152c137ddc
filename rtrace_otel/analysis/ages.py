"""Staleness of each training step: three values of its batch age side by side, and why they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rtrace_otel.analysis.age_results import AgeDifference, AgeReport, DifferenceKind, StepAge
from rtrace_otel.analysis.batch_age import add_up, age_of, clean_counts
from rtrace_otel.analysis.refit_cuts import RefitCuts, record_refit, well_formed
from rtrace_otel.events import Row

__all__ = ["AgeDifference", "AgeFold", "AgeReport", "DifferenceKind", "StepAge", "step_ages", "token_age_quantile"]

TOLERANCE: Final = 1e-6
"""Ages closer than this are equal: a logged age may have been rounded."""


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
    published: Mapping[int, int]
    recomputed: Mapping[int, int] | None
    cut_tokens: int
    stale_cuts: tuple[str, ...]
    """Runs whose cuts the publishing run did not have, one entry per call."""


class AgeFold:
    """Builds an :class:`AgeReport` row by row."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._cuts = RefitCuts(max_released=None)
        self._cut_by: dict[str, str] = {}
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
            self._untrained.pop(str(row.get("group_id")), None)
        elif event == "weight_sync":
            record_refit(self._cuts, row)
            if row.get("replaced_version") != row.get("new_version"):
                self._cut_by.update((str(call[0]), row.get("run", "")) for call in well_formed(row.get("calls"), 2))

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
        published = clean_counts(row.get("tokens_by_version"))
        if published is None and not calls:
            before = self._untrained.get(group_id) or self._groups.get(group_id)
            if not sealed_only and before is not None and before.run != run:
                self._untrained.pop(group_id, None)
                self._groups.pop(group_id, None)
            return
        self._groups.pop(group_id, None)
        self._untrained[group_id] = _Published(run, published, calls)

    def _trained_group(self, group_id: str) -> _Group | None:
        """A group as it is trained; only now are its calls split: a refit's row may come after the publication."""
        published = self._untrained.pop(group_id, None)
        if published is not None:
            self._groups[group_id] = self._split_group(published)
        return self._groups.get(group_id)

    def _split_group(self, group: _Published) -> _Group:
        recomputed, cut_tokens = self._split(group.calls)
        counts = recomputed if group.counts is None else group.counts
        stale = self._cuts_of_other_runs(group.calls, group.run) if group.calls and recomputed != counts else ()
        return _Group(group.run, counts, recomputed if group.calls else None, cut_tokens, stale)

    def _split(self, calls: Sequence[Sequence[Any]]) -> tuple[dict[int, int], int]:
        counts: dict[int, int] = {}
        cut_tokens = 0
        for call_id, begin, tokens in ((str(call[0]), call[1], call[2]) for call in calls):
            segments = self._cuts.segments(call_id, begin, tokens)
            cut_tokens += tokens if len(segments) > 1 else 0
            for version, count in segments:
                counts[version] = counts.get(version, 0) + count
        return counts, cut_tokens

    def _cuts_of_other_runs(self, calls: Sequence[Sequence[Any]], run: str) -> tuple[str, ...]:
        return tuple(
            self._cut_by[call[0]]
            for call in calls
            if self._cut_by.get(call[0], run) != run and self._cuts.segments(call[0], call[1], call[2]) != [call[1:3]]
        )

    def _train(self, row: Row) -> None:
        step, version = row.get("step"), row.get("trained_version")
        if type(step) is not int:
            return
        ids = row.get("group_ids")
        group_ids = [str(group_id) for group_id in ids] if isinstance(ids, (list, tuple)) else []
        found = map(self._trained_group, group_ids)
        groups = [group for group in found if group is not None and any(group.published.values())]
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
    published = add_up(group.published for group in groups)
    best = add_up(group.published if group.recomputed is None else group.recomputed for group in groups)
    named = [group for group in groups if group.recomputed is not None]
    tokens = sum(best.values())
    logged = row.get("batch_age")
    return StepAge(
        step=step,
        run=str(row.get("run", "")),
        trained_version=version,
        logged=float(logged) if isinstance(logged, (int, float)) else None,
        published=None if version is None else age_of(published, version),
        recomputed=None if version is None or not named else age_of(best, version),
        p50=None if version is None else token_age_quantile(best, version, 0.50),
        p95=None if version is None else token_age_quantile(best, version, 0.95),
        max=None if version is None else token_age_quantile(best, version, 1.0),
        tokens=tokens,
        cut_share=sum(group.cut_tokens for group in named) / tokens if named and tokens else None,
        groups=groups_in_all,
        groups_with_tokens=len(groups),
        times_trained=1,
    )


def _differences(age: StepAge, groups: Sequence[_Group]) -> list[tuple[DifferenceKind, float, tuple[str, ...]]]:
    found: list[tuple[DifferenceKind, float, tuple[str, ...]]] = []
    if age.published is not None and age.recomputed is not None and abs(age.published - age.recomputed) > TOLERANCE:
        runs = tuple(run for group in groups for run in group.stale_cuts)
        kind = DifferenceKind.CUTS_LOST_IN_RESTORE if runs else DifferenceKind.CUTS_NOT_APPLIED
        found.append((kind, age.published - age.recomputed, runs))
    if age.published is not None and age.logged is not None and abs(age.logged - age.published) > TOLERANCE:
        found.append((DifferenceKind.LOGGED_OTHERWISE, age.logged - age.published, ()))
    return found
