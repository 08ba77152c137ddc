"""Rows of a file or of a live run, in order, to finished spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rtrace_otel.events import Row
from rtrace_otel.spans.model import FinishedSpan, RunResource, SpanLink
from rtrace_otel.spans.open import OpenSpan
from rtrace_otel.spans.run_projector import RunProjector

KILLED = "run killed"


class Projector:
    """Folds the rows of all runs into finished spans; the same rows always give the same spans."""

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._runs: dict[str, RunProjector] = {}
        self._lost: dict[str, dict[tuple[str, str], SpanLink]] = {}

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

    def redone(self, run: str, group_id: str, prompt_id: str, generation: str) -> SpanLink | None:
        """A link to the attempt of an earlier run that a new one does again.

        Groups keep their ids through a restore with some controllers: then it is the latest one of the generation. With
        others it is one for the same prompt, unfinished or ended since the last checkpoint; each is linked once.
        """
        for earlier in self._before(run):
            span_id = earlier.latest.lost(group_id, generation)
            if span_id is not None:
                return earlier.redone_link(group_id, span_id)
        return self._lost_for_prompt(run, prompt_id, generation)

    def _lost_for_prompt(self, run: str, prompt_id: str, generation: str) -> SpanLink | None:
        """A link to the attempt for the same prompt that a stop took from an earlier run; given once."""
        for earlier in self._before(run):
            lost = self._lost.get(earlier.run)
            if lost is None:
                lost = self._lost[earlier.run] = {
                    (prompt, which): earlier.redone_link(group_id, span_id)
                    for prompt, which, group_id, span_id in earlier.latest.lost_by_prompt()
                }
            found = lost.pop((prompt_id, generation), None)
            if found is not None:
                return found
        return None

    def open_attempt(self, run: str, attempt_id: str) -> OpenSpan | None:
        """An attempt of an earlier run that was still open."""
        found = (earlier.attempts.get(attempt_id) for earlier in self._before(run))
        return next((attempt for attempt in found if attempt is not None), None)

    def _before(self, run: str) -> Iterator[RunProjector]:
        """The runs before this one, the latest first."""
        names = list(self._runs)
        return (self._runs[name] for name in reversed(names[: names.index(run)]))


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
