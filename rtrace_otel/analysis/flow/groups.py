"""Prompt groups: which ones waited, which generation held them up, and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.flow.choice import Choice, Chosen
from rtrace_otel.analysis.flow.flow import Ended, Flow
from rtrace_otel.analysis.flow.phases import Latencies, PhaseLatency
from rtrace_otel.analysis.flow.records import GroupRecord
from rtrace_otel.events import Row

SORTS: Final[Mapping[str, Callable[[GroupRecord], float | None]]] = {
    "time": lambda group: group.reserved if group.since is None else group.since,
    "reserved": lambda group: group.reserved,
    "seconds": lambda group: group.published_s,
    "queue": lambda group: group.queue_s,
    "straggler": lambda group: group.straggler_s,
    "tokens": lambda group: group.tokens,
    "abandoned": lambda group: group.abandoned,
    "waited": lambda group: group.waited_s,
}
"""What groups can be sorted by."""


@dataclass(frozen=True, slots=True)
class GroupsReport:
    """The groups that match.

    Attributes:
        groups: The first of them, in the order asked for. A group that a later run brought back is one group in each
            run.
        matching: How many match.
        by_outcome: How many of them had each outcome.
        known: Groups of the whole file, counted alike.
        latencies: Phases of all that match, and of the attempts that ended in them.
    """

    groups: tuple[GroupRecord, ...]
    matching: int
    by_outcome: Mapping[str, int]
    known: int
    latencies: tuple[PhaseLatency, ...]

    def self_check(self) -> None:
        """Conservation: every group that matches has one outcome, and is one of the file.

        Raises:
            AssertionError: The counts do not add up.
        """
        assert self.matching == sum(self.by_outcome.values()), self.by_outcome
        assert len(self.groups) <= self.matching <= self.known, (len(self.groups), self.matching, self.known)


def groups(events: Iterable[Row], choice: Choice | None = None) -> GroupsReport:
    """The groups of a trace that match, in one pass.

    Args:
        events: Rows in file order, of all runs.
        choice: Which, in what order and how many; by default the first 20 of all.
    """
    fold = GroupsFold(choice or Choice())
    for row in events:
        fold.add(row)
    return fold.result()


class GroupsFold:
    """Builds a :class:`GroupsReport` row by row."""

    def __init__(self, choice: Choice) -> None:
        """Begin with no row seen."""
        self._flow = Flow()
        self._found = _Found(Chosen(choice, SORTS), Latencies(), 0)

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        for ended in self._flow.add(row):
            self._found.add(ended)

    def result(self) -> GroupsReport:
        """The report over the rows so far."""
        found = _Found(self._found.chosen.copy(), self._found.latencies.copy(), self._found.known)
        for ended in self._flow.still_open():
            found.add(ended)
        return GroupsReport(
            groups=found.chosen.records(),
            matching=sum(found.chosen.by_outcome.values()),
            by_outcome=found.chosen.by_outcome,
            known=found.known,
            latencies=found.latencies.result(),
        )


@dataclass(slots=True)
class _Found:
    chosen: Chosen[GroupRecord]
    latencies: Latencies
    known: int

    def add(self, ended: Ended) -> None:
        if ended.group is None:
            return
        self.known += 1
        if self.chosen.add(ended.group):
            self.latencies.add_group(ended.group)
            for attempt in ended.attempts:
                self.latencies.add_attempt(attempt)
