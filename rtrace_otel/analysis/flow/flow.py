"""Follows every prompt group and rollout attempt from its first row to its last, over all runs of a file.

Memory holds what is open: groups that are neither trained nor discarded, with all of their attempts, and what killed
runs left behind. Of groups that have ended it remembers the latest ids, so that a late row does not open one again.
A group that a later run has taken up stays open in the run before, since rows of that run can still come.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rtrace_otel.analysis.calls import paused_attempts
from rtrace_otel.analysis.checked import integer, name, names
from rtrace_otel.analysis.flow.attempt import OpenAttempt, Weights
from rtrace_otel.analysis.flow.group import OpenGroup
from rtrace_otel.analysis.flow.records import AttemptRecord, GroupRecord, Outcome
from rtrace_otel.analysis.runs import RunFold
from rtrace_otel.events import Row

MAX_ENDED: Final = 65_536
"""Groups that have ended and are remembered by their ids."""

MAX_BEHIND: Final = 16_384
"""Groups that a later run has and that are followed in the run before; of older ones late rows are not taken."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A group with its attempts, or attempts without their group, of which nothing more will be known.

    Attributes:
        group: The group; ``None`` if it ended before these attempts did, or if no row names it.
        attempts: All of the group's run that ended in time, or some without a group.
    """

    group: GroupRecord | None
    attempts: tuple[AttemptRecord, ...]


class Flow:
    """Takes rows, and gives each group and attempt once it has ended.

    Args:
        runs: The runs, if another analysis of the same pass has each row added to them before it comes here.
    """

    def __init__(self, runs: RunFold | None = None) -> None:
        """Begin with no row seen."""
        self.calls_name_attempts = False
        self._runs = RunFold() if runs is None else runs
        self._adds_to_runs = runs is None
        self._order: dict[str, int] = {}
        self._weights: dict[str, Weights] = {}
        self._groups: dict[str, OpenGroup] = {}
        self._attempts: dict[str, dict[str, OpenAttempt]] = {}
        self._behind: OrderedDict[tuple[str, str], OpenGroup] = OrderedDict()
        self._left_groups: list[OpenGroup] = []
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._handlers: dict[str, Callable[[Row], Iterator[Ended]]] = {
            "run_started": self._start_run,
            "weight_sync": self._refit,
            "checkpoint_restored": self._restore,
            "group_reserved": self._reserve,
            "group_admitted": self._mark_group,
            "group_sealed": self._mark_group,
            "group_published": self._mark_group,
            "group_discarded": self._discard,
            "train_step": self._train,
            "attempt_dispatched": self._dispatch,
            "attempt_resumed": self._resume,
            "attempt_refused": self._refuse,
            "attempt_sealed": self._end_attempt,
            "attempt_abandoned": self._end_attempt,
        }

    def add(self, row: Row) -> list[Ended]:
        """Take the next row of the file, and give what ends with it."""
        if self._adds_to_runs:
            self._runs.add(row)
        if row["run"] not in self._order:
            self._order[row["run"]] = len(self._order)
        handler = self._handlers.get(row["event"])
        return [] if handler is None else list(handler(row))

    def still_open(self) -> Iterator[Ended]:
        """What no row has ended: interrupted if its run was killed, open otherwise."""
        runs = {run.run: run for run in self._runs.result()}
        killed = {run for run, summary in runs.items() if summary.ended_how == "killed"}

        def left(item: OpenGroup | OpenAttempt) -> tuple[Outcome, float | None]:
            return Outcome.INTERRUPTED if item.run in killed else Outcome.OPEN, runs[item.run].last_row

        attempts: dict[int, list[AttemptRecord]] = {}
        for attempt in (attempt for of_run in self._attempts.values() for attempt in of_run.values()):
            attempts.setdefault(id(attempt.group), []).append(attempt.left(*left(attempt)))
        for group in (*self._left_groups, *self._behind.values(), *self._groups.values()):
            yield Ended(group.left(*left(group)), (*group.ended, *attempts.pop(id(group), [])))
        for alone in attempts.values():
            yield Ended(None, tuple(alone))

    def _weights_of(self, run: str) -> Weights:
        return self._weights.get(run) or self._weights.setdefault(run, Weights())

    def _attempts_of(self, run: str) -> dict[str, OpenAttempt]:
        return self._attempts.setdefault(run, {})

    def _start_run(self, row: Row) -> Iterator[Ended]:
        self._weights_of(row["run"]).version = integer(row.get("weight_version"))
        return iter(())

    def _refit(self, row: Row) -> Iterator[Ended]:
        weights, run = self._weights_of(row["run"]), row["run"]
        if row.get("replaced_version") != row.get("new_version"):
            weights.refits += 1
            attempts = self._attempts_of(run)
            for attempt_id, tokens in paused_attempts(row.get("calls"), attempts):
                self.calls_name_attempts = True
                attempts[attempt_id].cut(tokens)
        weights.version = integer(row.get("new_version"))
        return iter(())

    def _restore(self, row: Row) -> Iterator[Ended]:
        for group_id in names(row.get("groups")):
            yield from self._bring_back(group_id, row["run"], name(row.get("from_run")))

    def _bring_back(self, group_id: str, run: str, origin_run: str | None) -> Iterator[Ended]:
        before = self._groups.get(group_id)
        if before is not None and (before.run == run or self._later(before.run, run)):
            return
        group = self._groups[group_id] = OpenGroup(group_id, run, origin_run)
        if before is not None or origin_run is not None:
            group.come_back(before)
        if before is not None:
            before.next_run = run
            yield from self._put_behind(before)

    def _put_behind(self, group: OpenGroup) -> Iterator[Ended]:
        """A later run has a group of this id; rows of the run that has it now may still come."""
        self._behind[group.run, group.group_id] = group
        if len(self._behind) > MAX_BEHIND:
            _, oldest = self._behind.popitem(last=False)
            if oldest.next_run is None:
                self._left_groups.append(oldest)
            else:
                yield Ended(oldest.record(Outcome.BROUGHT_BACK), tuple(oldest.ended))

    def _later(self, run: str, than: str) -> bool:
        return self._order[run] > self._order[than]

    def _reserve(self, row: Row) -> Iterator[Ended]:
        group_id, run, origin = str(row.get("group_id")), row["run"], name(row.get("origin_run"))
        before = self._groups.get(group_id)
        if origin not in (None, run):
            yield from self._bring_back(group_id, run, origin)
        elif before is None or self._later(run, before.run):
            self._groups[group_id] = OpenGroup(group_id, run)
            if before is not None:
                yield from self._put_behind(before)
        group = self._held(group_id, run)
        if group is not None:
            group.reserve(row)

    def _group_of(self, group_id: str | None, run: str) -> Iterator[Ended]:
        """Make sure that a group is open in a run, unless it ended there or a later run has it."""
        if group_id is None:
            return
        if self._held(group_id, run) is not None:
            return
        ended_by = self._ended.get(group_id)
        if group_id in self._groups or ended_by is None or self._later(run, ended_by):
            yield from self._bring_back(group_id, run, ended_by)

    def _held(self, group_id: str | None, run: str) -> OpenGroup | None:
        """The group, if it is open in this run, whether or not a later run has it too."""
        if group_id is None:
            return None
        group = self._groups.get(group_id)
        return group if group is not None and group.run == run else self._behind.get((run, group_id))

    def _mark_group(self, row: Row) -> Iterator[Ended]:
        yield from self._group_of(name(row.get("group_id")), row["run"])
        group = self._held(name(row.get("group_id")), row["run"])
        if group is not None:
            marks = {"group_admitted": group.admit, "group_sealed": group.seal, "group_published": group.publish}
            marks[row["event"]](row)

    def _take(self, group_id: str, run: str) -> OpenGroup | None:
        """The group, which ends now; a run may end one that an earlier run left, but no earlier run one of a later."""
        behind = self._behind.pop((run, group_id), None)
        if behind is not None:
            return behind
        group = self._groups.get(group_id)
        if group is None or self._later(group.run, run):
            return None
        self._ended[group_id] = run
        self._ended.move_to_end(group_id)
        if len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)
        return self._groups.pop(group_id)

    def _open_if_unknown(self, group_id: str, run: str) -> Iterator[Ended]:
        if group_id not in self._groups:
            yield from self._group_of(group_id, run)

    def _discard(self, row: Row) -> Iterator[Ended]:
        group_id = str(row.get("group_id"))
        yield from self._open_if_unknown(group_id, row["run"])
        group = self._take(group_id, row["run"])
        if group is not None:
            yield Ended(group.record(Outcome.DISCARDED, reason=name(row.get("reason"))), tuple(group.ended))

    def _train(self, row: Row) -> Iterator[Ended]:
        for group_id in names(row.get("group_ids")):
            yield from self._open_if_unknown(group_id, row["run"])
            group = self._take(group_id, row["run"])
            if group is not None:
                yield Ended(*group.train(row))

    def _dispatch(self, row: Row) -> Iterator[Ended]:
        attempt = self._attempt_for(row)
        yield from self._join_group(attempt, row)
        attempt.dispatch(row)

    def _attempt_for(self, row: Row) -> OpenAttempt:
        """The row's attempt, opened if need be."""
        attempt_id, run = str(row.get("attempt_id")), row["run"]
        attempts = self._attempts_of(run)
        attempt = attempts.get(attempt_id)
        if attempt is None:
            attempt = attempts[attempt_id] = OpenAttempt(attempt_id, run, self._weights_of(run))
            attempt.begin(row)
        return attempt

    def _join_group(self, attempt: OpenAttempt, row: Row) -> Iterator[Ended]:
        if attempt.group is not None:
            return
        yield from self._group_of(attempt.group_id, attempt.run)
        group = self._held(attempt.group_id, attempt.run)
        if group is not None:
            attempt.group = group
            attempt.prompt_id = group.prompt_id if attempt.prompt_id is None else attempt.prompt_id
            group.open += 1
            group.dispatch(row)

    def _resume(self, row: Row) -> Iterator[Ended]:
        if row.get("level") == "sibling":
            yield from self._keep(row)
            return
        attempt = self._attempt_for(row)
        attempt.resume(row)
        if attempt.group_id is None:
            attempt.group_id = self._group_id_of(row.get("previous_attempt_id"))
        yield from self._join_group(attempt, row)

    def _group_id_of(self, attempt_id: object) -> str | None:
        """The group of an attempt that is open in some run, the one that began last."""
        runs = reversed(self._attempts.values())
        return next((of_run[name].group_id for of_run in runs if (name := str(attempt_id)) in of_run), None)

    def _keep(self, row: Row) -> Iterator[Ended]:
        yield from self._group_of(name(row.get("group_id")), row["run"])
        attempt = OpenAttempt(str(row.get("attempt_id")), row["run"], self._weights_of(row["run"]))
        attempt.describe(row)
        group = self._held(attempt.group_id, attempt.run)
        if group is not None and attempt.prompt_id is None:
            attempt.prompt_id = group.prompt_id
        yield from self._file(attempt.kept(row), group)

    def _refuse(self, row: Row) -> Iterator[Ended]:
        attempt = self._attempts_of(row["run"]).get(str(row.get("attempt_id")))
        if attempt is not None:
            attempt.refuse(row)
        return iter(())

    def _end_attempt(self, row: Row) -> Iterator[Ended]:
        attempt = self._attempts_of(row["run"]).pop(str(row.get("attempt_id")), None)
        if attempt is None:
            return
        group = attempt.group
        if group is not None:
            group.open -= 1
        yield from self._file(attempt.end(row), group)

    def _file(self, record: AttemptRecord, group: OpenGroup | None) -> Iterator[Ended]:
        """Keep an attempt that has ended with its group until that ends; let it go if the group has ended before."""
        if group is None or self._held(group.group_id, group.run) is not group:
            yield Ended(None, (record,))
        else:
            group.end_attempt(record)
