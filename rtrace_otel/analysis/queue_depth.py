"""How many published groups wait for the trainer of a run, and how many attempts are open, at any recent moment."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from typing import Final

from rtrace_otel.analysis.checked import name, names, time_of
from rtrace_otel.events import Row

MAX_CHANGES: Final = 65_536
"""Changes since the latest step that are remembered, to tell the depth at a start that only ``seconds`` tells."""

MAX_PUBLISHED: Final = 65_536
"""Groups whose publication is remembered, so that a restore which brings one back brings it back published."""


class Depth:
    """A count that can be asked for as it was a moment ago.

    Attributes:
        now: The count.
        shown: What a series of it has so far, if there is one.
    """

    def __init__(self) -> None:
        """Begin at zero."""
        self.now = self.shown = 0
        self._changes: deque[tuple[float | None, int]] = deque()
        self._forgot = False

    def change(self, by: int, time: float | None) -> None:
        """It changed at a time, in Unix seconds."""
        self.now += by
        self._changes.append((time, by))
        if len(self._changes) > MAX_CHANGES:
            self._changes.popleft()
            self._forgot = True

    def at(self, time: float) -> int | None:
        """The count at a time; ``None`` if it has changed too often since, or if a change has no time."""
        if self._forgot or any(changed is None for changed, _ in self._changes):
            return None
        return self.now - sum(by for changed, by in self._changes if changed is not None and changed > time)

    def forget(self) -> None:
        """Nobody will ask for earlier moments."""
        self._changes.clear()
        self._forgot = False


class Queues:
    """Follows the published groups and the open attempts of every run.

    A group that a restore brings back waits again in the new run if it had been published and the new run works on none
    of its attempts.

    Args:
        waiting: Makes the count of groups that wait.
    """

    def __init__(self, waiting: Callable[[], Depth] = Depth) -> None:
        """Begin with nothing waiting."""
        self._waiting = waiting
        self._order: dict[str, int] = {}
        self._groups: dict[str, str] = {}
        self._attempts: dict[str, str] = {}
        self._brought: set[str] = set()
        self._published: OrderedDict[str, None] = OrderedDict()
        self._depths: dict[str, tuple[Depth, Depth]] = {}

    def of(self, run: str) -> tuple[Depth, Depth]:
        """Published groups that wait, and open attempts."""
        depths = self._depths.get(run)
        if depths is None:
            depths = self._depths[run] = self._waiting(), Depth()
        return depths

    def knows_one_of(self, group_ids: Iterable[str]) -> bool:
        """Whether one of these groups waits, so that the file does tell of publications."""
        return any(group_id in self._groups for group_id in group_ids)

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        event, run = row["event"], row["run"]
        if run not in self._order:
            self._order[run] = len(self._order)
        if event in ("attempt_dispatched", "attempt_resumed"):
            self._begin(row)
        elif event in ("attempt_sealed", "attempt_abandoned"):
            self._end(row)
        elif event == "group_published":
            self._publish(str(row.get("group_id")), row)
        elif event == "group_discarded":
            self._leave(str(row.get("group_id")), row)
        elif event == "train_step":
            for group_id in names(row.get("group_ids")):
                self._leave(group_id, row)
        elif event == "checkpoint_restored":
            for group_id in names(row.get("groups")):
                self._bring_back(group_id, row)
        elif event == "group_reserved" and name(row.get("origin_run")) not in (None, run):
            self._bring_back(str(row.get("group_id")), row)

    def _publish(self, group_id: str, row: Row) -> None:
        self._published[group_id] = None
        self._published.move_to_end(group_id)
        if len(self._published) > MAX_PUBLISHED:
            self._published.popitem(last=False)
        self._brought.discard(group_id)
        self._wait(group_id, row)

    def _wait(self, group_id: str, row: Row) -> None:
        before, run = self._groups.get(group_id), row["run"]
        if before is not None and self._order[before] >= self._order[run]:
            return
        if before is not None:
            self.of(before)[0].change(-1, time_of(row))
        self._groups[group_id] = run
        self.of(run)[0].change(1, time_of(row))

    def _bring_back(self, group_id: str, row: Row) -> None:
        if group_id in self._published and self._groups.get(group_id) != row["run"]:
            self._brought.add(group_id)
            self._wait(group_id, row)

    def _leave(self, group_id: str, row: Row) -> None:
        holder = self._groups.get(group_id)
        if holder is not None and self._order[holder] <= self._order[row["run"]]:
            del self._groups[group_id]
            self._brought.discard(group_id)
            self.of(holder)[0].change(-1, time_of(row))

    def _begin(self, row: Row) -> None:
        group_id, run = name(row.get("group_id")), row["run"]
        if group_id in self._brought and self._groups.get(group_id) == run:
            self._leave(group_id, row)
        if row["event"] == "attempt_resumed" and row.get("level") == "sibling":
            return
        attempt_id = str(row.get("attempt_id"))
        if self._attempts.get(attempt_id) != run:
            self._attempts[attempt_id] = run
            self.of(run)[1].change(1, time_of(row))

    def _end(self, row: Row) -> None:
        attempt_id = str(row.get("attempt_id"))
        if self._attempts.get(attempt_id) == row["run"]:
            del self._attempts[attempt_id]
            self.of(row["run"])[1].change(-1, time_of(row))
