"""The screen of ``rtrace watch``: a snapshot as lines of any width and height."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.tail import TailState
from rtrace_otel.analysis.runs import RunSummary
from rtrace_otel.analysis.watch.results import Happening, Snapshot
from rtrace_otel.report.cells import clipped, sparkline
from rtrace_otel.report.document import printable
from rtrace_otel.report.frame import Heading, Line, Section, Tone, fitted, joined, listing
from rtrace_otel.report.numbers import age, count, moment, plural, seconds, shortener
from rtrace_otel.report.watch_words import warnings

_LABEL: Final = 11
_ID: Final = 24
"""Columns that an id or a reason may take in a list."""

_MOST_WARNINGS: Final = 8


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a frame is shown.

    Attributes:
        width: Columns.
        height: Lines; ``None`` where there is no edge.
        blocks: Whether it can show block characters.
        keys: Whether a key ends it.
    """

    width: int
    height: int | None
    blocks: bool = True
    keys: bool = False


def frame(snapshot: Snapshot, read: ReadReport, state: TailState, screen: Screen) -> list[Line]:
    """The lines of one frame; none is wider than the screen, and there are no more than it has.

    Args:
        snapshot: The trace now.
        read: What was wrong with its lines.
        state: What the last look at the file found.
        screen: Its size.
    """
    sections = [*_header(snapshot, state, screen), *_warnings(snapshot, read, state, screen)]
    if snapshot.rows:
        sections += [*_numbers(snapshot, screen), _runs(snapshot, screen), _slowest(snapshot, screen)]
        sections.append(_happenings(snapshot, screen))
    if screen.keys:
        sections.append(_fixed(3, [Line(clipped("q quits", screen.width), "faint")]))
    return fitted(sections, screen.height)


def watch_json(snapshot: Snapshot, read: ReadReport, state: TailState) -> dict[str, Any]:
    """The snapshot and its warnings as JSON values.

    Args:
        snapshot: The trace now.
        read: What was wrong with its lines.
        state: What the last look at the file found.
    """
    return {**asdict(snapshot), "warnings": warnings(snapshot, read, state)}


def _fixed(rank: int, lines: Sequence[Line]) -> Section:
    return Section(rank, len(lines), len(lines), lambda _: lines)


def _header(snapshot: Snapshot, state: TailState, screen: Screen) -> list[Section]:
    path = printable(state.path)
    name = path if len(path) + 26 <= screen.width else printable(Path(state.path).name)
    title = joined([(name, 0), (f"{moment(snapshot.now)} UTC", 1)], screen.width, "   ")
    if state.missing and not state.ever_read:
        second = Line(clipped(f"waiting for {path}: no such file yet", screen.width), "finding")
    elif not snapshot.rows:
        second = Line(clipped("no rollout event in this file yet", screen.width))
    else:
        second = _labelled("rows", _rows(snapshot, state), screen)
    return [_fixed(0, [Line(title, "title")]), _fixed(0, [second])]


def _rows(snapshot: Snapshot, state: TailState) -> list[tuple[str, int]]:
    last = "no row has a time"
    if snapshot.last_row is not None:
        last = f"last row {seconds(max(snapshot.now - snapshot.last_row, 0.0))} ago"
    parts = [(count(snapshot.rows), 0), (f"{_rate(snapshot.rates.rows)}/s", 2), (last, 1)]
    if state.bytes_behind:
        parts.append((f"{state.bytes_behind / 1e6:,.0f} MB still to read", 0))
    return parts


def _warnings(snapshot: Snapshot, read: ReadReport, state: TailState, screen: Screen) -> list[Section]:
    texts = warnings(snapshot, read, state)
    lines = [Line(clipped(f"! {text}", screen.width), "finding") for text in texts]
    more = len(lines) - _MOST_WARNINGS
    if more > 0:
        lines[_MOST_WARNINGS:] = [Line(clipped(f"! and {more} more: rtrace check", screen.width), "finding")]
    return [Section(1, 1, len(lines), lambda lines_given: lines[:lines_given])] if lines else []


