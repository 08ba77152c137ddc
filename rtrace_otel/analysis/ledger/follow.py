"""Follows every rollout through the rows of a file: who holds it, what a stop took, and how it came back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rtrace_otel.analysis.checked import duration, integer, time_of
from rtrace_otel.analysis.ledger.attempts import Attempts
from rtrace_otel.analysis.ledger.books import Books
from rtrace_otel.analysis.ledger.branch import Branch, Checkpoint, Restored, Window
from rtrace_otel.analysis.ledger.groups import Groups
from rtrace_otel.analysis.ledger.heirs import Heirs, restored_by
from rtrace_otel.analysis.ledger.missing import MissingWork
from rtrace_otel.analysis.ledger.pace import RunPace
from rtrace_otel.analysis.ledger.retention import MAX_RETAINED, Retention
from rtrace_otel.analysis.ledger.revival import count_again, trained_groups
from rtrace_otel.analysis.ledger.stops import OpenStop, lose, settle, take, timeline, weigh_intervals
from rtrace_otel.analysis.ledger.work import Rollout
from rtrace_otel.events import Row

WORK: Final = frozenset(
    {
        "group_reserved",
        "group_admitted",
        "group_sealed",
        "group_published",
        "group_discarded",
        "attempt_dispatched",
        "attempt_resumed",
        "train_step_started",
        "train_step",
    }
)
"""Rows that only a run that works writes: by the first one it must have said what it restored."""

MAX_TAKEN: Final = 4_096
"""Rollouts that stops took and that are remembered one by one, unless the last two stops took more."""

Handler = Callable[[Branch, Row, float | None], None]


class RolloutFollower:
    """Takes rows in file order.

    Args:
        remembered: Rollouts of finished groups that are remembered one by one, in case a checkpoint before them is
            restored; of further ones only the amount is known.
        taken: Rollouts that stops took and that are remembered one by one; of stops before the last two, further ones
            are added up once their fate is known.

    Attributes:
        stops: So far, in file order.
        paces: Of each run that wrote a row; what a forked process writes counts for its parent.
        heirs: The runs that did some work.
        books: What became of every rollout.
        ended: Runs that were closed.
    """

    def __init__(self, remembered: int = MAX_RETAINED, taken: int = MAX_TAKEN) -> None:
        """Begin with no row seen."""
        self._most_taken = taken
        self._oldest_stop = 0
        self.stops: list[OpenStop] = []
        self.paces: list[RunPace] = []
        self._pace: dict[str, RunPace] = {}
        self.heirs = Heirs()
        self.books = Books()
        self.ended: set[str] = set()
        self._missing = MissingWork()
        self._groups = Groups(self._missing, self.books, self._take_late)
        self._attempts = Attempts(self._groups, self._missing, self.books, self._take_late)
        self._branches: dict[str, Branch] = {}
        self._idle_runs: list[str] = []
        self._parents: dict[str, str] = {}
        self._steps_lost: dict[int, list[OpenStop]] = {}
        self._retention = Retention(remembered)
        self._handlers: dict[str, Handler] = {
            "run_ended": lambda branch, _, __: self.ended.add(branch.run),
            "group_reserved": self._groups.reserve,
            "group_sealed": self._groups.publish,
            "group_published": self._groups.publish,
            "group_discarded": self._discard,
            "attempt_dispatched": self._attempts.dispatch,
            "attempt_refused": self._attempts.refuse,
            "attempt_resumed": self._attempts.resume,
            "attempt_sealed": self._attempts.seal,
            "attempt_abandoned": self._attempts.abandon,
            "train_step": self._train,
            "weight_sync": self._attempts.refit,
            "checkpoint_started": lambda branch, _, t: branch.checkpoint_started(t, self._groups.place),
            "checkpoint_published": self._published,
            "checkpoint_restored": self._restore,
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        event, run = row["event"], str(row["run"])
        if event == "run_started":
            self._begin_process(run, row)
        run = self._parents.get(run, run)
        self._groups.place += 1
        if event == "checkpoint_restored":
            self._begin_new_life(run, row)
        t = time_of(row)
        branch = self._branches.get(run)
        pace = self._pace_of(run) if branch is None else branch.pace
        pace.saw(t)
        handler = self._handlers.get(event)
        if handler is None and event not in WORK:
            return
        self._groups.now = t
        if branch is None:
            branch = self._branches[run] = Branch(run, pace)
        if branch.stopped_by is not None:
            self.stops[branch.stopped_by].rows_late += 1
        if not branch.worked and event in WORK:
            branch.worked = True
            if not branch.begun:
                self._begin(branch, None)
        if handler is not None:
            handler(branch, row, t)

    def job_ended(self, stop: OpenStop) -> bool:
        """Whether the last run so far of the stop's job was closed."""
        return self.heirs.of_job(stop.stopped.job)[-1].run in self.ended

    def _pace_of(self, run: str) -> RunPace:
        pace = self._pace.get(run)
        if pace is None:
            pace = self._pace[run] = RunPace()
            self.paces.append(pace)
            self._idle_runs.append(run)
        return pace

    def _begin_process(self, run: str, row: Row) -> None:
        """What a forked process writes counts for its parent."""
        if row.get("parent_run") is not None and run not in self._pace:
            parent = str(row["parent_run"])
            self._parents[run] = self._parents.get(parent, parent)

    def _begin_new_life(self, run: str, row: Row) -> None:
        """A run that restores in the middle of its life goes on as if it were another."""
        branch = self._branches.get(run)
        if branch is not None and branch.begun and (branch.worked or branch.said != restored_by(row)):
            del self._branches[run], self._pace[run]

    def _begin(self, branch: Branch, said: Restored | None) -> None:
        """A run does its first work, or says which checkpoint it goes on from."""
        branch.begun, branch.said = True, said
        if branch.run in self._idle_runs:
            self._idle_runs.remove(branch.run)
        stopped, checkpoint = self.heirs.stopped(said)
        self.heirs.add(branch)
        if stopped is None:
            return
        branch.job = stopped.job
        if said is None and stopped.run in self.ended:
            branch.job = 1 + max(other.job for other in self.heirs.branches)  # another job after one that had ended
            return
        branch.base = checkpoint
        stop = OpenStop(len(self.stops), stopped, branch, said, checkpoint, idle_runs=tuple(self._idle_runs))
        self._idle_runs.clear()
        self._take(stop, checkpoint)
        if branch.run != stopped.run:
            branch.pace.wants(stopped.pace)
        self.stops.append(stop)
        self._settle_old_stops()

    def _take(self, stop: OpenStop, checkpoint: Checkpoint | None) -> None:
        """What the stop takes away from its job, and what the checkpoint brings back."""
        before = None
        if checkpoint is not None:
            before = checkpoint.branch.windows[checkpoint.windows_before - 1]
            first = checkpoint.windows_before == 1
            stop.previous_taken_at = checkpoint.branch.pace.started if first else self.heirs.taken_before(checkpoint)
        heir = stop.restored
        job = [branch for branch in self.heirs.of_job(heir.job) if branch is not heir]
        windows, groups = take(stop, job)
        back: list[Window] = []
        for branch, held in timeline(checkpoint).items():
            again = branch.bring_back(held)
            back += again
            self._count_steps_again(branch.run, {step for window in again for _, step in window.steps})
        heir.follows = {branch: live for branch in job if (live := branch.live())}
        self._retention.given_up(windows)
        for _, step in stop.steps_lost:
            self._steps_lost.setdefault(step, []).append(stop)
        self.books.lost(stop.losses, stop.forgotten)
        kept = trained_groups(back)
        self._missing.go_back(heir)
        self._missing.add(heir, groups, stop.losses)
        count_again(kept, self.books, self._missing)
        weigh_intervals(stop, before, stop.stopped.pace.last)

    def _count_steps_again(self, run: str, steps: set[int]) -> None:
        """Steps of a run that stops had taken are in the checkpoint after all."""
        for stop in self.stops if steps else ():
            left = [(other, step) for other, step in stop.steps_lost if other != run or step not in steps]
            for step in {step for _, step in stop.steps_lost}.difference(step for _, step in left):
                stop.steps_again.discard(step)
                self._steps_lost[step] = [other for other in self._steps_lost.get(step, ()) if other is not stop]
            stop.steps_lost = left

    def _settle_old_stops(self) -> None:
        remembered = sum(len(stop.losses) for stop in self.stops[self._oldest_stop :])
        while remembered > self._most_taken and self._oldest_stop < len(self.stops) - 2:
            stop = self.stops[self._oldest_stop]
            self._oldest_stop += 1
            remembered -= len(stop.losses)
            self._missing.forget(settle(stop))

    def _take_late(self, branch: Branch, rollout: Rollout) -> None:
        """A run that another one took over from still works: that is lost, too."""
        if branch.stopped_by is not None:
            stop = self.stops[branch.stopped_by]
            loss = lose(rollout, stop.number)
            stop.losses.append(loss)
            self._missing.add(stop.restored, [rollout.group], [loss])

    def _train_late(self, branch: Branch, step: int | None) -> None:
        """A run that another one took over from still trains: that step is lost, too."""
        if branch.stopped_by is not None and step is not None:
            stop = self.stops[branch.stopped_by]
            stop.steps_lost.append((branch.run, step))
            stop.steps_late.append(step)
            self._steps_lost.setdefault(step, []).append(stop)

    def _discard(self, branch: Branch, row: Row, t: float | None) -> None:
        group = self._groups.discard(branch, row, t)
        if group is not None:
            self._retention.add(branch, group)

    def _restore(self, branch: Branch, row: Row, _t: float | None) -> None:
        if not branch.begun:  # else the same is said twice
            self._begin(branch, restored_by(row))

    def _published(self, branch: Branch, row: Row, t: float | None) -> None:
        seconds = duration(row.get("seconds"))
        self.heirs.published(
            branch.checkpoint_published(str(row.get("checkpoint_id")), integer(row.get("step")), t, seconds)
        )

    def _train(self, branch: Branch, row: Row, t: float | None) -> None:
        step = integer(row.get("step"))
        groups = self._groups.train(branch, row)
        branch.pace.trained(t)
        if branch.given_up:
            self._train_late(branch, step)
            return
        branch.train(step, groups, t)
        for group in groups:
            self._retention.add(branch, group)
        self.books.trained(row, groups)
        for stop in self._steps_lost.pop(step, ()) if step is not None else ():
            stop.steps_again.add(step or 0)
