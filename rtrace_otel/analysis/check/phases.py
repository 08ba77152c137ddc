"""Rules of what starts and ends: training steps, refits, checkpoints."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from rtrace_otel.analysis.check.findings import Findings
from rtrace_otel.analysis.check.lineage import Place
from rtrace_otel.analysis.check.values import whole
from rtrace_otel.events import Row

MAX_STARTED: Final = 1_000
"""Phases of one kind in one run that can be under way; the oldest is let go if there are more."""


@dataclass(slots=True)
class _Run:
    timeline: int
    last_step: int | None = None
    steps: OrderedDict[int, Place] = field(default_factory=OrderedDict)
    refits: list[Place] = field(default_factory=list)
    checkpoints: list[Place] = field(default_factory=list)


class PhaseRules:
    """Follows what each run has under way.

    Args:
        findings: Takes RT601 to RT604.
    """

    def __init__(self, findings: Findings) -> None:
        """Begin with nothing under way."""
        self._findings = findings
        self._runs: dict[str, _Run] = {}

    def start_step(self, row: Row, place: Place) -> None:
        """A training step began."""
        step = whole(row.get("step"))
        if step is not None:
            steps = self._of(place).steps
            steps.setdefault(step, place)
            if len(steps) > MAX_STARTED:
                steps.popitem(last=False)

    def end_step(self, row: Row, place: Place) -> None:
        """A training step ended; those before it that did not are over too."""
        step, run = whole(row.get("step")), self._of(place)
        if step is None:
            return
        run.steps.pop(step, None)
        for earlier in [number for number in run.steps if number < step]:
            text = f"Step {earlier:,} started here and never ended, though step {step:,} did."
            self._findings.report("RT601", run.steps.pop(earlier), text)
        if run.last_step is not None and step != run.last_step + 1:
            how = "again" if step == run.last_step else "back" if step < run.last_step else "on"
            text = f"Step {step:,} follows step {run.last_step:,}: {_HOW[how]}."
            self._findings.report("RT604", place, text)
        run.last_step = step

    def start_refit(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a row
        """A refit began."""
        _push(self._of(place).refits, place)

    def end_refit(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a row
        """A refit ended."""
        _pop(self._of(place).refits)

    def start_checkpoint(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a row
        """A checkpoint began."""
        _push(self._of(place).checkpoints, place)

    def end_checkpoint(self, row: Row, place: Place) -> None:  # noqa: ARG002 - every rule takes a row
        """A checkpoint was published."""
        _pop(self._of(place).checkpoints)

    def finish(self) -> None:
        """The file is over.

        A run may stop with one refit and one checkpoint under way, however it ends; those before them never ended.
        """
        for run in self._runs.values():
            for code, what, started in (("RT602", "refit", run.refits), ("RT603", "checkpoint", run.checkpoints)):
                for place in started[:-1]:
                    self._findings.report(
                        code, place, f"A {what} started here and never ended, though the run went on."
                    )

    def _of(self, place: Place) -> _Run:
        run = self._runs.get(place.life.run)
        if run is None:
            run = self._runs[place.life.run] = _Run(place.life.timeline)
        elif run.timeline != place.life.timeline:
            run.timeline, run.last_step = place.life.timeline, None
        return run


_HOW: Final = {
    "again": "the same number again",
    "back": "the numbers go back without a restore",
    "on": "the steps between have no row",
}


def _push(started: list[Place], place: Place) -> None:
    started.append(place)
    if len(started) > MAX_STARTED:
        del started[0]


def _pop(started: list[Place]) -> None:
    """The latest one ended: refits and checkpoints have no name when they start."""
    if started:
        started.pop()
