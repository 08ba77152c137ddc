"""Follows every rollout through the rows of a file: who holds it, what a stop took, and how it came back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rtrace_otel.analysis.checked import duration, time_of
from rtrace_otel.analysis.ledger.attempts import Attempts
from rtrace_otel.analysis.ledger.books import Books
from rtrace_otel.analysis.ledger.branch import Branch, Retention
from rtrace_otel.analysis.ledger.groups import Groups, id_of
from rtrace_otel.analysis.ledger.heirs import Heirs, Restored
from rtrace_otel.analysis.ledger.missing import MissingWork
from rtrace_otel.analysis.ledger.pace import RunPace
from rtrace_otel.analysis.ledger.stops import OpenStop, take, weigh_intervals
from rtrace_otel.analysis.ledger.work import Loss, Rollout
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

Handler = Callable[[Branch, Row, float | None], None]


class RolloutFollower:
    """Takes rows in file order.

    Attributes:
        stops: So far, in file order.
        pace: Of each run that wrote a row, by run id; what a forked process writes counts for its parent.
        heirs: The runs that did some work.
        books: What became of every rollout.
        ended: Runs that were closed.
    """

    def __init__(self) -> None:
        """Begin with no row seen."""
        self.stops: list[OpenStop] = []
        self.pace: dict[str, RunPace] = {}
        self.heirs = Heirs()
        self.books = Books()
        self.ended: set[str] = set()
        self._missing = MissingWork()
        self._groups = Groups(self._missing, self.books)
        self._attempts = Attempts(self._groups, self._missing, self.books, self.pace, self._take_late)
        self._branches: dict[str, Branch] = {}
        self._parents: dict[str, str] = {}
        self._stop_of: dict[int, OpenStop] = {}
        self._steps_lost: dict[int, list[OpenStop]] = {}
        self._retention = Retention()
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
        self._groups.place += 1
        if event == "run_started" and row.get("parent_run") is not None and run not in self.pace:
            self._parents[run] = str(row["parent_run"])
        run = self._parents.get(run, run)
        pace = self.pace.get(run)
        if pace is None:
            pace = self.pace[run] = RunPace()
        t = time_of(row)
        pace.saw(t)
        handler = self._handlers.get(event)
        if handler is None and event not in WORK:
            return
        self._groups.now = t
        branch = self._branches.get(run)
        if branch is None:
            branch = self._branches[run] = Branch(run)
        if not branch.begun and event in WORK:
            self._begin(branch, None)
        if handler is not None:
            handler(branch, row, t)

    def job_ended(self, stop: OpenStop) -> bool:
        """Whether the last run so far of the stop's job was closed."""
        return [branch.run for branch in self.heirs.branches if branch.job == stop.stopped.job][-1] in self.ended

    def _begin(self, branch: Branch, said: Restored | None) -> None:
        """A run does its first work, or says which checkpoint it goes on from."""
        branch.begun = True
        stopped, checkpoint = self.heirs.stopped(said)
        self.heirs.add(branch)
        if stopped is None:
            return
        branch.job = stopped.job
        if said is None and stopped.run in self.ended:
            branch.job = 1 + max(other.job for other in self.heirs.branches)  # another job after one that had ended
            return
        branch.base = checkpoint
        stop = OpenStop(stopped, branch.run, said, checkpoint)
        before = None
        if checkpoint is not None:
            before = checkpoint.branch.windows[checkpoint.windows_before - 1]
            first = checkpoint.windows_before == 1
            began = self.pace[checkpoint.branch.run].started
            stop.previous_taken_at = began if first else self.heirs.taken_before(checkpoint)
        windows, groups = take(stop)
        self._retention.given_up(windows)
        for _, step in stop.steps_lost:
            self._steps_lost.setdefault(step, []).append(stop)
        self.books.lost(stop.losses, stop.forgotten)
        self._missing.go_back(branch)
        self._missing.add(branch, groups, stop.losses)
        weigh_intervals(stop, before, self.pace[stopped.run].last)
        self._stop_of[id(stopped)] = stop
        if branch.run != stopped.run:
            self.pace[branch.run].wants(self.pace[stopped.run])
        self.stops.append(stop)

    def _take_late(self, branch: Branch, rollout: Rollout) -> None:
        """A run that another one took over from still works: that is lost, too."""
        stop = self._stop_of.get(id(branch))
        if stop is not None:
            loss = Loss(rollout)
            stop.losses.append(loss)
            self._missing.add(branch, [rollout.group], [loss])

    def _train_late(self, branch: Branch, step: int | None) -> None:
        """A run that another one took over from still trains: that step is lost, too."""
        stop = self._stop_of.get(id(branch))
        if stop is not None and step is not None:
            stop.steps_lost.append((branch.run, step))
            self._steps_lost.setdefault(step, []).append(stop)

    def _discard(self, branch: Branch, row: Row, t: float | None) -> None:
        group = self._groups.discard(branch, row, t)
        if group is not None:
            self._retention.add(branch, group)

    def _restore(self, branch: Branch, row: Row, _t: float | None) -> None:
        if branch.begun:  # it restores in the middle of its life: what it did until then is given up
            branch = self._branches[branch.run] = Branch(branch.run)
        seconds = duration(row.get("seconds"))
        self._begin(branch, Restored(id_of(row.get("checkpoint_id")), _step(row), id_of(row.get("from_run")), seconds))

    def _published(self, branch: Branch, row: Row, t: float | None) -> None:
        seconds = duration(row.get("seconds"))
        self.heirs.published(branch.checkpoint_published(str(row.get("checkpoint_id")), _step(row), t, seconds))

    def _train(self, branch: Branch, row: Row, t: float | None) -> None:
        step = _step(row)
        groups = self._groups.train(branch, row)
        self.pace[branch.run].trained(t)
        if branch.given_up:
            self._train_late(branch, step)
            return
        branch.train(step, groups, t)
        for group in groups:
            self._retention.add(branch, group)
        self.books.trained(row, groups)
        for stop in self._steps_lost.pop(step, ()) if step is not None else ():
            stop.steps_again.add(step or 0)


def _step(row: Row) -> int | None:
    step = row.get("step")
    return step if type(step) is int else None
