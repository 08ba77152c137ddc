"""Counts what has ended, adds it to the series, and keeps the bars that a picture is to hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from rtrace_otel.analysis.flow.flow import Ended
from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord, Outcome
from rtrace_otel.analysis.recent import Recent
from rtrace_otel.analysis.timeline.believed import BelievedTimes
from rtrace_otel.analysis.timeline.kept import Bar, KeptBars, Selection
from rtrace_otel.analysis.timeline.levels import LevelFold
from rtrace_otel.analysis.timeline.results import GENERATED_TOKENS, OPEN_ATTEMPTS, RESERVED_GROUPS

_BY_A_ROW = (Outcome.TRAINED, Outcome.DISCARDED)
"""Outcomes of groups that a row of their own tells; the others end with their run."""


class Tally:
    """What is known of all groups and attempts that have ended.

    Args:
        selection: Which attempts to keep.
        levels: The series, shared with others.
        times: Which times are believed, shared with others.

    Attributes:
        levels: As above.
        total: Attempts that ran.
        untimed: Those of them without a time.
        matching: Those with a time that the selection takes.
        by_outcome: All that ran, by outcome.
        seconds: Time that they were open.
        kept_by: The run that kept the result of an attempt last, by the attempt's id; the latest ones.
    """

    def __init__(self, selection: Selection, levels: LevelFold, times: BelievedTimes) -> None:
        """Begin with nothing."""
        self.levels = levels
        self.total = self.untimed = self.matching = 0
        self.by_outcome: Counter[str] = Counter()
        self.kept_by: Recent[str] = Recent()
        self._selection = selection
        self._times = times
        self._kept = KeptBars(selection.max_attempts, selection.spare)
        self._seconds: list[float] = []

    @property
    def seconds(self) -> float:
        """Time that the attempts were open, in seconds."""
        return math.fsum(self._seconds)

    def add(self, ended: Ended, last_rows: Mapping[str, float], now: float | None) -> None:
        """Take what has ended.

        Args:
            ended: A group with its attempts, or attempts without their group.
            last_rows: Time of the last row of each run so far.
            now: Time of the row that ended it.
        """
        group = None if ended.group is None else self._believed_group(ended.group)
        published = _published(group)
        if group is not None and group.reserved is not None:
            end = published if published is not None else now if group.outcome in _BY_A_ROW else None
            end = last_rows.get(group.run) if end is None else end
            self.levels.span(RESERVED_GROUPS, group.reserved, group.reserved if end is None else end)
        for record in ended.attempts:
            if record.outcome is Outcome.KEPT:
                self.kept_by.put(record.attempt_id, record.run)
            else:
                self._add_attempt(self._believed(record), group, published, last_rows.get(record.run))

    def bars(self) -> list[Bar]:
        """The bars kept."""
        return self._kept.bars()

    def copy(self) -> Tally:
        """The same counts again, to go on separately."""
        other = Tally(self._selection, self.levels.copy(), self._times)
        other.total, other.untimed, other.matching = self.total, self.untimed, self.matching
        other.by_outcome, other.kept_by = self.by_outcome.copy(), self.kept_by.copy()
        other._kept, other._seconds = self._kept.copy(), self._seconds[:]
        return other

    def _add_attempt(
        self, record: AttemptRecord, group: GroupRecord | None, published: float | None, last_row: float | None
    ) -> None:
        self.total += 1
        self.by_outcome[str(record.outcome)] += 1
        times = times_of(record, last_row)
        if times is None:
            self.untimed += 1
            return
        start, end = times
        self._more_seconds(end - start)
        self.levels.span(OPEN_ATTEMPTS, start, end)
        tokens = record.tokens_at_least if record.tokens is None else record.tokens
        if tokens is not None:
            made = max(tokens - (record.tokens_kept or 0), 0)
            self.levels.amount(GENERATED_TOKENS, start, end, made)
        outcome, reserved = (None, None) if group is None else (group.outcome, group.reserved)
        bar = Bar(start, end, record, outcome, reserved, published, tokens)
        if self._selection.takes(bar):
            self.matching += 1
            self._kept.add(bar)

    def _believed_group(self, group: GroupRecord) -> GroupRecord:
        reserved, published = self._times.time(group.run, group.reserved), _published(group)
        if self._times.time(group.run, published) != published:
            return replace(group, reserved=reserved, published_s=None)
        return group if reserved == group.reserved else replace(group, reserved=reserved)

    def _believed(self, record: AttemptRecord) -> AttemptRecord:
        dispatched = self._times.time(record.run, record.dispatched)
        ended = self._times.time(record.run, record.ended)
        if (dispatched, ended) == (record.dispatched, record.ended):
            return record
        return replace(record, dispatched=dispatched, ended=ended, seconds=None)

    def _more_seconds(self, seconds: float) -> None:
        """Add exactly: a few partial sums hold what a single one would round away."""
        self._seconds.append(seconds)
        if len(self._seconds) > _PARTIAL_SUMS:
            self._seconds = [math.fsum(self._seconds)]


_PARTIAL_SUMS = 1_024


def times_of(record: AttemptRecord, last_row: float | None) -> tuple[float, float] | None:
    """Start and end of an attempt, in Unix seconds; ``None`` if the rows tell neither.

    Args:
        record: The attempt.
        last_row: Time of its run's last row, where it ends if no row has ended it.

    Returns:
        One that goes on after a restore without a dispatch of its own began when it went on. An attempt with one
        sensible time is a moment; so is one whose end comes before its start.
    """
    end = last_row if record.outcome in (Outcome.OPEN, Outcome.INTERRUPTED) else record.ended
    start = record.dispatched
    if start is None and end is not None and record.seconds is not None and record.refused_s is not None:
        start = end - record.seconds - record.refused_s
    start, end = (end if start is None else start), (start if end is None else end)
    return None if start is None or end is None else (start, max(start, end))


def _published(group: GroupRecord | None) -> float | None:
    """When a group was published."""
    if group is None or group.reserved is None or group.published_s is None:
        return None
    return group.reserved + group.published_s
