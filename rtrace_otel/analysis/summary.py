"""What a trace holds: its runs, attempts, groups, steps, refits, checkpoints, and its batch age."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from rtrace_otel.analysis.age.ages import AgeFold, TrainedStep
from rtrace_otel.analysis.checked import duration
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.analysis.summary_results import AttemptCounts, GroupCounts, Summary
from rtrace_otel.events import EVENTS_BY_NAME, Row

Watch: TypeAlias = Callable[[TrainedStep], None]


def summarise(events: Iterable[Row]) -> Summary:
    """Summarise a trace in one pass.

    Args:
        events: Rows in file order. Memory grows with what is open and with the groups, not with the rows.
    """
    fold = SummaryFold()
    for row in events:
        fold.add(row)
    return fold.result()


MAX_OTHER: Final = 50
"""Names of foreign events counted one by one; the rest are counted together."""


@dataclass(frozen=True, slots=True)
class _OpenGroup:
    run: str
    ended_before: bool
    """Whether an earlier run had trained or discarded it."""


class SummaryFold:
    """Builds a :class:`Summary` row by row.

    Args:
        watch: Called with each step when it is trained, as by :class:`AgeFold`.
        runs: The runs, if another analysis of the same pass has each row added to them before it comes here.
        ages: The same for the ages; then ``watch`` is not called.
    """

    def __init__(self, watch: Watch | None = None, *, runs: RunFold | None = None, ages: AgeFold | None = None) -> None:
        """Begin with no row seen."""
        self._runs = RunFold() if runs is None else runs
        self._ages = AgeFold(watch) if ages is None else ages
        self._own = [fold.add for fold, given in ((self._runs, runs), (self._ages, ages)) if given is None]
        self._rows = 0
        self._open_attempts: defaultdict[str, set[str]] = defaultdict(set)
        self._open_groups: dict[str, _OpenGroup] = {}
        self._counts: dict[str, int] = {}
        self._by_reason: dict[str, dict[str, int]] = {"abandoned": {}, "discarded": {}, "resumed": {}}
        self._steps: dict[int, str] = {}
        self._refit_s: float | None = None
        self._other: dict[str, int] = {}
        self._handlers: dict[str, Callable[[Row], None]] = {
            "attempt_dispatched": self._begin_attempt,
            "attempt_resumed": self._resume,
            "attempt_refused": lambda _: self._count("refusals"),
            "attempt_sealed": self._seal,
            "attempt_abandoned": self._abandon,
            "group_reserved": self._reserve,
            "group_discarded": self._discard,
            "train_step": self._train,
            "weight_sync": self._refit,
            "checkpoint_published": lambda _: self._count("checkpoints"),
            "checkpoint_restored": self._restore,
        }

    def add(self, row: Row) -> None:
        """Take the next row of the file."""
        self._rows += 1
        for add in self._own:
            add(row)
        handler = self._handlers.get(row["event"])
        if handler is not None:
            handler(row)
        elif row["event"] not in EVENTS_BY_NAME:
            name = row["event"] if row["event"] in self._other or len(self._other) < MAX_OTHER else "(others)"
            self._other[name] = self._other.get(name, 0) + 1

    def result(self) -> Summary:
        """The summary of the rows so far."""
        runs = self._runs.result()
        killed = {run.run for run in runs if run.ended_how == "killed"}
        interrupted = sum(len(self._open_attempts[run]) for run in killed & self._open_attempts.keys())
        lost_groups = sum(group.run in killed for group in self._open_groups.values())
        get = self._counts.get
        return Summary(
            runs=runs,
            rows=self._rows,
            attempts=AttemptCounts(
                begun=get("begun", 0),
                sealed=get("sealed", 0),
                masked=get("masked", 0),
                abandoned=dict(self._by_reason["abandoned"]),
                interrupted=interrupted,
                open=sum(map(len, self._open_attempts.values())) - interrupted,
                refusals=get("refusals", 0),
                resumed=dict(self._by_reason["resumed"]),
            ),
            groups=GroupCounts(
                reserved=get("reserved", 0),
                brought_back=get("brought_back", 0),
                trained=get("trained", 0),
                trained_again=get("trained_again", 0),
                discarded=dict(self._by_reason["discarded"]),
                interrupted=lost_groups,
                open=len(self._open_groups) - lost_groups,
            ),
            steps_trained=get("steps", 0),
            steps_again=get("steps_again", 0),
            refits=get("refits", 0),
            calls_cut=get("calls_cut", 0),
            refit_s=self._refit_s,
            checkpoints=get("checkpoints", 0),
            restores=get("restores", 0),
            ages=self._ages.result(),
            other_events=dict(self._other),
            perhaps_two_jobs=self._runs.side_by_side(),
        )

    def _count(self, what: str, by: int = 1) -> None:
        self._counts[what] = self._counts.get(what, 0) + by

    def _count_reason(self, what: str, reason: Any) -> None:
        reasons = self._by_reason[what]
        reasons[str(reason)] = reasons.get(str(reason), 0) + 1

    def _begin_attempt(self, row: Row) -> None:
        attempt_id = str(row.get("attempt_id"))
        of_run = self._open_attempts[row["run"]]
        if attempt_id not in of_run:
            self._count("begun")
            of_run.add(attempt_id)

    def _resume(self, row: Row) -> None:
        self._count_reason("resumed", row.get("level"))
        if row.get("level") != "sibling":
            self._begin_attempt(row)

    def _end_attempt(self, row: Row) -> bool:
        """Whether the attempt was open, in its run or another; ends of attempts that never began are not counted."""
        attempt_id = str(row.get("attempt_id"))
        ids = self._open_attempts.get(row["run"])
        if ids is None or attempt_id not in ids:
            newest_first = reversed(self._open_attempts.values())
            ids = next((ids for ids in newest_first if attempt_id in ids), None)
        if not ids:
            return False
        ids.remove(attempt_id)
        return True

    def _seal(self, row: Row) -> None:
        if self._end_attempt(row):
            self._count("sealed")
            if row.get("masked") is True:
                self._count("masked")

    def _abandon(self, row: Row) -> None:
        if self._end_attempt(row):
            self._count_reason("abandoned", row.get("reason"))

    def _reserve(self, row: Row) -> None:
        group_id = str(row.get("group_id"))
        if row.get("origin_run") in (None, row["run"]):
            self._count("reserved")
            self._open_groups[group_id] = _OpenGroup(row["run"], ended_before=False)
        else:
            self._bring_back(group_id, row["run"])

    def _restore(self, row: Row) -> None:
        self._count("restores")
        for group_id in _ids(row.get("groups")):
            self._bring_back(group_id, row["run"])

    def _bring_back(self, group_id: str, run: str) -> None:
        """A restore has the group again; it may say so in its own row, in a reservation, or in both."""
        before = self._open_groups.get(group_id)
        if before is None or before.run != run:
            self._count("brought_back")
            ended_before = before is None or before.ended_before
            self._open_groups[group_id] = _OpenGroup(run, ended_before)

    def _discard(self, row: Row) -> None:
        self._open_groups.pop(str(row.get("group_id")), None)
        self._count_reason("discarded", row.get("reason"))

    def _train(self, row: Row) -> None:
        self._count("steps")
        step = row.get("step")
        if type(step) is int:
            self._count("steps_again", self._steps.get(step, row["run"]) != row["run"])
            self._steps[step] = row["run"]
        for group_id in _ids(row.get("group_ids")):
            group = self._open_groups.pop(group_id, None)
            self._count("trained")
            self._count("trained_again", group is not None and group.ended_before)

    def _refit(self, row: Row) -> None:
        if row.get("replaced_version") == row.get("new_version"):
            return
        self._count("refits")
        calls = row.get("calls")
        self._count("calls_cut", len(calls) if isinstance(calls, (list, tuple)) else 0)
        seconds = duration(row.get("seconds"))
        if seconds is not None:
            self._refit_s = (self._refit_s or 0.0) + seconds


def _ids(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []
