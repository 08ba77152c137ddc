"""A rollout attempt while it is open."""

from __future__ import annotations

from dataclasses import dataclass

from rtrace_otel.analysis.checked import amount, between, integer, name, number, time_of
from rtrace_otel.analysis.flow.group import OpenGroup
from rtrace_otel.analysis.flow.records import AttemptRecord, Outcome, WaitsFor
from rtrace_otel.events import Row


@dataclass(slots=True)
class Weights:
    """The weights of one run.

    Attributes:
        version: Weight version in force, if a row has said so.
        refits: Refits so far that installed another version.
    """

    version: int | None = None
    refits: int = 0


@dataclass(slots=True)
class OpenAttempt:
    """An attempt in the making.

    Attributes:
        attempt_id: Its id.
        run: The run that works on it.
        weights: The weights of that run.
        group_id: Its group.
        refits_before: Refits of the run before it began.
        group: Its group, as it was open when the attempt began.
    """

    attempt_id: str
    run: str
    weights: Weights
    group_id: str | None = None
    prompt_id: str | None = None
    generation_index: int | None = None
    attempt_index: int | None = None
    instance: str | None = None
    resumed: str | None = None
    tokens_kept: int | None = None
    tokens_at_least: int | None = None
    dispatched: float | None = None
    refits_before: int = 0
    cuts: int = 0
    refusals: int = 0
    version_start: int | None = None
    has_dispatch: bool = False
    runs_now: bool = False
    group: OpenGroup | None = None
    since: float | None = None
    ran_s: float | None = 0.0
    refused_s: float | None = 0.0

    def begin(self, row: Row) -> None:
        """It is dispatched for the first time, or goes on after a restore."""
        self.refits_before = self.weights.refits
        self.version_start = self.weights.version
        self.runs_now = True
        self.since = time_of(row)
        self.describe(row)

    def describe(self, row: Row) -> None:
        """Learn what a row says of where it belongs; what is known already stays."""
        if self.group_id is None:
            self.group_id = name(row.get("group_id"))
        if self.prompt_id is None:
            self.prompt_id = name(row.get("prompt_id"))
        if self.generation_index is None:
            self.generation_index = integer(row.get("generation_index"))

    def dispatch(self, row: Row) -> None:
        """It is dispatched; a second dispatch without a refusal changes nothing."""
        if not self.has_dispatch:
            self._first_dispatch(row)
        elif not self.runs_now:
            self.refused_s = _plus(self.refused_s, between(self.since, time_of(row)))
            self.since = time_of(row)
            self.runs_now = True
        self.describe(row)

    def _first_dispatch(self, row: Row) -> None:
        self.has_dispatch = self.runs_now = True
        self.since = self.dispatched = time_of(row)
        self.attempt_index = integer(row.get("attempt_index"))
        self.instance = name(row.get("instance"))
        version = integer(row.get("weight_version"))
        self.version_start = self.weights.version if version is None else version

    def refuse(self, row: Row) -> None:
        """Its dispatch is refused; its running time stands still."""
        self.refusals += 1
        if self.runs_now:
            self.ran_s = _plus(self.ran_s, between(self.since, time_of(row)))
            self.since = time_of(row)
            self.runs_now = False

    def resume(self, row: Row) -> None:
        """A restore kept part of it."""
        self.resumed = name(row.get("level"))
        self.tokens_kept = amount(row.get("tokens_kept"))

    def cut(self, tokens: int) -> None:
        """A refit paused its calls, which had this many tokens."""
        self.cuts += 1
        self.tokens_at_least = tokens

    def end(self, row: Row) -> AttemptRecord:
        """The attempt, sealed or abandoned by this row."""
        sealed = row["event"] == "attempt_sealed"
        masked = row.get("masked")
        return self._record(
            Outcome.SEALED if sealed else Outcome.ABANDONED,
            time_of(row),
            ended=time_of(row),
            tokens=amount(row.get("tokens")),
            reward=number(row.get("reward")) if sealed else None,
            masked=masked if sealed and isinstance(masked, bool) else None,
            reason=None if sealed else name(row.get("reason")),
        )

    def left(self, outcome: Outcome, last_row: float | None) -> AttemptRecord:
        """The attempt as its run left it.

        Args:
            outcome: ``interrupted`` or ``open``.
            last_row: Time of the run's last row.
        """
        waiting_for = WaitsFor.RESULT if self.runs_now else WaitsFor.DISPATCH_AGAIN
        return self._record(outcome, last_row, waiting_for=waiting_for)

    def kept(self, row: Row) -> AttemptRecord:
        """A result of an earlier run that the restore kept: it does not run here."""
        self.resume(row)
        self.refits_before, self.version_start = self.weights.refits, self.weights.version
        return self._record(Outcome.KEPT, None, stands_still=True, tokens=self.tokens_kept)

    def _record(
        self,
        outcome: Outcome,
        until: float | None,
        *,
        stands_still: bool = False,
        ended: float | None = None,
        tokens: int | None = None,
        reward: float | None = None,
        masked: bool | None = None,
        reason: str | None = None,
        waiting_for: WaitsFor | None = None,
    ) -> AttemptRecord:
        last = None if stands_still else between(self.since, until)
        waits = waiting_for is not None
        return AttemptRecord(
            attempt_id=self.attempt_id,
            group_id=self.group_id,
            prompt_id=self.prompt_id,
            generation_index=self.generation_index,
            attempt_index=self.attempt_index,
            run=self.run,
            instance=self.instance,
            dispatched=self.dispatched,
            ended=ended,
            seconds=_plus(self.ran_s, last) if self.runs_now else self.ran_s,
            refused_s=self.refused_s if self.runs_now or stands_still else _plus(self.refused_s, last),
            tokens=tokens,
            tokens_at_least=self.tokens_at_least,
            tokens_kept=self.tokens_kept,
            reward=reward,
            masked=masked,
            outcome=outcome,
            reason=reason,
            resumed=self.resumed,
            refusals=self.refusals,
            refits_spanned=self.weights.refits - self.refits_before,
            refits_cut=self.cuts,
            version_start=self.version_start,
            version_end=self.weights.version,
            waiting_for=waiting_for,
            since=self.since if waits else None,
            waited_s=last if waits else None,
        )


def _plus(total: float | None, more: float | None) -> float | None:
    return None if total is None or more is None else total + more
