"""Rules of batch age: what the age analysis finds to differ, and ages below zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rtrace_otel.analysis.age_results import AgeDifference, DifferenceKind
from rtrace_otel.analysis.ages import MAX_GROUPS, TOLERANCE, AgeFold, TrainedStep
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


class AgeRules:
    """Runs the age analysis with a number of its own for each training, so that none hides another.

    Steps are kept to the end, as the age analysis does; settled groups are remembered up to a bound.

    Args:
        findings: Takes RT501 to RT504.
        watch: Called with the number of each step and its staleness when it is trained, for an analysis of the same
            pass that wants to know it too. Of the staleness, its own number is that of the training.
    """

    def __init__(self, findings: Findings, watch: Callable[[int, TrainedStep], None] | None = None) -> None:
        """Begin with no step trained."""
        self._findings = findings
        self._watch = watch
        self._ages = AgeFold(self._trained, max_groups=MAX_GROUPS)
        self._trainings: list[tuple[int, Place]] = []

    def follow(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a place
        """A publication, a discard or a refit."""
        self._ages.add(row)

    def train(self, row: Row, place: Place) -> None:
        """A step was trained."""
        step = whole(row.get("step"))
        if step is not None:
            self._trainings.append((step, place))
            self._ages.add({**row, "step": len(self._trainings) - 1})

    def finish(self) -> None:
        """The file is over."""
        report = self._ages.result()
        for age in report.steps:
            if age.best is not None and age.best < -TOLERANCE:
                step, place = self._trainings[age.step]
                text = f"Step {step:,} has a batch age of {age.best:.6g}; it updates version {age.trained_version}."
                self._findings.report("RT501", place, text)
        for difference in report.differences:
            self._report(difference)

    def _trained(self, trained: TrainedStep) -> None:
        if self._watch is not None:
            self._watch(self._trainings[-1][0], trained)

    def _report(self, difference: AgeDifference) -> None:
        calls = f"{difference.calls:,} call{'' if difference.calls == 1 else 's'}"
        what = _TEXTS[difference.kind].format(by=_by(difference), calls=calls)
        place = self._trainings[difference.steps[0]][1]
        self._findings.report(_CODES[difference.kind], place, f"{self._steps(difference)}: {what}.")

    def _steps(self, difference: AgeDifference) -> str:
        steps = [f"{self._trainings[number][0]:,}" for number in difference.steps]
        if len(steps) == 1:
            return f"Step {steps[0]}"
        more = len(steps) - MAX_LISTED
        return f"Steps {', '.join(steps[:MAX_LISTED])}{f' and {more:,} more' if more > 0 else ''}"


def _by(difference: AgeDifference) -> str:
    low, high = sorted((abs(difference.smallest), abs(difference.largest)))
    if difference.smallest < 0 < difference.largest:
        return f"{-difference.smallest:.6g} too young to {difference.largest:.6g} too old"
    span = f"{low:.6g}" if f"{low:.6g}" == f"{high:.6g}" else f"{low:.6g} to {high:.6g}"
    return f"{span} too {'young' if difference.largest < 0 else 'old'}"
