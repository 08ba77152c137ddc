"""The slow attempts and groups of a file, and how long attempts take and groups wait for their last one."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from rtrace_otel.analysis.flow.attempts import SORTS as ATTEMPT_SORTS
from rtrace_otel.analysis.flow.attempts import AttemptsReport
from rtrace_otel.analysis.flow.choice import Choice, Chosen
from rtrace_otel.analysis.flow.flow import Ended, Flow
from rtrace_otel.analysis.flow.groups import SORTS as GROUP_SORTS
from rtrace_otel.analysis.flow.groups import GroupsReport
from rtrace_otel.analysis.flow.phases import Latencies
from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord, Outcome
from rtrace_otel.analysis.flow.tap import FlowTap
from rtrace_otel.analysis.percentiles import Percentiles
from rtrace_otel.events import Row

SLOWEST: Final = Choice(sort="seconds", descending=True, limit=50)
STRAGGLERS: Final = Choice(sort="straggler", descending=True, limit=50)

Survival: TypeAlias = tuple[tuple[float, int], ...]
"""Seconds from small to large, each with how many lasted at least as long."""


@dataclass(frozen=True, slots=True)
class Slow:
    """What is slow.

    Attributes:
        attempts: The slowest attempts of all.
        groups: The groups that waited longest for their last attempt.
        sealed: Running time of sealed attempts.
        abandoned: Running time of abandoned attempts.
        stragglers: Last seal minus the median seal of each group.
    """

    attempts: AttemptsReport
    groups: GroupsReport
    sealed: Survival
    abandoned: Survival
    stragglers: Survival

    def self_check(self) -> None:
        """Conservation: every attempt has one outcome, and the curves begin with all and never rise.

        Raises:
            AssertionError: They do not.
        """
        self.attempts.self_check()
        self.groups.self_check()
        for curve in (self.sealed, self.abandoned, self.stragglers):
            left = [number for _, number in curve]
            assert left == sorted(left, reverse=True), left
        assert not self.sealed or self.sealed[0][1] <= self.attempts.by_outcome[Outcome.SEALED], self.sealed[0]


class SlowFold:
    """Builds :class:`Slow` row by row, following each group and attempt once for both reports.

    Args:
        flow: What follows groups and attempts, if somebody else gives it every row **before** it is given here; by
            default an own one.
    """

    def __init__(self, flow: FlowTap | None = None) -> None:
        """Begin with no row seen."""
        self._flow = flow or Flow()
        self._found = _Found()

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        for ended in self._flow.add(row):
            self._found.add(ended)

    def result(self) -> Slow:
        """What is known of the rows so far."""
        found = self._found.copy()
        for ended in self._flow.still_open():
            found.add(ended)
        named = self._flow.calls_name_attempts
        records = found.attempts.records()
        latencies = found.latencies.result()
        return Slow(
            attempts=AttemptsReport(
                attempts=records if named else tuple(replace(record, refits_cut=None) for record in records),
                matching=found.begun,
                by_outcome=found.attempts.by_outcome,
                begun=found.begun,
                latencies=latencies,
                calls_name_attempts=named,
            ),
            groups=GroupsReport(
                groups=found.groups.records(),
                matching=found.known,
                by_outcome=found.groups.by_outcome,
                known=found.known,
                latencies=latencies,
            ),
            sealed=found.sealed.survival(),
            abandoned=found.abandoned.survival(),
            stragglers=found.stragglers.survival(),
        )


class _Found:
    def __init__(self) -> None:
        self.attempts: Chosen[AttemptRecord] = Chosen(SLOWEST, ATTEMPT_SORTS)
        self.groups: Chosen[GroupRecord] = Chosen(STRAGGLERS, GROUP_SORTS)
        self.latencies = Latencies()
        self.sealed, self.abandoned, self.stragglers = Percentiles(), Percentiles(), Percentiles()
        self.begun = self.known = 0

    def copy(self) -> _Found:
        """The same again, to go on separately."""
        other = _Found()
        other.attempts, other.groups = self.attempts.copy(), self.groups.copy()
        other.latencies = self.latencies.copy()
        other.sealed, other.abandoned = deepcopy(self.sealed), deepcopy(self.abandoned)
        other.stragglers = deepcopy(self.stragglers)
        other.begun, other.known = self.begun, self.known
        return other

    def add(self, ended: Ended) -> None:
        """Take a group with its attempts, or attempts without one."""
        self.begun += len(ended.attempts)
        for attempt in ended.attempts:
            self.attempts.add(attempt)
            self.latencies.add_attempt(attempt)
            if attempt.outcome == Outcome.SEALED:
                self.sealed.add(attempt.seconds)
            elif attempt.outcome == Outcome.ABANDONED:
                self.abandoned.add(attempt.seconds)
        if ended.group is not None:
            self.known += 1
            self.groups.add(ended.group)
            self.latencies.add_group(ended.group)
            self.stragglers.add(ended.group.straggler_s)
