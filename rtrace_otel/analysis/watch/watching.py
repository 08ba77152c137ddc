"""Follows a trace that is still being written; a picture of it costs the same however long the trace is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from rtrace_otel.analysis.age.ages import AgeFold, TrainedStep
from rtrace_otel.analysis.checked import amount, between, duration, integer, name, names, number, time_of
from rtrace_otel.analysis.runs import HowEnded, RunFold
from rtrace_otel.analysis.watch.attempts import WatchedAttempts
from rtrace_otel.analysis.watch.groups import WatchedGroups
from rtrace_otel.analysis.watch.rates import WINDOW_S, RecentCounts
from rtrace_otel.analysis.watch.results import (
    Happening,
    HappeningKind,
    Phase,
    Rates,
    Snapshot,
    StepPoint,
    UnderWay,
)
from rtrace_otel.events import Row

MAX_RUNS: Final = 64
"""Runs that a snapshot tells of; what an earlier one left open counts as interrupted."""

MAX_STEPS: Final = 240
"""Steps whose batch age is kept: as many as a wide terminal has columns for."""

MAX_HAPPENINGS: Final = 32
"""Refits, checkpoints and restores kept, of each."""

MAX_SLOWEST: Final = 64
"""Open attempts that a snapshot lists."""


def snapshot_of(events: Iterable[Row], now: float) -> Snapshot:
    """A trace at one moment.

    Args:
        events: The rows so far, in file order.
        now: The moment, in Unix seconds.
    """
    fold = WatchFold()
    for row in events:
        fold.add(row)
    return fold.snapshot(now)


class WatchFold:
    """Builds a :class:`Snapshot` row by row.

    Memory is that of what is open, of the groups that may be trained again, and of one entry for each step and run.
    """

    def __init__(self) -> None:
        """Begin with no row seen."""
        self._runs = RunFold()
        self._ages = AgeFold(self._trained_step)
        self._attempts = WatchedAttempts()
        self._groups = WatchedGroups()
        self._counts: dict[str, int] = {}
        self._recent = RecentCounts()
        self._first_row: float | None = None
        self._last_row: float | None = None
        self._steps: deque[StepPoint] = deque(maxlen=MAX_STEPS)
        self._under_way: dict[Phase, UnderWay] = {}
        self._happened: dict[HappeningKind, deque[Happening]] = {
            "refit": deque(maxlen=MAX_HAPPENINGS),
            "checkpoint": deque(maxlen=MAX_HAPPENINGS),
            "restore": deque(maxlen=MAX_HAPPENINGS),
        }
        self._handlers: dict[str, Callable[[Row], object]] = {
            "attempt_dispatched": self._dispatch,
            "attempt_resumed": self._resume,
            "attempt_refused": self._attempts.refuse,
            "attempt_sealed": self._seal,
            "attempt_abandoned": lambda row: self._attempts.end(row, "abandoned"),
            "group_reserved": self._groups.reserve,
            "group_sealed": self._groups.complete,
            "group_published": self._groups.complete,
            "group_discarded": self._groups.discard,
            "train_step": self._train,
            "weight_sync": self._refit,
            "checkpoint_published": self._checkpoint,
            "checkpoint_restored": self._restore,
            "train_step_started": lambda row: self._begin("training step", row),
            "weight_sync_started": lambda row: self._begin("refit", row),
            "checkpoint_started": lambda row: self._begin("checkpoint", row),
            "trace_gap": lambda row: self._count("rows lost", amount(row.get("lost")) or 0),
            "clock_adjusted": lambda _: self._count("clock steps"),
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        self._runs.add(row)
        self._count("rows")
        self._count_recent("rows", row)
        t = time_of(row)
        if t is not None:
            self._last_row = t
            self._first_row = t if self._first_row is None else self._first_row
        self._ages.add(row)
        handler = self._handlers.get(row["event"])
        if handler is not None:
            handler(row)

    @property
    def last_row(self) -> float | None:
        """Time of the latest row that has one, in Unix seconds."""
        return self._last_row

    def snapshot(self, now: float) -> Snapshot:
        """The rows so far.

        Args:
            now: The moment to tell of, in Unix seconds: what is open has been so until then.
        """
        runs = self._runs.latest(MAX_RUNS)
        by_end: dict[HowEnded, list[str]] = {"clean": [], "killed": [], "unknown": []}
        for run in runs:
            by_end[run.ended_how].append(run.run)
        going_on = by_end["unknown"]
        get = self._counts.get
        return Snapshot(
            now=now,
            rows=get("rows", 0),
            last_row=self._last_row,
            runs=runs,
            run_count=len(self._runs),
            attempts=self._attempts.counts(going_on, by_end["clean"]),
            groups=self._groups.counts(going_on, by_end["clean"]),
            rates=self._rates(now),
            steps=tuple(self._steps),
            under_way=tuple(phase for phase in self._under_way.values() if phase.run in going_on),
            slowest=self._attempts.slowest(going_on, MAX_SLOWEST),
            refits=tuple(self._happened["refit"]),
            checkpoints=tuple(self._happened["checkpoint"]),
            restores=tuple(self._happened["restore"]),
            rows_lost=get("rows lost", 0),
            clock_steps=get("clock steps", 0),
        )

    def _rates(self, now: float) -> Rates:
        if self._first_row is None:
            return Rates(None, 0.0, 0.0, 0.0, 0.0)
        seconds = min(max(now - self._first_row, 1.0), float(WINDOW_S))
        recent = self._recent.totals(now).get
        unknown = recent("steps", 0) and not recent("steps with tokens", 0)
        return Rates(
            seconds=seconds,
            rows=recent("rows", 0) / seconds,
            dispatched=recent("dispatched", 0) / seconds,
            sealed=recent("sealed", 0) / seconds,
            trained_tokens=None if unknown else recent("trained tokens", 0) / seconds,
        )

    def _count(self, what: str, by: int = 1) -> None:
        self._counts[what] = self._counts.get(what, 0) + by

    def _count_recent(self, what: str, row: Row, by: int = 1) -> None:
        t = time_of(row)
        if t is not None:
            self._recent.add(what, t, by)

    def _dispatch(self, row: Row) -> None:
        self._count_recent("dispatched", row)
        self._attempts.begin(row)

    def _resume(self, row: Row) -> None:
        if row.get("level") != "sibling":
            self._attempts.begin(row)

    def _seal(self, row: Row) -> None:
        if self._attempts.end(row, "sealed"):
            self._count_recent("sealed", row)

    def _trained_step(self, trained: TrainedStep) -> None:
        row, age = trained.row, trained.age
        self._steps.append(StepPoint(age.step, age.run, time_of(row), number(age.best)))
        self._count_recent("steps", row)
        tokens = amount(row.get("tokens")) or amount(age.tokens)
        if tokens:
            self._count_recent("steps with tokens", row)
            self._count_recent("trained tokens", row, tokens)

    def _train(self, row: Row) -> None:
        self._end("training step", row)
        self._groups.train(row)

    def _begin(self, phase: Phase, row: Row) -> None:
        self._under_way[phase] = UnderWay(phase, row["run"], time_of(row), integer(row.get("step")))

    def _end(self, phase: Phase, row: Row) -> float | None:
        """How long the phase took, by the row of its begin if its own does not say."""
        begun = self._under_way.get(phase)
        since = None
        if begun is not None and begun.run == row["run"]:
            since = self._under_way.pop(phase).since
        said = duration(row.get("seconds"))
        return between(since, time_of(row)) if said is None else said

    def _refit(self, row: Row) -> None:
        seconds = self._end("refit", row)
        if row.get("replaced_version") != row.get("new_version"):
            calls = row.get("calls")
            cut = len(calls) if isinstance(calls, (list, tuple)) else None
            self._remember("refit", row, seconds, name(row.get("new_version")), calls_cut=cut)

    def _checkpoint(self, row: Row) -> None:
        self._remember("checkpoint", row, self._end("checkpoint", row), name(row.get("checkpoint_id")))

    def _restore(self, row: Row) -> None:
        self._groups.restore(row)
        self._remember("restore", row, duration(row.get("seconds")), name(row.get("checkpoint_id")))

    def _remember(
        self, kind: HappeningKind, row: Row, seconds: float | None, what: str | None, calls_cut: int | None = None
    ) -> None:
        held = row.get("groups")
        groups = len(names(held)) if isinstance(held, (list, tuple)) and kind != "refit" else None
        self._happened[kind].append(Happening(kind, row["run"], time_of(row), seconds, what, calls_cut, groups))
