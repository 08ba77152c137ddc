"""The staleness of a file in one pass: the batch ages, and what stands behind them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from rtrace_otel.analysis.age.ages import AGE_EVENTS, AgeFold, AgeReport, TrainedStep
from rtrace_otel.analysis.age.coverage import Coverage, add_coverages, coverage_of
from rtrace_otel.analysis.age.histogram import add_histograms, histogram_of
from rtrace_otel.analysis.age.restores import RestoreAge, RestoreFold
from rtrace_otel.analysis.age.split import AgeSplit, SplitMissing, SplitSums, add_splits, split_step
from rtrace_otel.analysis.reading.narrowing import only
from rtrace_otel.events import Row

STALENESS_EVENTS: Final = AGE_EVENTS | {"checkpoint_restored"}
"""The events that decide the ages, what stands behind them, and what a restore changed."""

TOLERANCE: Final = 1e-9
"""By how much the parts of an age may miss it: what floats lose, relative to the trained version."""


@dataclass(frozen=True, slots=True)
class StepDetail:
    """What stands behind one step's batch age.

    Attributes:
        step: Step number.
        split: Where the age comes from; ``None`` if that cannot be known.
        split_missing: Why it cannot.
        histogram: Tokens by age in versions.
        coverage: Tokens with an age and without.
    """

    step: int
    split: AgeSplit | None
    split_missing: SplitMissing | None
    histogram: Mapping[int, int]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Staleness:
    """The staleness of a file.

    Attributes:
        ages: The batch age of every step.
        steps: What stands behind it, for the same steps in the same order.
        split: Token-weighted, over the steps that can be split; ``None`` if none can.
        histogram: Tokens by age in versions, over all steps.
        coverage: Over all steps.
        restores: Batch age before and after each restore.
    """

    ages: AgeReport
    steps: tuple[StepDetail, ...]
    split: AgeSplit | None
    histogram: Mapping[int, int]
    coverage: Coverage
    restores: tuple[RestoreAge, ...]

    def self_check(self) -> None:
        """Conservation: the parts of each age add up to it, and every known token is in the histogram once.

        Raises:
            AssertionError: They do not.
        """
        for age, detail in zip(self.ages.steps, self.steps, strict=True):
            assert age.step == detail.step, (age, detail)
            assert (detail.split is None) == (detail.split_missing is not None), detail
            assert sum(detail.histogram.values()) == detail.coverage.known, detail
            assert age.tokens == detail.coverage.known + detail.coverage.no_trained_version, (age, detail)
            if detail.split is not None:
                assert age.recomputed is not None, age
                near = TOLERANCE * max(1, abs(age.trained_version or 0))
                assert math.isclose(detail.split.batch_age, age.recomputed, rel_tol=1e-9, abs_tol=near), (age, detail)
        assert self.coverage.known == sum(self.histogram.values()), self


class Watcher(Protocol):
    """Takes part in the pass: it sees every row, and each step when it is trained."""

    def add(self, row: Row) -> None:
        """Take the next row of the file; a ``train_step`` row before its step."""

    def trained(self, step: TrainedStep) -> None:
        """Take a step when it is trained."""


def staleness(events: Iterable[Row], *watchers: Watcher) -> Staleness:
    """The staleness of a file in one pass.

    Args:
        events: Rows in file order, of all runs. Memory grows with the groups, steps and restores, not with the rows.
        watchers: Who else takes part in the pass.
    """
    fold = StalenessFold(*watchers)
    for row in events if watchers else only(events, STALENESS_EVENTS):
        fold.add(row)
    return fold.result()


class StalenessFold:
    """Builds a :class:`Staleness` row by row.

    Args:
        watchers: Who else takes part in the pass.

    Attributes:
        ages: The ages so far; other analyses of the same pass may read them.
    """

    def __init__(self, *watchers: Watcher) -> None:
        """Begin with no row seen."""
        self._watchers = watchers
        self.ages = AgeFold(self._trained)
        self._restores = RestoreFold()
        self._steps: dict[int, StepDetail] = {}
        self._splits: dict[int, SplitSums] = {}
        self._moments: dict[int, set[tuple[str, int]]] = {}

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        for watcher in self._watchers:
            watcher.add(row)
        if row.get("event") == "checkpoint_restored":
            self._restores.restored(row)
        else:
            self.ages.add(row)

    def result(self) -> Staleness:
        """The staleness of the rows so far."""
        steps = tuple(self._checked(self._steps[step]) for step in sorted(self._steps))
        return Staleness(
            ages=self.ages.result(),
            steps=steps,
            split=add_splits(self._splits[detail.step] for detail in steps if detail.split is not None),
            histogram=add_histograms(detail.histogram for detail in steps),
            coverage=add_coverages(detail.coverage for detail in steps),
            restores=self._restores.result(),
        )

    def _checked(self, detail: StepDetail) -> StepDetail:
        """That a refit's row is missing shows only when the next one comes, maybe after the step."""
        if detail.split is None or not any(self.ages.in_doubt(*moment) for moment in self._moments[detail.step]):
            return detail
        return replace(detail, split=None, split_missing=SplitMissing.REFIT_MISSING)

    def _trained(self, step: TrainedStep) -> None:
        number = step.age.step
        split = split_step(step)
        self._splits.pop(number, None)
        if isinstance(split, SplitSums):
            self._splits[number] = split
            self._moments[number] = {(group.run, group.published_at.place) for group in step.groups}
            self._moments[number].add((step.age.run, step.start.place))
        self._steps[number] = StepDetail(
            step=number,
            split=split.means() if isinstance(split, SplitSums) else None,
            split_missing=split if isinstance(split, SplitMissing) else None,
            histogram=histogram_of(step),
            coverage=coverage_of(step),
        )
        self._restores.trained(step)
        for watcher in self._watchers:
            watcher.trained(step)
