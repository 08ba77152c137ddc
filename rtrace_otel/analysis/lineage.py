"""The runs of a job as a line of descent: which checkpoint each went on from, and what of its work survived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rtrace_otel.analysis.ledger.branch import Branch
from rtrace_otel.analysis.ledger.follow import RolloutFollower
from rtrace_otel.analysis.ledger.stops import OpenStop
from rtrace_otel.analysis.runs import HowEnded, RunFold, RunSummary
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class LineageRun:
    """One run that did some work; one that restored a checkpoint in the middle of its life is there for each part.

    Attributes:
        run: Its id.
        job: Number of its job, from 0: a file can hold several, one after another.
        ended_how: How it ended.
        took_over_from: The run that stopped before it, if it went on with that one's job.
        checkpoint_id: The checkpoint that it restored, as it says.
        checkpoint_step: That checkpoint's step.
        checkpoint_run: The run that published it, if the file has the publication.
        steps_surviving: Steps that it trained and that no later restore gave up, as first and last of each stretch.
        steps_given_up: Steps that it trained and that a later restore went back behind, the same way.
    """

    run: str
    job: int
    ended_how: HowEnded
    took_over_from: str | None
    checkpoint_id: str | None
    checkpoint_step: int | None
    checkpoint_run: str | None
    steps_surviving: tuple[tuple[int, int], ...]
    steps_given_up: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Lineage:
    """All runs that did some work, in the order in which they began to.

    Attributes:
        runs: As above.
    """

    runs: tuple[LineageRun, ...]

    def self_check(self) -> None:
        """A run takes over only from one that began before it, and keeps a step or gives it up, never both at once.

        Raises:
            AssertionError: It does not hold.
        """
        seen: set[str] = set()
        for run in self.runs:
            assert run.took_over_from is None or run.took_over_from in seen, run
            seen.add(run.run)


def lineage(events: Iterable[Row]) -> Lineage:
    """The lineage of a file.

    Args:
        events: Rows in file order, of all runs.
    """
    runs, follower = RunFold(), RolloutFollower()
    for row in events:
        runs.add(row)
        follower.add(row)
    return lineage_of(follower, runs.result())


def lineage_of(follower: RolloutFollower, runs: Iterable[RunSummary]) -> Lineage:
    """The lineage, from what was followed.

    Args:
        follower: After the last row.
        runs: All runs of the file.
    """
    ended_how = {run.run: run.ended_how for run in runs}
    stops = {stop.restored: stop for stop in follower.stops}
    late: dict[Branch, list[int]] = {}
    for stop in follower.stops:
        late.setdefault(stop.stopped, []).extend(stop.steps_late)
    return Lineage(
        tuple(
            _run(branch, stops.get(branch), ended_how.get(branch.run, "unknown"), late.get(branch, []))
            for branch in follower.heirs.branches
        )
    )


def _run(branch: Branch, stop: OpenStop | None, ended_how: HowEnded, late: list[int]) -> LineageRun:
    given_up = [step for window in branch.windows if window.given_up for _, step in window.steps]
    return LineageRun(
        run=branch.run,
        job=branch.job,
        ended_how=ended_how,
        took_over_from=stop.stopped.run if stop is not None else None,
        checkpoint_id=branch.said.checkpoint_id if branch.said is not None else None,
        checkpoint_step=branch.said.step if branch.said is not None else None,
        checkpoint_run=branch.base.branch.run if branch.base is not None else None,
        steps_surviving=_stretches(
            [step for window in branch.windows if not window.given_up for _, step in window.steps]
        ),
        steps_given_up=_stretches(given_up + late),
    )


def _stretches(steps: list[int]) -> tuple[tuple[int, int], ...]:
    """First and last of each stretch of consecutive numbers."""
    ordered = sorted(set(steps))
    if not ordered:
        return ()
    breaks = [(before, after) for before, after in pairwise(ordered) if after != before + 1]
    firsts = [ordered[0], *(after for _, after in breaks)]
    lasts = [*(before for before, _ in breaks), ordered[-1]]
    return tuple(zip(firsts, lasts, strict=True))
