"""Rules of batch age: what the age analysis finds to differ, and ages below zero."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rtrace_otel.analysis.age.ages import MAX_GROUPS, TOLERANCE, AgeFold, StepDifference, TrainedStep
from rtrace_otel.analysis.age.results import DifferenceKind
from rtrace_otel.analysis.age.trained_groups import WatchGroup
from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Place
from rtrace_otel.analysis.check.values import whole
from rtrace_otel.events import Row

MAX_LISTED: Final = 5
"""Steps that a message names."""

_CODES: Final = {
    DifferenceKind.CUTS_NOT_APPLIED: "RT502",
    DifferenceKind.LOGGED_OTHERWISE: "RT503",
    DifferenceKind.CUTS_LOST_IN_RESTORE: "RT504",
}
_TEXTS: Final = {
    DifferenceKind.CUTS_NOT_APPLIED: "the published age is {by} compared with the one recomputed from the calls",
    DifferenceKind.LOGGED_OTHERWISE: "the logged age is {by} compared with the one of the groups",
    DifferenceKind.CUTS_LOST_IN_RESTORE: "the published age is {by}; a kill took the cuts of {calls}",
}


@dataclass(slots=True)
class _Different:
    """The steps of one run whose ages differ for one reason."""

    place: Place
    first: list[str] = field(default_factory=list)
    steps: int = 0
    calls: int = 0
    smallest: float = math.inf
    largest: float = -math.inf

    def add(self, step: int, difference: StepDifference) -> None:
        self.steps += 1
        self.calls += len(difference.stopped_runs)
        self.smallest, self.largest = min(self.smallest, difference.by), max(self.largest, difference.by)
        if len(self.first) < MAX_LISTED:
            self.first.append(f"{step:,}")

    def text(self, kind: DifferenceKind) -> str:
        calls = f"{self.calls:,} call{'' if self.calls == 1 else 's'}"
        return f"{self._named()}: {_TEXTS[kind].format(by=self._by(), calls=calls)}."

    def _named(self) -> str:
        if self.steps == 1:
            return f"Step {self.first[0]}"
        more = self.steps - len(self.first)
        return f"Steps {', '.join(self.first)}{f' and {more:,} more' if more else ''}"

    def _by(self) -> str:
        low, high = sorted((abs(self.smallest), abs(self.largest)))
        if self.smallest < 0 < self.largest:
            return f"{-self.smallest:.6g} too young to {self.largest:.6g} too old"
        span = f"{low:.6g}" if f"{low:.6g}" == f"{high:.6g}" else f"{low:.6g} to {high:.6g}"
        return f"{span} too {'young' if self.largest < 0 else 'old'}"


class AgeRules:
    """Runs the age analysis over every training of a step, so that none hides another.

    Settled groups are remembered up to a bound; of steps, what the findings say.

    Args:
        findings: Takes RT501 to RT504.
        watch_group: Called with each group that is trained or discarded.
        watch: Called with each step and its staleness when it is trained, for another analysis of the same pass.
        ages: The ages, if another analysis of the same pass has each row added to them before it comes here.
    """

    def __init__(
        self,
        findings: Findings,
        watch_group: WatchGroup,
        watch: Callable[[TrainedStep], None] | None = None,
        ages: AgeFold | None = None,
    ) -> None:
        """Begin with no step trained."""
        self._findings = findings
        self._watch = watch
        self._ages = AgeFold(max_groups=MAX_GROUPS, keep_steps=False) if ages is None else ages
        self._adds_to_ages = ages is None
        self._ages.tell(self._trained, watch_group)
        self._latest: TrainedStep | None = None
        self._different: dict[tuple[DifferenceKind, str], _Different] = {}

    def follow(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a place
        """A publication, a discard or a refit."""
        if self._adds_to_ages:
            self._ages.add(row)

    def train(self, row: Row, place: Place) -> None:
        """A step was trained."""
        if self._adds_to_ages:
            self._ages.add(row)
        step, self._latest = self._latest, None
        if step is not None and whole(step.age.step) is not None:
            self._judge(step, place)

    def finish(self) -> None:
        """The file is over."""
        for (kind, _), different in self._different.items():
            self._findings.report(_CODES[kind], different.place, different.text(kind))

    def _trained(self, step: TrainedStep) -> None:
        self._latest = step

    def _judge(self, step: TrainedStep, place: Place) -> None:
        age = step.age
        if self._watch is not None:
            self._watch(step)
        if age.best is not None and age.best < -TOLERANCE:
            text = f"Step {age.step:,} has a batch age of {age.best:.6g}; it updates version {age.trained_version}."
            self._findings.report("RT501", place, text)
        for difference in step.differences:
            different = self._different.setdefault((difference.kind, age.run), _Different(place))
            different.add(age.step, difference)
