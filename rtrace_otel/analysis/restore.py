"""What did each stop and restore cost: the fate of every rollout, in rollouts, tokens and seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rtrace_otel.analysis.checked import between, duration, time_of
from rtrace_otel.analysis.ledger.books import NOTHING
from rtrace_otel.analysis.ledger.follow import MAX_TAKEN, RolloutFollower
from rtrace_otel.analysis.ledger.retention import MAX_RETAINED
from rtrace_otel.analysis.ledger.stops import OpenStop
from rtrace_otel.analysis.ledger.work import Amount, Fate
from rtrace_otel.analysis.lineage import lineage_of
from rtrace_otel.analysis.restore_results import Barrier, Interval, RestoreReport, Stop, added
from rtrace_otel.analysis.runs import HowEnded, RunFold
from rtrace_otel.events import Row

MIN_FOR_BIAS: Final = 5
"""Fewer rollouts that never came back say nothing about their length."""


def restore_report(events: Iterable[Row]) -> RestoreReport:
    """What every stop of a file cost, in one pass.

    Args:
        events: Rows in file order, of all runs. Memory grows with what is open, and with the work since the last
            checkpoints (up to 50,000 rollouts); of the steps and of what old stops took little is kept.
    """
    fold = RestoreFold()
    for row in events:
        fold.add(row)
    return fold.result()


class RestoreFold:
    """Builds a :class:`RestoreReport` row by row.

    Args:
        remembered: Rollouts of finished groups that are remembered one by one.
        taken: Rollouts that stops took and that are remembered one by one, unless the last two took more.
        runs: The runs, if another analysis of the same pass has each row added to them before it comes here.

    Attributes:
        follower: What follows the rollouts; other analyses of the same pass may read it.
        runs: The runs so far.
    """

    def __init__(self, remembered: int = MAX_RETAINED, taken: int = MAX_TAKEN, *, runs: RunFold | None = None) -> None:
        """Begin with no row seen."""
        self.follower = RolloutFollower(remembered, taken)
        self.runs = RunFold() if runs is None else runs
        self._adds_to_runs = runs is None
        self._barrier = _BarrierFold()

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        if self._adds_to_runs:
            self.runs.add(row)
        self.follower.add(row)
        if row["event"] in _OF_CHECKPOINTS or self._barrier.refused:
            self._barrier.add(row)

    def result(self) -> RestoreReport:
        """The report over the rows so far."""
        runs = self.runs.result()
        ended_how = {run.run: run.ended_how for run in runs}
        stops = [
            self._stop(stop, ended_how.get(stop.stopped.run, "unknown"), self.follower.job_ended(stop))
            for stop in self.follower.stops
        ]
        return RestoreReport(
            stops=tuple(stops),
            lineage=lineage_of(self.follower, runs),
            barrier=self._barrier.result(),
            rows_lost=sum(run.rows_lost for run in runs),
        )

    def _stop(self, stop: OpenStop, ended_how: HowEnded, finished: bool) -> Stop:
        before, after = stop.stopped.pace, stop.restored.pace
        dead_s = None
        if before.last is not None and after.started is not None:
            dead_s = after.started - before.last
        taken = stop.settled.plus(stop.losses, before.last, finished=finished)
        fates = {fate: taken.fates.get(fate, NOTHING) for fate in Fate}
        bias = _bias(fates)
        fates[Fate.UNKNOWN] += stop.forgotten
        steps_lost = tuple(sorted({step for _, step in stop.steps_lost}))
        return Stop(
            run=stop.stopped.run,
            ended_how="unknown" if stop.restored.run == stop.stopped.run else ended_how,
            restored_run=stop.restored.run,
            checkpoint_restored=stop.said is not None,
            checkpoint_id=stop.said.checkpoint_id if stop.said else None,
            checkpoint_step=stop.said.step if stop.said else None,
            checkpoint_in_file=stop.checkpoint is not None,
            killed_at=before.last,
            dead_s=dead_s,
            restore_s=stop.said.seconds if stop.said else None,
            first_dispatch_s=after.since_start(after.first_dispatch),
            first_seal_s=after.since_start(after.first_seal),
            first_train_step_s=after.since_start(after.first_train_step),
            throughput_back_s=after.since_start(after.back_at),
            steps_lost=steps_lost,
            steps_trained_again=tuple(sorted(stop.steps_again)),
            in_flight=taken.in_flight,
            fates=fates,
            forgotten=stop.forgotten,
            idle_runs=stop.idle_runs,
            rows_late=stop.rows_late,
            longest=taken.longest,
            interval=_interval(stop, before.last),
            length_bias=bias,
        )


def _interval(stop: OpenStop, killed_at: float | None) -> Interval:
    taken_at = stop.checkpoint.taken_at if stop.checkpoint is not None else None
    return Interval(
        age_s=between(taken_at, killed_at),
        interval_s=between(stop.previous_taken_at, taken_at),
        sealed_since=stop.at_risk,
        if_half=stop.at_risk_half,
        if_twice=stop.at_risk_twice,
    )


def _bias(fates: Mapping[Fate, Amount]) -> float | None:
    gone = fates[Fate.NEVER_CAME_BACK]
    rest = added(amount for fate, amount in fates.items() if fate is not Fate.NEVER_CAME_BACK)
    if gone.rollouts < MIN_FOR_BIAS or rest.rollouts < MIN_FOR_BIAS or not rest.attempt_seconds:
        return None
    return (gone.attempt_seconds / gone.rollouts) / (rest.attempt_seconds / rest.rollouts)


_OF_CHECKPOINTS: Final = frozenset({"attempt_refused", "checkpoint_started", "checkpoint_published"})
"""What checkpoints cost begins with these."""


class _BarrierFold:
    """Adds up what checkpoints cost. While no attempt is refused, it needs only rows of ``_OF_CHECKPOINTS``."""

    def __init__(self) -> None:
        self.refused: dict[tuple[str, str], float | None] = {}
        self._started: dict[str, float | None] = {}
        self._published = self._refusals = self._redispatched = 0
        self._seconds: float | None = None
        self._delay_s = self._longest_s = 0.0

    def add(self, row: Row) -> None:
        event = row["event"]
        if event == "attempt_dispatched":
            self._dispatched(row)
        elif event == "attempt_refused":
            self._refusals += 1
            self.refused[_attempt(row)] = time_of(row)
        elif event in {"attempt_sealed", "attempt_abandoned"}:
            self.refused.pop(_attempt(row), None)
        elif event == "checkpoint_started":
            self._started[str(row["run"])] = time_of(row)
        elif event == "checkpoint_published":
            self._publish(row)

    def result(self) -> Barrier:
        return Barrier(
            self._published, self._seconds, self._refusals, self._redispatched, self._delay_s, self._longest_s
        )

    def _dispatched(self, row: Row) -> None:
        refused_at = self.refused.pop(_attempt(row), None)
        t = time_of(row)
        if refused_at is not None and t is not None and t >= refused_at:
            self._redispatched += 1
            self._delay_s += t - refused_at
            self._longest_s = max(self._longest_s, t - refused_at)

    def _publish(self, row: Row) -> None:
        self._published += 1
        seconds, started, t = duration(row.get("seconds")), self._started.pop(str(row["run"]), None), row.get("t")
        if seconds is None and started is not None and (ended := duration(t)) is not None:
            seconds = max(ended - started, 0.0)
        if seconds is not None:
            self._seconds = (self._seconds or 0.0) + seconds


def _attempt(row: Row) -> tuple[str, str]:
    return str(row["run"]), str(row.get("attempt_id"))
