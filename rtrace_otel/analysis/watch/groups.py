"""Prompt groups of a trace that is still being written, by outcome."""

from __future__ import annotations

from collections.abc import Sequence

from rtrace_otel.analysis.still_open import MAX_OPEN, StillOpen
from rtrace_otel.analysis.watch.results import LiveGroups
from rtrace_otel.events import Row


class WatchedGroups:
    """Counts groups as ``rtrace summary`` does, and those that are ready to be trained.

    Args:
        most: Open groups to keep.
    """

    def __init__(self, most: int = MAX_OPEN) -> None:
        """Begin without groups."""
        self._open: StillOpen[None] = StillOpen(most)
        self._ready: StillOpen[None] = StillOpen(most)
        self._reserved = self._brought_back = self._trained = self._discarded = 0

    def reserve(self, row: Row) -> None:
        """A group is reserved anew, or again after a restore."""
        group_id = str(row.get("group_id"))
        if row.get("origin_run") in (None, row["run"]):
            self._reserved += 1
            self._ready.pop(group_id)
            self._put(row["run"], group_id)
        else:
            self._bring_back(row["run"], group_id)

    def restore(self, row: Row) -> None:
        """A restore brings groups back, those that were ready as ready."""
        for group_id in _ids(row.get("groups")):
            self._bring_back(row["run"], group_id)

    def complete(self, row: Row) -> None:
        """Every generation of a group has a result."""
        group_id = str(row.get("group_id"))
        run = self._open.run_of(group_id)
        if run is not None:
            self._ready.put(run, group_id, None)

    def discard(self, row: Row) -> None:
        """A group will not be trained."""
        self._discarded += 1
        self._close(str(row.get("group_id")))

    def train(self, row: Row) -> None:
        """A step trains on its groups."""
        for group_id in _ids(row.get("group_ids")):
            self._trained += 1
            self._close(group_id)

    def counts(self, going_on: Sequence[str], ended: Sequence[str]) -> LiveGroups:
        """Groups by outcome.

        Args:
            going_on: Runs that go on.
            ended: Runs that ended cleanly; all others were killed.
        """
        ready, left_open = sum(map(self._ready.count, going_on)), sum(map(self._open.count, ended))
        alive = sum(map(self._open.count, going_on))
        return LiveGroups(
            reserved=self._reserved,
            brought_back=self._brought_back,
            trained=self._trained,
            discarded=self._discarded,
            ready=ready,
            unfinished=alive - ready,
            left_open=left_open,
            interrupted=len(self._open) - alive - left_open,
        )

    def _bring_back(self, run: str, group_id: str) -> None:
        if self._open.run_of(group_id) == run:
            return
        self._brought_back += 1
        was_ready = group_id in self._ready
        self._put(run, group_id)
        if was_ready:
            self._ready.put(run, group_id, None)

    def _put(self, run: str, group_id: str) -> None:
        given_up = self._open.put(run, group_id, None)
        if given_up is not None:
            self._ready.pop(given_up)

    def _close(self, group_id: str) -> None:
        self._open.pop(group_id)
        self._ready.pop(group_id)


def _ids(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
