"""Attempts of a trace that is still being written: how many had which outcome, and which are open for long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from rtrace_otel.analysis.checked import name, time_of
from rtrace_otel.analysis.still_open import MAX_OPEN, StillOpen
from rtrace_otel.analysis.top import Top
from rtrace_otel.analysis.watch.results import LiveAttempts, OpenAttempt
from rtrace_otel.events import Row


class WatchedAttempts:
    """Counts attempts as ``rtrace summary`` does.

    Args:
        most: Open attempts to keep.
    """

    def __init__(self, most: int = MAX_OPEN) -> None:
        """Begin without attempts."""
        self._open: StillOpen[OpenAttempt] = StillOpen(most)
        self._refused: StillOpen[None] = StillOpen(most)
        self._begun = 0
        self._ended = {"sealed": 0, "abandoned": 0}

    def begin(self, row: Row) -> None:
        """An attempt is dispatched, once more perhaps, or goes on after a restore."""
        attempt_id = str(row.get("attempt_id"))
        self._refused.pop(attempt_id)
        before = self._open.get(attempt_id)
        self._begun += before is None
        here = before if before is not None and before.run == row["run"] else None
        attempt = OpenAttempt(
            attempt_id=attempt_id,
            run=row["run"],
            prompt_id=name(row.get("prompt_id")) or (here.prompt_id if here else None),
            group_id=name(row.get("group_id")) or (here.group_id if here else None),
            since=here.since if here else time_of(row),
            refused=False,
            instance=name(row.get("instance")),
        )
        given_up = self._open.put(row["run"], attempt_id, attempt)
        if given_up is not None:
            self._refused.pop(given_up)

    def refuse(self, row: Row) -> None:
        """A dispatch is refused; the attempt stays open."""
        attempt_id = str(row.get("attempt_id"))
        run = self._open.run_of(attempt_id)
        if run is not None:
            self._refused.put(run, attempt_id, None)

    def end(self, row: Row, outcome: Literal["sealed", "abandoned"]) -> bool:
        """An attempt ends; gives whether it was open, for ends of attempts that never began do not count."""
        attempt_id = str(row.get("attempt_id"))
        self._refused.pop(attempt_id)
        was_open = self._open.pop(attempt_id) is not None
        self._ended[outcome] += was_open
        return was_open

    def counts(self, going_on: Sequence[str], ended: Sequence[str]) -> LiveAttempts:
        """Attempts by outcome.

        Args:
            going_on: Runs that go on.
            ended: Runs that ended cleanly; all others were killed.
        """
        running = sum(map(self._open.count, going_on))
        left_open = sum(map(self._open.count, ended))
        return LiveAttempts(
            begun=self._begun,
            sealed=self._ended["sealed"],
            abandoned=self._ended["abandoned"],
            running=running,
            refused=sum(map(self._refused.count, going_on)),
            left_open=left_open,
            interrupted=len(self._open) - running - left_open,
            forgotten=self._open.forgotten,
        )

    def slowest(self, going_on: Sequence[str], most: int) -> tuple[OpenAttempt, ...]:
        """The attempts of these runs that have been open longest; those with an unknown begin come last.

        They stand in the order in which they began, so that only the first of each run are looked at.
        """
        top: Top[OpenAttempt] = Top(most, descending=False)
        for run in going_on:
            for attempt_id, attempt in self._open.oldest(run, most):
                top.add(attempt.since, replace(attempt, refused=attempt_id in self._refused))
        return top.result()
