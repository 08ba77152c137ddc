"""A fleet: every trace that was found, what all of them come to, and what those do that share a field."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rtrace_otel.fleet.cache import Cache
from rtrace_otel.fleet.numbers import Numbers, total_of
from rtrace_otel.fleet.results import Failure, FileResult, Outcome
from rtrace_otel.fleet.sources import Found

Engine = Callable[[Sequence[str]], Iterable[tuple[int, Outcome]]]
"""Reads traces and gives, in any order, each one's place and what came of it."""

SORTS: Final[Mapping[str, Callable[[Numbers], float]]] = {
    "tokens-lost": lambda numbers: numbers.lost.tokens,
    "rollouts-lost": lambda numbers: numbers.lost.rollouts,
    "stops": lambda numbers: numbers.stops,
    "dead": lambda numbers: numbers.dead_s,
    "waste": lambda numbers: -1.0 if numbers.waste is None else numbers.waste,
    "age": lambda numbers: _known(numbers.age_mean),
    "age-p95": lambda numbers: _known(numbers.age_at(0.95)),
    "findings": lambda numbers: sum(numbers.findings.values()),
    "rows": lambda numbers: numbers.rows,
}
"""What jobs can be sorted by, the greatest first; equal ones by path."""

BY_TIME: Final = "started"
BY_PATH: Final = "path"


@dataclass(frozen=True, slots=True)
class Group:
    """The jobs that have one value of a field.

    Attributes:
        value: The value; ``None`` for jobs that do not say.
        numbers: All of them together.
    """

    value: str | None
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class FleetReport:
    """Many jobs.

    Attributes:
        jobs: Each trace that could be read, in the order asked for.
        total: All of them together.
        by: The field that they are grouped by.
        groups: The groups, most jobs first, then by value; empty without ``by``.
        failures: What could not be read, by path.
        since: Only jobs whose last row is at or after this time are here, in Unix seconds.
        older: Jobs left out for it.
        undated: Jobs left out because none of their rows has a time.
    """

    jobs: tuple[FileResult, ...]
    total: Numbers
    by: str | None
    groups: tuple[Group, ...]
    failures: tuple[Failure, ...]
    since: float | None
    older: int
    undated: int

    def self_check(self) -> None:
        """Conservation: the total is the sum of the jobs, and so is the sum of the groups.

        Raises:
            AssertionError: It is not.
        """
        assert self.total == total_of(job.numbers for job in self.jobs), self.total
        assert self.total.jobs == len(self.jobs), self.total.jobs
        for job in self.jobs:
            job.numbers.self_check()
        if self.by is not None:
            groups = total_of(group.numbers for group in self.groups)
            near = 1e-9 * max(self.total.dead_s, self.total.attempt_s, 1.0)
            assert abs(groups.dead_s - self.total.dead_s) <= near, (groups, self.total)
            assert abs(groups.attempt_s - self.total.attempt_s) <= near, (groups, self.total)
            sums = replace(groups, dead_s=self.total.dead_s, attempt_s=self.total.attempt_s)
            assert sums == self.total, (groups, self.total)


def outcomes(found: Sequence[Found], engine: Engine, cache: Cache | None) -> Iterator[tuple[Outcome, bool]]:
    """What comes of each trace, in any order, and whether it was known from an earlier time.

    Args:
        found: The traces.
        engine: Reads those that are not in the cache.
        cache: Results of earlier times; ``None`` for none.
    """
    unknown: list[Found] = []
    for one in found:
        known = cache.get(one) if cache is not None else None
        if known is None:
            unknown.append(one)
        else:
            yield known, True
    for place, outcome in engine([one.path for one in unknown]):
        if cache is not None:
            cache.put(unknown[place], outcome)
        yield outcome, False


def fleet_report(
    outcomes: Iterable[Outcome], *, by: str | None = None, since: float | None = None, sort: str = BY_PATH
) -> FleetReport:
    """Add up a fleet. The report does not depend on the order of the outcomes.

    Args:
        outcomes: What came of each trace.
        by: Field to group the jobs by: ``service``, ``host``, or one of the jobs' own.
        since: Leave out jobs whose last row is before this time, in Unix seconds.
        sort: ``path``, ``started`` (the latest first), or a key of :data:`SORTS`.
    """
    every = tuple(outcomes)
    jobs = [outcome for outcome in every if isinstance(outcome, FileResult)]
    kept = [job for job in jobs if since is None or (job.last_row is not None and job.last_row >= since)]
    undated = 0 if since is None else sum(job.last_row is None for job in jobs)
    return FleetReport(
        jobs=tuple(_ordered(kept, sort)),
        total=total_of(job.numbers for job in kept),
        by=by,
        groups=() if by is None else tuple(_groups(kept, by)),
        failures=tuple(sorted((o for o in every if isinstance(o, Failure)), key=lambda failure: failure.path)),
        since=since,
        older=len(jobs) - len(kept) - undated,
        undated=undated,
    )


def _ordered(jobs: Iterable[FileResult], sort: str) -> list[FileResult]:
    by_path = sorted(jobs, key=lambda job: job.path)
    if sort == BY_PATH:
        return by_path
    if sort == BY_TIME:
        return sorted(by_path, key=lambda job: -1.0 if job.started is None else job.started, reverse=True)
    return sorted(by_path, key=lambda job: SORTS[sort](job.numbers), reverse=True)


def _groups(jobs: Iterable[FileResult], by: str) -> list[Group]:
    parts: dict[str | None, list[Numbers]] = {}
    for job in jobs:
        parts.setdefault(job.field(by), []).append(job.numbers)
    groups = [Group(value, total_of(numbers)) for value, numbers in parts.items()]
    return sorted(groups, key=lambda group: (-group.numbers.jobs, group.value is None, group.value or ""))


def _known(value: float | None) -> float:
    return float("-inf") if value is None else value
