"""Warnings about a trace that is still being written, in words."""

from __future__ import annotations

from typing import Final

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.tail import TailState
from rtrace_otel.analysis.watch.results import Snapshot
from rtrace_otel.report.damage import damage_sentences
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import plural, seconds, shortener

QUIET_S: Final = 60.0
"""A job that goes on writes rows more often than this; one that does not is worth a look."""

_TORN_S: Final = 5.0
"""A line is written at once; one that has had no end for this long was torn."""


def warnings(snapshot: Snapshot, read: ReadReport, state: TailState) -> list[str]:
    """What a person should look at, the most urgent first.

    Args:
        snapshot: The trace now.
        read: What was wrong with its lines.
        state: What the last look at the file found.
    """
    found = [*_of_file(state), *_of_time(snapshot, state), *_of_runs(snapshot), *_of_rows(snapshot)]
    if state.begun_anew:
        found.append(f"the file was replaced or cut short, and read from its begin again{_times(state.begun_anew)}")
    return [printable(text) for text in found + damage_sentences(read)]


def _times(number: int) -> str:
    return "" if number == 1 else f" ({number:,} times)"


def _of_file(state: TailState) -> list[str]:
    if state.problem is not None:
        return [f"the file cannot be read now: {state.problem}; trying again"]
    if state.missing and state.ever_read:
        return ["the file is gone; waiting for it to come back"]
    return []


def _of_time(snapshot: Snapshot, state: TailState) -> list[str]:
    if snapshot.last_row is None:
        return []
    quiet = snapshot.now - snapshot.last_row
    found = []
    goes_on = any(run.ended_how == "unknown" for run in snapshot.runs)
    if quiet > QUIET_S and goes_on:
        found.append(f"no row for {seconds(quiet)}: the job is stuck, stopped, or has nothing to say")
    if quiet < -QUIET_S:
        found.append(f"the latest row is {seconds(-quiet)} ahead of the clock of this machine")
    if state.torn_bytes and quiet > _TORN_S and not state.bytes_behind:
        found.append(f"the last line has no end yet ({plural(state.torn_bytes, 'byte')})")
    return found


def _of_runs(snapshot: Snapshot) -> list[str]:
    killed = [run for run in snapshot.runs if run.ended_how == "killed"]
    if not killed:
        return []
    short = shortener(run.run for run in snapshot.runs)
    last = killed[-1]
    when = "" if last.last_row is None else f"; its last row is {seconds(snapshot.now - last.last_row)} old"
    before = "" if len(killed) == 1 else f", as {plural(len(killed) - 1, 'run')} before it"
    return [f"run {short(last.run)} was killed{before}{when}"]


def _of_rows(snapshot: Snapshot) -> list[str]:
    found = []
    if snapshot.rows_lost:
        found.append(f"{plural(snapshot.rows_lost, 'row')} lost before they could be written (trace_gap)")
    if snapshot.clock_steps:
        found.append(f"clock of a host stepped{_times(snapshot.clock_steps)}; durations across it are not exact")
    if snapshot.attempts.forgotten:
        found.append(f"{plural(snapshot.attempts.forgotten, 'open attempt')} too many to follow")
    return found