def _numbers(snapshot: Snapshot, screen: Screen) -> list[Section]:
    a, g, r = snapshot.attempts, snapshot.groups, snapshot.rates
    refused = f" ({count(a.refused)} refused)" if a.refused else ""
    attempts = [(f"{count(a.running)} open{refused}", 0), (f"{count(a.sealed)} sealed", 1)]
    attempts += _unless_none([(a.abandoned, "abandoned", 2), (a.interrupted, "interrupted", 3)])
    attempts += _unless_none([(a.left_open, "left open", 3)])
    groups = [(f"{count(g.ready)} ready to train", 0), (f"{count(g.unfinished)} unfinished", 2)]
    groups += [(f"{count(g.trained)} trained", 1)]
    groups += _unless_none(
        [(g.discarded, "discarded", 3), (g.brought_back, "brought back", 5), (g.interrupted, "interrupted", 4)]
    )
    groups += _unless_none([(g.left_open, "left open", 4)])
    tokens = "- tokens trained" if r.trained_tokens is None else f"{_rate(r.trained_tokens)} tokens trained"
    rates = [(f"{_rate(r.dispatched)} dispatched", 1), (f"{_rate(r.sealed)} sealed", 2), (tokens, 0)]
    if r.seconds is not None:
        rates.append((f"over {r.seconds:.0f} s", 3))
    return [
        _fixed(2, [_labelled("attempts", attempts, screen)]),
        _fixed(2, [_labelled("groups", groups, screen)]),
        _fixed(5, [_labelled("per second", rates, screen)]),
        _fixed(4, [_age_line(snapshot, screen)]),
        *_under_way(snapshot, screen),
    ]


def _unless_none(parts: Sequence[tuple[int, str, int]]) -> list[tuple[str, int]]:
    return [(f"{count(number)} {what}", rank) for number, what, rank in parts if number]


def _labelled(label: str, parts: Sequence[tuple[str, int]], screen: Screen, tone: Tone = "plain") -> Line:
    text = joined(parts, max(screen.width - _LABEL, 1))
    return Line(clipped(f"{label:<{_LABEL}}{text}", screen.width), tone)


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _age_line(snapshot: Snapshot, screen: Screen) -> Line:
    if not snapshot.steps:
        return _labelled("batch age", [("no step trained yet", 0)], screen)
    last = snapshot.steps[-1]
    value = f"{age(last.batch_age)} in step {last.step}"
    room = min(screen.width - _LABEL - len(value) - 2, len(snapshot.steps))
    if not screen.blocks or room < 2:
        return _labelled("batch age", [(value, 0)], screen)
    curve = sparkline([step.batch_age for step in snapshot.steps[-room:]])
    return _labelled("batch age", [(f"{value}  {curve}", 0)], screen)


def _under_way(snapshot: Snapshot, screen: Screen) -> list[Section]:
    parts = []
    for rank, phase in enumerate(snapshot.under_way):
        what = f"{phase.phase} {phase.step}" if phase.step is not None else phase.phase
        lasts = "" if phase.since is None else f" for {seconds(max(snapshot.now - phase.since, 0.0))}"
        parts.append((f"{what}{lasts}", rank))
    return [_fixed(6, [_labelled("under way", parts, screen)])] if parts else []


def _list(rank: int, headings: Sequence[Heading], rows: Sequence[Sequence[str]], screen: Screen) -> Section:
    most = len(rows) + 1 if rows else 0
    return Section(rank, 2, most, lambda given: listing(headings, rows[: given - 1], screen.width), apart=True)


def _runs(snapshot: Snapshot, screen: Screen) -> Section:
    short = shortener(run.run for run in snapshot.runs)
    headings = (
        Heading("run"),
        Heading("since", 2),
        Heading("end", 1),
        Heading("restored from", 3),
        Heading("steps", 4),
        Heading("rows", 5, right=True),
        Heading("host", 6),
    )
    rows = [_run_cells(run, short, snapshot.now) for run in reversed(snapshot.runs)]
    return _list(7, headings, rows, screen)


