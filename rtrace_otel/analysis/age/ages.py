"""Staleness of each training step: three values of its batch age side by side, and why they differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rtrace_otel.analysis.age.results import AgeDifference, AgeReport, DifferenceKind, StepAge
from rtrace_otel.analysis.age.trained_groups import GroupBook, TrainedGroup, WatchGroup
from rtrace_otel.analysis.age.versions import Mark, VersionsInForce
from rtrace_otel.analysis.checked import number
from rtrace_otel.analysis.counts import add_up, age_of, token_age_quantile
from rtrace_otel.analysis.reading.narrowing import only
from rtrace_otel.events import Row

__all__ = [
    "AGE_EVENTS",
    "AgeDifference",
    "AgeFold",
    "AgeReport",
    "DifferenceKind",
    "StepAge",
    "TrainedStep",
    "recomputed_batch_age_by_step",
    "step_ages",
    "token_age_quantile",
]

MAX_GROUPS: Final = 16_384
"""Groups that were trained or discarded and are remembered, because a restore can train them again."""

AGE_EVENTS: Final = frozenset(
    {
        "run_started",
        "group_published",
        "group_sealed",
        "group_discarded",
        "weight_sync",
        "train_step_started",
        "train_step",
    }
)
"""The events that decide the staleness of a step."""

TOLERANCE: Final = 1e-6
"""Ages closer than this are equal: a logged age may have been rounded."""


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
    for row in only(events, AGE_EVENTS):
        fold.add(row)
    return fold.result()


@dataclass(frozen=True, slots=True)
class StepDifference:
    """Two values of a step's batch age that differ.

    Attributes:
        kind: Why.
        by: The signed difference, in versions.
        stopped_runs: The runs whose cuts explain it, one entry per call.
    """

    kind: DifferenceKind
    by: float
    stopped_runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrainedStep:
    """A step when it is trained.

    Attributes:
        row: Its ``train_step`` row.
        age: Its staleness.
        counts: Its tokens by version.
        group_ids: The groups that it names.
        groups: Those of them with token data.
        settled: What is known of each group that it names, with token data or without.
        start: Version in force when it began, ``None`` if the file does not tell, and its place.
        version_at_end: Version in force when it ended.
        differences: Where values of its age differ.
    """

    row: Row
    age: StepAge
    counts: Mapping[int, int]
    group_ids: Sequence[str]
    groups: Sequence[TrainedGroup]
    settled: Sequence[TrainedGroup | None]
    start: Mark
    version_at_end: int | None
    differences: Sequence[StepDifference]


class AgeFold:
    """Builds an :class:`AgeReport` row by row.

    Args:
        watch: Called with each step when it is trained, for those who want to know more of it.
        max_groups: How many groups to remember that were trained or discarded, the latest ones. One that is trained
            again later than that has no token data.
        watch_group: Called with each group that is trained or discarded.
        keep_steps: Whether to keep the steps for the result; without them memory does not grow with their number.
    """

    def __init__(
        self,
        watch: Callable[[TrainedStep], None] | None = None,
        *,
        max_groups: int = MAX_GROUPS,
        watch_group: WatchGroup | None = None,
        keep_steps: bool = True,
    ) -> None:
        """Begin with no row seen."""
        self._watchers = [] if watch is None else [watch]
        self._versions = VersionsInForce()
        self._book = GroupBook(self._versions, max_groups=max_groups, watch=watch_group)
        self._steps: dict[int, StepAge] = {}
        self._keep_steps = keep_steps
        self._differences: dict[int, Sequence[StepDifference]] = {}
        self._handlers: dict[Any, Callable[[Row], object]] = {
            "group_published": self._book.publish,
            "group_sealed": self._book.publish,
            "group_discarded": lambda row: self._book.settle(str(row.get("group_id"))),
            "weight_sync": self._refit,
            "run_started": self._versions.started,
            "train_step_started": self._versions.step_begun,
            "train_step": self._train,
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        handler = self._handlers.get(row.get("event"))
        if handler is not None:
            handler(row)

    def tell(self, watch: Callable[[TrainedStep], None], watch_group: WatchGroup | None = None) -> None:
        """Another analysis of the same pass wants to know of each step and group; call it before the first row.

        Args:
            watch: Called with each step when it is trained, after those that asked before.
            watch_group: Called with each group that is trained or discarded, likewise.
        """
        self._watchers.append(watch)
        if watch_group is not None:
            self._book.watchers.append(watch_group)

    def in_doubt(self, run: str, place: int) -> bool:
        """Whether rows so far tell that a refit's row is missing after a place of a run."""
        return self._versions.in_doubt(run, place)

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

    def _refit(self, row: Row) -> None:
        self._book.refitted(row)
        self._versions.refitted(row)

    def _train(self, row: Row) -> None:
        step, version = row.get("step"), row.get("trained_version")
        if type(step) is not int:
            return
        named = row.get("group_ids")
        group_ids = [str(group_id) for group_id in named] if isinstance(named, (list, tuple)) else []
        settled = [self._book.settle(group_id) for group_id in group_ids]
        groups = [group for group in settled if group is not None and any(group.best.values())]
        counts = add_up(group.best for group in groups)
        before = self._steps.get(step)
        age = _step_age(row, step, version if type(version) is int else None, len(group_ids), groups, counts)
        age = replace(age, times_trained=before.times_trained + 1) if before else age
        differences = _differences(age, groups)
        if self._keep_steps:
            self._steps[step], self._differences[step] = age, differences
        start, now = self._versions.at_start_of(row), self._versions.now(age.run).version
        if self._watchers:
            trained = TrainedStep(row, age, counts, group_ids, groups, settled, start, now, differences)
            for watch in self._watchers:
                watch(trained)

    def _grouped_differences(self, steps: Iterable[StepAge]) -> tuple[AgeDifference, ...]:
        found: dict[tuple[DifferenceKind, str], list[tuple[int, StepDifference]]] = {}
        for step in steps:
            for difference in self._differences.get(step.step, ()):
                found.setdefault((difference.kind, step.run), []).append((step.step, difference))
        return tuple(
            AgeDifference(
                kind=kind,
                run=run,
                steps=tuple(step for step, _ in entries),
                smallest=min(difference.by for _, difference in entries),
                largest=max(difference.by for _, difference in entries),
                calls=sum(len(difference.stopped_runs) for _, difference in entries),
                stopped_runs=tuple(
                    dict.fromkeys(name for _, difference in entries for name in difference.stopped_runs)
                ),
            )
            for (kind, run), entries in found.items()
        )


