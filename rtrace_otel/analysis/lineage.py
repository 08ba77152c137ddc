"""The runs of a job as a line of descent: which checkpoint each went on from, and what of its work survived."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rtrace_otel.analysis.ledger.follow import RolloutFollower
from rtrace_otel.analysis.runs import HowEnded, RunFold, RunSummary
from rtrace_otel.events import Row


@dataclass(frozen=True, slots=True)
class LineageRun:
    """One run that did some work.

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
            assert run.took_over_from is None or run.took_over_from in seen or run.took_over_from == run.run, run
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
    given_up: dict[str, list[int]] = {}
    for stop in follower.stops:
        for run, step in stop.steps_lost:
            given_up.setdefault(run, []).append(step)
    surviving: dict[str, list[int]] = {}
    for branch in follower.heirs.branches:
        surviving.setdefault(branch.run, []).extend(step for window in branch.windows for _, step in window.steps)
    jobs = {branch.run: branch.job for branch in follower.heirs.branches}
    found = []
    for run, job in jobs.items():
        open_stop = stops.get(run)
        said = open_stop.said if open_stop is not None else None
        checkpoint = open_stop.checkpoint if open_stop is not None else None
        found.append(
            LineageRun(
                run=run,
                job=job,
                ended_how=ended_how.get(run, "unknown"),
                took_over_from=open_stop.stopped.run if open_stop is not None else None,
                checkpoint_id=said.checkpoint_id if said is not None else None,
                checkpoint_step=said.step if said is not None else None,
                checkpoint_run=checkpoint.branch.run if checkpoint is not None else None,
                steps_surviving=_stretches(surviving.get(run, [])),
                steps_given_up=_stretches(given_up.get(run, [])),
            )
        )
    return Lineage(tuple(found))


def _stretches(steps: list[int]) -> tuple[tuple[int, int], ...]:
    """First and last of each stretch of consecutive numbers."""
    ordered = sorted(set(steps))
    if not ordered:
        return ()
    breaks = [(before, after) for before, after in pairwise(ordered) if after != before + 1]
    firsts = [ordered[0], *(after for _, after in breaks)]
    lasts = [*(before for before, _ in breaks), ordered[-1]]
    return tuple(zip(firsts, lasts, strict=True))