def _run_cells(run: RunSummary, short: Callable[[Any], str], now: float) -> list[str]:
    ended: dict[str, str] = {"clean": f"ended: {printable(run.reason)}", "killed": "killed", "unknown": "no end yet"}
    steps = "" if run.first_step is None else f"{run.first_step} to {run.last_step}"
    return [
        clipped(printable(short(run.run)), _ID),
        _since(run.started, now),
        clipped(ended[run.ended_how], _ID),
        "" if run.restored_from is None else clipped(printable(run.restored_from), _ID),
        steps,
        count(run.rows),
        "" if run.host is None else clipped(printable(run.host), _ID),
    ]


def _since(t: float | None, now: float) -> str:
    """The time of day, with the date if it is another day's."""
    text = moment(t)
    today = datetime.datetime.fromtimestamp(now, datetime.UTC).strftime("%Y-%m-%d ")
    return text.removeprefix(today)


def _slowest(snapshot: Snapshot, screen: Screen) -> Section:
    short = shortener(attempt.attempt_id for attempt in snapshot.slowest)
    headings = (
        Heading("open longest"),
        Heading("for", 0, right=True),
        Heading("prompt", 1),
        Heading("state", 2),
        Heading("since", 4),
        Heading("instance", 3),
        Heading("group", 5),
    )
    rows = [
        [
            clipped(printable(short(attempt.attempt_id)), _ID),
            "-" if attempt.since is None else seconds(max(snapshot.now - attempt.since, 0.0)),
            clipped(printable(attempt.prompt_id), _ID),
            "refused" if attempt.refused else "running",
            _since(attempt.since, snapshot.now),
            "" if attempt.instance is None else clipped(printable(attempt.instance), _ID),
            "" if attempt.group_id is None else clipped(printable(attempt.group_id), _ID),
        ]
        for attempt in snapshot.slowest
    ]
    return _list(8, headings, rows, screen)


def _happenings(snapshot: Snapshot, screen: Screen) -> Section:
    headings = (
        Heading("latest"),
        Heading("", 1),
        Heading("ago", 0, right=True),
        Heading("took", 2, right=True),
        Heading("", 3),
        Heading("run", 4),
    )
    kinds = (snapshot.refits, snapshot.checkpoints, snapshot.restores)
    total = sum(map(len, kinds))
    short = shortener(run.run for run in snapshot.runs)

    def draw(given: int) -> list[Line]:
        rows = [_happening_cells(one, short, snapshot.now) for one in _latest(kinds, given - 1)]
        return listing(headings, rows, screen.width)

    return Section(9, 2, total + 1 if total else 0, draw, apart=True)


def _latest(kinds: Sequence[Sequence[Happening]], most: int) -> list[Happening]:
    """The latest of each kind, then what else is latest, newest first: refits do not push a restore out."""
    first = [happened[-1] for happened in kinds if happened]
    rest = [one for happened in kinds for one in happened[:-1]]
    kept = sorted(first, key=_when, reverse=True)[:most]
    kept += sorted(rest, key=_when, reverse=True)[: most - len(kept)]
    return sorted(kept, key=_when, reverse=True)


def _when(happened: Happening) -> float:
    return -1.0 if happened.t is None else happened.t


def _happening_cells(one: Happening, short: Callable[[Any], str], now: float) -> list[str]:
    what = f"to version {printable(one.what)}" if one.kind == "refit" else printable(one.what)
    effect = "" if one.calls_cut is None else f"{plural(one.calls_cut, 'call')} cut"
    if one.groups is not None:
        effect = plural(one.groups, "group") + (" brought back" if one.kind == "restore" else "")
    ago = "-" if one.t is None else seconds(max(now - one.t, 0.0))
    return [one.kind, clipped(what, _ID), ago, seconds(one.seconds), effect, clipped(printable(short(one.run)), _ID)]
