"""The timeline of a file: frozen results in columns, without how they come about."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final

from rtrace_otel.analysis.timeline.bands import Bands
from rtrace_otel.analysis.timeline.levels import Levels
from rtrace_otel.analysis.timeline.states import STATES, State

UNKNOWN: Final = -(2**63)
"""Stands in a column of whole numbers for what no row says; no number of a file is as small."""

NOWHERE: Final = -1
"""Stands in a column of places for what no row says."""

OPEN_ATTEMPTS: Final = "open_attempts"
RESERVED_GROUPS: Final = "reserved_groups"
QUEUED_GROUPS: Final = "queued_groups"
GENERATED_TOKENS: Final = "generated_tokens_per_s"
TRAINED_TOKENS: Final = "trained_tokens_per_s"
SERIES: Final = (OPEN_ATTEMPTS, RESERVED_GROUPS, QUEUED_GROUPS, GENERATED_TOKENS, TRAINED_TOKENS)
"""Names of the series.

``open_attempts``: attempts that are open. ``reserved_groups``: groups reserved and not published. ``queued_groups``:
groups published that wait for a step; those that a restore brings back wait on through the stop.
``generated_tokens_per_s``: tokens of each attempt, spread evenly over its time. ``trained_tokens_per_s``: tokens of
each step, spread over its time.
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """The texts that columns hold the places of, each once, in order of first use.

    Attributes:
        runs: Ids of runs.
        groups: Ids of prompt groups.
        prompts: Ids of prompts.
        reasons: Why attempts were abandoned.
        instances: Inference servers.
        levels: What restores kept of attempts.
    """

    runs: tuple[str, ...]
    groups: tuple[str, ...]
    prompts: tuple[str, ...]
    reasons: tuple[str, ...]
    instances: tuple[str, ...]
    levels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttemptColumns:
    """Attempts in order of their start; entry ``i`` of each column belongs to attempt ``i``.

    Places are ``-1``, whole numbers :data:`UNKNOWN` and other numbers NaN where no row says more.

    Attributes:
        attempt_id: Ids.
        run: Place of the run that worked on it.
        group: Place of its group.
        prompt: Place of its prompt.
        reason: Place of the reason why it was abandoned.
        instance: Place of its inference server.
        level: Place of what a restore kept of it.
        lane: Lane, from 0.
        outcome: How it ended within its run, as a place in
            :data:`~rtrace_otel.analysis.flow.records.ATTEMPT_OUTCOMES`.
        state: Place of its state in :data:`~rtrace_otel.analysis.timeline.states.STATES`.
        fate: Place in :data:`~rtrace_otel.analysis.timeline.states.FATES` of what became of it after a stop.
        start: First dispatch, or when it went on after a restore, in Unix seconds.
        end: When it ended; of what no row has ended, the run's last row.
        reserved: When its group was reserved.
        published: When its group was published.
        refused_s: Time from refusals to the next dispatch, in seconds.
        reward: Its reward.
        generation: Which generation of the group.
        attempt_index: How many attempts the generation had before.
        tokens: Tokens generated; of an attempt without a result, those that are known.
        tokens_kept: Of these, tokens that a restore kept.
        version_start: Weight version when it began.
        step: Step that trained it.
        refusals: Dispatches refused.
    """

    attempt_id: tuple[str, ...]
    run: array[int]
    group: array[int]
    prompt: array[int]
    reason: array[int]
    instance: array[int]
    level: array[int]
    lane: array[int]
    outcome: array[int]
    state: array[int]
    fate: array[int]
    start: array[float]
    end: array[float]
    reserved: array[float]
    published: array[float]
    refused_s: array[float]
    reward: array[float]
    generation: array[int]
    attempt_index: array[int]
    tokens: array[int]
    tokens_kept: array[int]
    version_start: array[int]
    step: array[int]
    refusals: array[int]

    def __len__(self) -> int:
        """How many attempts there are."""
        return len(self.attempt_id)


@dataclass(frozen=True, slots=True)
class Timeline:
    """What a picture of the job over time needs.

    Attributes:
        attempts: The attempts shown.
        tables: Texts of their columns.
        lanes: Lanes in all.
        attempts_total: Attempts of the file that ran.
        attempts_untimed: Those of them without a time; they are in no picture.
        attempts_matching: Those with a time that were asked for.
        attempts_shown: Those of them that are in the columns.
        rows_doubted: Rows whose time is too far from that of their run to be believed; it is in no picture.
        by_outcome: All that ran, by how they ended within their run.
        attempt_seconds: Time that attempts were open, in seconds, of all.
        bands: Runs, steps, refits, checkpoints, restores and stops.
        series: Counts and rates over time, of all rows.
        start: First moment of all, in Unix seconds; ``None`` if no row has a time.
        end: Last moment.
    """

    attempts: AttemptColumns
    tables: Tables
    lanes: int
    attempts_total: int
    attempts_untimed: int
    attempts_matching: int
    attempts_shown: int
    rows_doubted: int
    by_outcome: Mapping[str, int]
    attempt_seconds: float
    bands: Bands
    series: Levels
    start: float | None
    end: float | None

    def state(self, place: int) -> State:
        """The state of an attempt in the columns."""
        return STATES[self.attempts.state[place]]

    def segments(self, place: int) -> Iterator[tuple[float, float, int | None]]:
        """The weight versions of an attempt over time: start, end and version of each stretch between two refits."""
        columns = self.attempts
        since, end, version = columns.start[place], columns.end[place], columns.version_start[place]
        run = self.tables.runs[columns.run[place]]
        now = None if version == UNKNOWN else version
        for refit in self.bands.refits:
            if refit.run == run and refit.finished and since < refit.end < end:
                yield since, refit.end, now
                since, now = refit.end, refit.new_version
        yield since, end, now

    def self_check(self) -> None:
        """Conservation: the counts add up, no lane holds two bars at once, and the series has all attempt-seconds.

        Raises:
            AssertionError: It does not hold.
        """
        columns = self.attempts
        assert all(len(getattr(columns, field.name)) == len(columns) for field in fields(columns))
        assert self.attempts_total == sum(self.by_outcome.values()), self.by_outcome
        assert len(columns) == self.attempts_shown <= self.attempts_matching
        assert self.attempts_matching + self.attempts_untimed <= self.attempts_total
        busy_until: dict[int, float] = {}
        for lane, start, end in zip(columns.lane, columns.start, columns.end, strict=True):
            assert busy_until.get(lane, start) <= start <= end, (lane, start, end)
            busy_until[lane] = end
        assert len(busy_until) == self.lanes, (len(busy_until), self.lanes)
        area = self.series.total(OPEN_ATTEMPTS)
        assert math.isclose(self.attempt_seconds, area, rel_tol=1e-6, abs_tol=1e-3), (self.attempt_seconds, area)