def _step_age(
    row: Row,
    step: int,
    version: int | None,
    groups_in_all: int,
    groups: Sequence[TrainedGroup],
    best: Mapping[int, int],
) -> StepAge:
    counted = [group.counts for group in groups if group.counts]
    named = [group for group in groups if group.recomputed is not None]
    tokens = sum(best.values())
    return StepAge(
        step=step,
        run=str(row.get("run", "")),
        trained_version=version,
        logged=number(row.get("batch_age")),
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


def _differences(age: StepAge, groups: Sequence[TrainedGroup]) -> Sequence[StepDifference]:
    """What disagrees, with the signed difference; groups without published counts cannot be compared with them."""
    found: list[StepDifference] = []
    counted = [group for group in groups if group.counts]
    compared = None
    if age.trained_version is not None and any(group.recomputed is not None for group in counted):
        compared = age_of(add_up(group.best for group in counted), age.trained_version)
    lost = tuple(run for group in groups for run in group.lost_cuts)
    if age.published is not None and compared is not None and abs(age.published - compared) > TOLERANCE:
        kind = DifferenceKind.CUTS_LOST_IN_RESTORE if lost else DifferenceKind.CUTS_NOT_APPLIED
        found.append(StepDifference(kind, age.published - compared, lost))
    reference, kind = age.published, DifferenceKind.LOGGED_OTHERWISE
    if not counted and age.recomputed is not None:
        reference, kind = age.recomputed, DifferenceKind.CUTS_LOST_IN_RESTORE if lost else kind
    elif len(counted) < len(groups):
        reference = None
    if reference is not None and age.logged is not None and abs(age.logged - reference) > TOLERANCE:
        runs = lost if kind is DifferenceKind.CUTS_LOST_IN_RESTORE else ()
        found.append(StepDifference(kind, age.logged - reference, runs))
    return found or ()
