"""Rollout attempts: which ones took long, were abandoned or got stuck, and where their time went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from rtrace_otel.analysis.flow.choice import Choice, Chosen
from rtrace_otel.analysis.flow.flow import Ended, Flow
from rtrace_otel.analysis.flow.phases import Latencies, PhaseLatency
from rtrace_otel.analysis.flow.records import AttemptRecord
from rtrace_otel.events import Row

SORTS: Final[Mapping[str, Callable[[AttemptRecord], float | None]]] = {
    "time": lambda attempt: attempt.dispatched if attempt.since is None else attempt.since,
    "dispatched": lambda attempt: attempt.dispatched,
    "seconds": lambda attempt: attempt.seconds,
    "tokens": lambda attempt: attempt.tokens,
    "reward": lambda attempt: attempt.reward,
    "refusals": lambda attempt: attempt.refusals,
    "refused": lambda attempt: attempt.refused_s,
    "refits": lambda attempt: attempt.refits_spanned,
    "waited": lambda attempt: attempt.waited_s,
}
"""What attempts can be sorted by."""


@dataclass(frozen=True, slots=True)
class AttemptsReport:
    """The attempts that match.

    Attributes:
        attempts: The first of them, in the order asked for.
        matching: How many match.
        by_outcome: How many of them had each outcome.
        begun: Attempts of the whole file, those of results that were kept included.
        latencies: Phases of all that match, and of the groups that they belong to.
        calls_name_attempts: Whether the calls of refits could be told to belong to attempts.
    """

    attempts: tuple[AttemptRecord, ...]
    matching: int
    by_outcome: Mapping[str, int]
    begun: int
    latencies: tuple[PhaseLatency, ...]
    calls_name_attempts: bool

    def self_check(self) -> None:
        """Conservation: every attempt that matches has one outcome, and is one of the file.

        Raises:
            AssertionError: The counts do not add up.
        """
        assert self.matching == sum(self.by_outcome.values()), self.by_outcome
        assert len(self.attempts) <= self.matching <= self.begun, (len(self.attempts), self.matching, self.begun)


def attempts(events: Iterable[Row], choice: Choice | None = None) -> AttemptsReport:
    """The attempts of a trace that match, in one pass.

    Args:
        events: Rows in file order, of all runs.
        choice: Which, in what order and how many; by default the first 20 of all.
    """
    fold = AttemptsFold(choice or Choice())
    for row in events:
        fold.add(row)
    return fold.result()


class AttemptsFold:
    """Builds an :class:`AttemptsReport` row by row."""

    def __init__(self, choice: Choice) -> None:
        """Begin with no row seen."""
        self._flow = Flow()
        self._found = _Found(Chosen(choice, SORTS), Latencies(), 0)

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        for ended in self._flow.add(row):
            self._found.add(ended)

    def result(self) -> AttemptsReport:
        """The report over the rows so far."""
        found = _Found(self._found.chosen.copy(), self._found.latencies.copy(), self._found.begun)
        for ended in self._flow.still_open():
            found.add(ended)
        records = found.chosen.records()
        named = self._flow.calls_name_attempts
        return AttemptsReport(
            attempts=records if named else tuple(replace(record, refits_cut=None) for record in records),
            matching=sum(found.chosen.by_outcome.values()),
            by_outcome=found.chosen.by_outcome,
            begun=found.begun,
            latencies=found.latencies.result(),
            calls_name_attempts=named,
        )


@dataclass(slots=True)
class _Found:
    chosen: Chosen[AttemptRecord]
    latencies: Latencies
    begun: int

    def add(self, ended: Ended) -> None:
        self.begun += len(ended.attempts)
        chosen = [attempt for attempt in ended.attempts if self.chosen.add(attempt)]
        for attempt in chosen:
            self.latencies.add_attempt(attempt)
        if chosen and ended.group is not None:
            self.latencies.add_group(ended.group)
