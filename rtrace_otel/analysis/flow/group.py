"""A prompt group while it is open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import median

from rtrace_otel.analysis.age.batch_age import clean_counts
from rtrace_otel.analysis.checked import amount, between, integer, name, time_of
from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord, Outcome, WaitsFor
from rtrace_otel.events import Row

RESULTS = (Outcome.SEALED, Outcome.KEPT)
"""Outcomes of attempts whose result the group has."""

_BEFORE_ROLLOUTS = (WaitsFor.ADMISSION, WaitsFor.FIRST_DISPATCH, WaitsFor.UNKNOWN)


@dataclass(slots=True)
class OpenGroup:
    """A group in the making, in one run.

    Attributes:
        group_id: Its id.
        run: The run that works on it.
        origin_run: The run that it was brought back from.
        next_run: The run that brought it back.
        ended: Its attempts that have ended in this run.
        open: How many of its attempts are open in this run.
    """

    group_id: str
    run: str
    origin_run: str | None = None
    next_run: str | None = None
    prompt_id: str | None = None
    epoch: int | None = None
    generations: int | None = None
    reserved: float | None = None
    admitted: float | None = None
    dispatched: float | None = None
    last_seal: float | None = None
    published: float | None = None
    published_tokens: int | None = None
    waiting_for: WaitsFor = WaitsFor.ADMISSION
    since: float | None = None
    open: int = 0
    ended: list[AttemptRecord] = field(default_factory=list)

    def come_back(self, before: OpenGroup | None) -> None:
        """A later run has it; how far it had come no row says.

        Args:
            before: The group as the earlier run left it, if it was open there.
        """
        self.waiting_for = WaitsFor.UNKNOWN
        if before is not None:
            self.origin_run = before.run
            self.prompt_id, self.epoch, self.generations = before.prompt_id, before.epoch, before.generations

    def reserve(self, row: Row) -> None:
        """It is reserved, or reserved again by the run that brings it back."""
        if self.reserved is None:
            self.reserved = time_of(row)
        self.describe(row)
        if self.waiting_for in (WaitsFor.ADMISSION, WaitsFor.UNKNOWN):
            self.since = time_of(row)

    def describe(self, row: Row) -> None:
        """Learn what a row says of the group; what is known already stays."""
        if self.prompt_id is None:
            self.prompt_id = name(row.get("prompt_id"))
        if self.epoch is None:
            self.epoch = integer(row.get("epoch"))
        if self.generations is None:
            self.generations = amount(row.get("generations"))

    def admit(self, row: Row) -> None:
        """It may be dispatched."""
        self.admitted = time_of(row)
        self._wait(WaitsFor.FIRST_DISPATCH, row)

    def dispatch(self, row: Row) -> None:
        """One of its attempts is dispatched or goes on."""
        if self.dispatched is None:
            self.dispatched = time_of(row)
        if self.waiting_for in _BEFORE_ROLLOUTS:
            self._wait(WaitsFor.ROLLOUTS, row)
        if self.prompt_id is None:
            self.prompt_id = name(row.get("prompt_id"))

    def end_attempt(self, record: AttemptRecord) -> None:
        """One of its attempts has ended, or its result was kept."""
        self.ended.append(record)
        if self.waiting_for in _BEFORE_ROLLOUTS:
            self.waiting_for = WaitsFor.ROLLOUTS
        if record.outcome == Outcome.SEALED:
            self.last_seal = record.ended

    def seal(self, row: Row) -> None:
        """Every generation has a result."""
        self._wait(WaitsFor.PUBLICATION, row)

    def publish(self, row: Row) -> None:
        """It can be trained on; of several publications the last one counts."""
        self.published = time_of(row)
        counts = clean_counts(row.get("tokens_by_version"))
        self.published_tokens = None if counts is None else amount(sum(counts.values()))
        self._wait(WaitsFor.TRAINING, row)

    def _wait(self, waiting_for: WaitsFor, row: Row) -> None:
        self.waiting_for, self.since = waiting_for, time_of(row)

    def train(self, row: Row) -> tuple[GroupRecord, tuple[AttemptRecord, ...]]:
        """The group and its attempts, trained by this row."""
        step = integer(row.get("step"))
        queue_s = between(self.published, time_of(row))
        record = replace(self.record(Outcome.TRAINED), trained_step=step, trained_run=row["run"], queue_s=queue_s)
        return record, tuple(attempt.trained(step) if attempt.outcome in RESULTS else attempt for attempt in self.ended)

    def left(self, outcome: Outcome, last_row: float | None) -> GroupRecord:
        """The group as its run left it.

        Args:
            outcome: ``interrupted`` or ``open``, unless a later run brought it back.
            last_row: Time of the run's last row.
        """
        if self.next_run is not None:
            return self.record(Outcome.BROUGHT_BACK)
        waited_s = between(self.since, last_row)
        record = self.record(outcome)
        return replace(record, waiting_for=self.waiting_for, since=self.since, waited_s=waited_s)

    def record(self, outcome: Outcome, reason: str | None = None) -> GroupRecord:
        """The group as it is now."""
        results = [attempt for attempt in self.ended if attempt.outcome in RESULTS]
        tokens = [attempt.tokens for attempt in results if attempt.tokens is not None]
        straggler_s, straggler = _straggler(results)
        return GroupRecord(
            group_id=self.group_id,
            prompt_id=self.prompt_id,
            epoch=self.epoch,
            run=self.run,
            origin_run=self.origin_run,
            next_run=self.next_run if outcome == Outcome.BROUGHT_BACK else None,
            generations=self.generations,
            sealed=len(results),
            kept=sum(attempt.outcome == Outcome.KEPT for attempt in results),
            abandoned=len(self.ended) - len(results),
            open=self.open,
            reserved=self.reserved,
            admitted_s=between(self.reserved, self.admitted),
            dispatch_s=between(self.admitted, self.dispatched),
            publish_s=between(self.last_seal, self.published),
            published_s=between(self.reserved, self.published),
            queue_s=None,
            straggler_s=straggler_s,
            straggler_generation=straggler,
            tokens=sum(tokens) if len(tokens) == len(results) > 0 else None,
            published_tokens=self.published_tokens,
            trained_step=None,
            trained_run=None,
            outcome=outcome,
            reason=reason,
        )


def _straggler(results: list[AttemptRecord]) -> tuple[float | None, int | None]:
    """How much later than the median the last attempt was sealed, and which generation it was."""
    sealed = list(_timed(results))
    if len(sealed) < 2:
        return None, None
    last = max(sealed, key=lambda entry: entry[0])
    return last[0] - median(time for time, _ in sealed), last[1]


def _timed(results: list[AttemptRecord]) -> Iterator[tuple[float, int | None]]:
    for attempt in results:
        if attempt.outcome == Outcome.SEALED and attempt.ended is not None:
            yield attempt.ended, attempt.generation_index
