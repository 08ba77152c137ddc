"""Which weight version the inference servers of a run had, and when."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rtrace_otel.analysis.checked import time_of
from rtrace_otel.events import Row

MAX_INSTALLED: Final = 256
"""Refits that are remembered per run: the latest ones. A group that waited through more keeps its first answer."""

MAX_OPEN_STEPS: Final = 1_024
"""Steps that have begun and not ended, at most; the oldest are forgotten: their run was killed."""


class Mark(NamedTuple):
    """A moment in a run.

    Attributes:
        version: Version in force by the rows so far; ``None`` if they do not tell.
        place: How many versions the run had installed.
    """

    version: int | None
    place: int


NOTHING: Final = Mark(None, 0)
"""Before the first row of a run."""


@dataclass(slots=True)
class _Run:
    installed: deque[tuple[int, float | None, int | None]] = field(default_factory=lambda: deque(maxlen=MAX_INSTALLED))
    """Place, time and version of each install."""
    now: Mark = NOTHING
    doubtful: set[int] = field(default_factory=set)
    """Places after which a refit came whose row is missing."""
    last_pair: tuple[object, object] | None = None

    def install(self, row: Row, version: object) -> None:
        known = version if type(version) is int else None
        self.now = Mark(known, self.now.place + 1)
        self.installed.append((self.now.place, time_of(row), known))


class VersionsInForce:
    """The version in force of each run: that of its latest ``weight_sync``, else that of its ``run_started``."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._runs: dict[str, _Run] = {}
        self._begun_steps: OrderedDict[tuple[str, int], Mark] = OrderedDict()

    def refitted(self, row: Row) -> None:
        """Take a ``weight_sync`` row; after one without its version, the version in force is unknown.

        A refit that replaces another version than the one in force tells that the row of a refit between is missing.
        """
        run = self._runs.setdefault(_run(row), _Run())
        replaced, new = pair = row.get("replaced_version"), row.get("new_version")
        if type(replaced) is int and replaced not in (run.now.version, new) and pair != run.last_pair:
            run.doubtful.add(run.now.place)
        run.last_pair = pair
        run.install(row, new)

    def started(self, row: Row) -> None:
        """Take a ``run_started`` row."""
        run = self._runs.setdefault(_run(row), _Run())
        if not run.installed:
            run.install(row, row.get("weight_version"))

    def step_begun(self, row: Row) -> None:
        """Take a ``train_step_started`` row."""
        step = row.get("step")
        if type(step) is int:
            self._begun_steps[_run(row), step] = self.now(_run(row))
            if len(self._begun_steps) > MAX_OPEN_STEPS:
                self._begun_steps.popitem(last=False)

    def now(self, run: str) -> Mark:
        """The run's version in force by the rows so far."""
        known = self._runs.get(run)
        return known.now if known is not None else NOTHING

    def in_doubt(self, run: str, place: int) -> bool:
        """Whether the run may have had another version at a place than its mark says; known only by later rows."""
        return run in self._runs and place in self._runs[run].doubtful

    def at_publication(self, run: str, mark: Mark, versions: Container[int]) -> Mark:
        """The version in force when a group was published.

        A refit's row can follow the publication of a call that the refit paused. A group that holds tokens of a version
        was published when that version was in force, or a later one, whatever the order of the rows.

        Args:
            run: The run that published it.
            mark: That run's moment of publication, by the order of the rows.
            versions: Versions of the group's tokens.
        """
        known = self._runs.get(run)
        for place, _, version in reversed(known.installed if known is not None else ()):
            if place <= mark.place:
                break
            if version is not None and version in versions:
                return Mark(version, place)
        return mark

    def at_start_of(self, step: Row) -> Mark:
        """The version in force when a step began: at its ``train_step_started``, else ``seconds`` before its end.

        Args:
            step: The ``train_step`` row.

        Returns:
            The version, ``None`` if the file does not tell, and its place.
        """
        run, number = _run(step), step.get("step")
        if type(number) is int and (run, number) in self._begun_steps:
            return self._begun_steps.pop((run, number))
        seconds, ended = _duration(step.get("seconds")), time_of(step)
        if seconds is None or ended is None or run not in self._runs:
            return NOTHING
        for place, time, version in reversed(self._runs[run].installed):
            if time is None:
                return NOTHING
            if time <= ended - seconds:
                return Mark(version, place)
        return NOTHING


def _run(row: Row) -> str:
    return str(row.get("run", ""))


def _duration(value: object) -> float | None:
    """A number of seconds, or ``None`` for what is none: a truth value, NaN, less than nothing, without end."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if value >= 0 and math.isfinite(value) else None
    except OverflowError:
        return None
