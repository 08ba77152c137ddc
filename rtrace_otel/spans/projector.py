"""Rows of a file or of a live run, in order, to finished spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rtrace_otel.events import Row
from rtrace_otel.spans.model import FinishedSpan, RunResource
from rtrace_otel.spans.open import OpenSpan
from rtrace_otel.spans.run_projector import RunProjector

KILLED = "run killed"


class Projector:
    """Folds the rows of all runs into finished spans; the same rows always give the same spans."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._runs: dict[str, RunProjector] = {}
        self._lost: dict[str, dict[tuple[Any, Any, Any], OpenSpan]] = {}

    def add(self, row: Row) -> Iterator[FinishedSpan]:
        """Take the next row; gives the spans that it ends."""
        run = self._runs.get(row["run"])
        if run is None:
            run = self._runs[row["run"]] = RunProjector(row["run"], self)
        return run.add(row)

    def end_killed(self, *, last_too: bool = False) -> Iterator[FinishedSpan]:
        """End what is open in runs that were killed: they did not end, and a later run began.

        Args:
            last_too: Also what is open in the last run, of which nobody knows yet whether it lives.
        """
        runs = list(self._runs.values())
        for place, run in enumerate(runs):
            if not run.ended and (last_too or any(not later.is_child for later in runs[place + 1 :])):
                yield from run.end_all(KILLED)

    def resource(self, run: str) -> RunResource:
        """What is known of a run's process."""
        return self._runs[run].resource

    @property
    def open_attempts(self) -> int:
        """Attempts that have not ended, over all runs."""
        return sum(len(run.attempts) for run in self._runs.values())

    def interrupted(self, run: str, group_id: str, prompt_id: Any, generation: Any) -> OpenSpan | None:
        """The attempt of an earlier run for the same generation that was still open; given once.

        Groups keep their ids through a restore with some controllers; with others the prompt and the generation match.
        """
        for earlier in self._before(run):
            lost = self._lost.get(earlier.run)
            if lost is None:
                lost = self._lost[earlier.run] = _by_generation(earlier.attempts.values())
            found = lost.pop((group_id, None, generation), None) or lost.pop((None, prompt_id, generation), None)
            if found is not None:
                lost.pop((found.facts["group_id"], None, generation), None)
                lost.pop((None, found.opening("prompt_id"), generation), None)
                return found
        return None

    def open_attempt(self, run: str, attempt_id: str) -> OpenSpan | None:
        """An attempt of an earlier run that was still open."""
        found = (earlier.attempts.get(attempt_id) for earlier in self._before(run))
        return next((attempt for attempt in found if attempt is not None), None)

    def _before(self, run: str) -> Iterator[RunProjector]:
        """The runs before this one, the latest first; those that ended cleanly have left no attempt."""
        names = list(self._runs)
        for name in reversed(names[: names.index(run)]):
            if self._runs[name].attempts:
                yield self._runs[name]


def _by_generation(attempts: Iterable[OpenSpan]) -> dict[tuple[Any, Any, Any], OpenSpan]:
    found: dict[tuple[Any, Any, Any], OpenSpan] = {}
    for attempt in attempts:
        generation, prompt_id = attempt.opening("generation_index"), attempt.opening("prompt_id")
        found[attempt.facts["group_id"], None, generation] = attempt
        if prompt_id is not None:
            found[None, prompt_id, generation] = attempt
    return found


def project(events: Iterable[Row], *, end_last: bool = False) -> Iterator[tuple[FinishedSpan, RunResource]]:
    """The spans of a file, each with its run's resource.

    Args:
        events: Rows in file order.
        end_last: Also end what is open in the last run, if that did not end.
    """
    projector = Projector()
    for row in events:
        for span in projector.add(row):
            yield span, projector.resource(span.run)
    for span in projector.end_killed(last_too=end_last):
        yield span, projector.resource(span.run)
