"""Columns of the charts of the job over time: what was open and waiting, how fast tokens came and went, who waited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import nlargest
from typing import Any, Final, NamedTuple

from rtrace_otel.analysis.overview import Overview
from rtrace_otel.analysis.step_results import StepRecord, Verdict
from rtrace_otel.analysis.timeline.results import SERIES
from rtrace_otel.report.html.columns import Columns, numbers

MAX_WAITS: Final = 2_000
"""Waits that the charts mark, the longest ones."""

_KINDS: Final = (Verdict.TRAINER_WAITS, Verdict.ROLLOUTS_WAIT)


class Wait(NamedTuple):
    """A stretch of time in which one side waited for the other, in Unix seconds."""

    start: float
    end: float
    verdict: Verdict


def flow_tables(found: Overview) -> Mapping[str, Columns]:
    """The tables ``flow`` (means over short stretches of time) and ``waits`` (``kind`` 0: trainer, 1: rollouts)."""
    series, waits = found.timeline.series, marked_waits(found)
    count = len(series.values[SERIES[0]])
    return {
        "flow": {
            "t": numbers([series.start + (place + 0.5) * series.width for place in range(count)], unit=0.001),
            **{name: numbers(series.values[name], unit=0.001) for name in SERIES},
        },
        "waits": {
            "start": numbers([wait.start for wait in waits], unit=0.001),
            "end": numbers([wait.end for wait in waits], unit=0.001),
            "kind": numbers([_KINDS.index(wait.verdict) for wait in waits]),
        },
    }


def flow_facts(found: Overview) -> dict[str, Any]:
    """What the charts say in words: width of a point, all waits and those that are marked, and the stops."""
    stops = found.timeline.bands.stops
    return {
        "width": found.timeline.series.width,
        "waits": sum(1 for _ in _waits(found)),
        "marked": len(marked_waits(found)),
        "stops": [[stop.start, stop.end] for stop in stops],
    }


def marked_waits(found: Overview) -> list[Wait]:
    """The longest waits in order of time."""
    return sorted(nlargest(MAX_WAITS, _waits(found), key=lambda wait: wait.end - wait.start))


def _waits(found: Overview) -> Iterator[Wait]:
    for step in found.steps.steps:
        wait = _wait(step)
        if wait is not None:
            yield wait


def _wait(step: StepRecord) -> Wait | None:
    """The trainer waits before a step; rollouts that are ahead wait while it trains."""
    if step.verdict not in _KINDS or step.started is None:
        return None
    if step.verdict == Verdict.TRAINER_WAITS:
        return None if step.wait_s is None else Wait(step.started - step.wait_s, step.started, step.verdict)
    return None if step.train_s is None else Wait(step.started, step.started + step.train_s, step.verdict)
