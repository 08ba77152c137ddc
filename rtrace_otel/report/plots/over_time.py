"""Attempts in lanes, and what was open and how fast it went, over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from rtrace_otel.analysis.plotted import Plotted
from rtrace_otel.analysis.timeline.levels import Levels
from rtrace_otel.analysis.timeline.results import (
    GENERATED_TOKENS,
    OPEN_ATTEMPTS,
    QUEUED_GROUPS,
    TRAINED_TOKENS,
    Timeline,
)
from rtrace_otel.analysis.timeline.states import STATES, State
from rtrace_otel.report.numbers import plural, seconds
from rtrace_otel.report.plots.style import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    LIGHT,
    PINK,
    RED,
    SKY,
    SOFT,
    YELLOW,
    count_axis,
    heading,
    legend_below,
    time_axis,
)

_COLORS: Final = {
    State.TRAINED: SKY,
    State.SEALED: BLUE,
    State.KEPT: GREEN,
    State.RESUMED: GREEN,
    State.DISCARDED: PINK,
    State.ABANDONED: YELLOW,
    State.INTERRUPTED: RED,
    State.LOST: RED,
    State.OPEN: GRAY,
}
_FEW_LANES: Final = 150
"""Above this there is no gap between lanes: it would be thinner than a dot."""

MOST_STEPS: Final = 240
"""Steps of a series; more would run into each other at the width of a column."""

_HATCHED: Final = frozenset({State.RESUMED, State.LOST})
_STRIP: Final = 0.05
"""Height of the strips of steps and checkpoints, as a share of the lanes' height."""


def draw_timeline(several: Sequence[Axes], found: Plotted) -> None:
    """Attempts as bars in lanes, coloured by what became of them; above them steps and checkpoints."""
    (axes,) = several
    timeline = found.timeline
    origin, length = span_of(timeline)
    for place, state in enumerate(STATES):
        bars = list(_bars(timeline, place, origin))
        if bars:
            color = _COLORS[state]
            hatch: dict[str, Any] = {"hatch": "////", "edgecolor": "white"} if state in _HATCHED else {}
            axes.add_collection(PolyCollection(bars, facecolor=color, linewidth=0, rasterized=True, **hatch))
    strip = max(timeline.lanes * _STRIP, 0.6)
    top = timeline.lanes + 0.4 * strip
    bands = timeline.bands
    _strip(axes, [(step.start - origin, step.end - origin) for step in bands.steps], top, strip, INK)
    _strip(axes, [(c.start - origin, c.end - origin) for c in bands.checkpoints], top + 1.3 * strip, strip, GRAY)
    for label, y in (("steps", top), ("checkpoints", top + 1.3 * strip)):
        axes.annotate(label, (1.0, y + strip / 2), (4, 0), xycoords=axes.get_yaxis_transform(),
                      textcoords="offset points", va="center", fontsize=7, color=SOFT)  # fmt: skip
    _stops(axes, found)
    axes.set_ylim(0, top + 2.6 * strip)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    heading(axes, "Rollout attempts", _told(timeline))
    time_axis(axes, length)
    _legend(axes, timeline)


def draw_rates(several: Sequence[Axes], found: Plotted) -> None:
    """Open attempts and waiting groups above, tokens per second below."""
    above, below = several
    timeline = found.timeline
    origin, length = span_of(timeline)
    counts = ((OPEN_ATTEMPTS, "open attempts", BLUE, True), (QUEUED_GROUPS, "published groups", YELLOW, False))
    rates = ((GENERATED_TOKENS, "generated", SKY, True), (TRAINED_TOKENS, "trained", RED, False))
    for axes, lines in ((above, counts), (below, rates)):
        for name, label, color, filled in lines:
            moments, values = coarse(timeline.series, name, origin)
            if filled:
                axes.fill_between(moments, values, step="post", color=color, alpha=0.35, linewidth=0, label=label)
            else:
                axes.step(moments, values, where="post", color=color, label=label)
        count_axis(axes)
        _stops(axes, found)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1.02), ncols=2)
    heading(above, "Open attempts and queue")
    heading(below, "Tokens per second")
    above.tick_params(labelbottom=False)
    time_axis(above, length, label="")
    above.set_xlabel("")
    time_axis(below, length)


def coarse(series: Levels, name: str, origin: float) -> tuple[list[float], list[float]]:
    """A series as steps that a reader can tell apart: each is the mean of some buckets, and the last one ends at zero.

    Args:
        series: The series.
        name: Which of them.
        origin: Moment from which time counts, in Unix seconds.

    Returns:
        Where each step begins, in seconds, and its height.
    """
    values = series.values[name]
    together = -(-len(values) // MOST_STEPS) or 1
    parts = [values[place : place + together] for place in range(0, len(values), together)]
    first, width = series.start - origin, series.width * together
    moments = [first + place * width for place in range(len(parts))] + [first + series.width * len(values)]
    return moments, [sum(part) / len(part) for part in parts] + [0.0]


def span_of(timeline: Timeline) -> tuple[float, float]:
    """First moment of a timeline, in Unix seconds, and its length in seconds."""
    start = timeline.start or 0.0
    return start, max((timeline.end or start) - start, 1e-3)


def _bars(timeline: Timeline, state: int, origin: float) -> Iterator[Sequence[tuple[float, float]]]:
    columns = timeline.attempts
    gap = 0.16 if timeline.lanes <= _FEW_LANES else 0.0
    for place in range(len(columns)):
        if columns.state[place] == state:
            start, end = columns.start[place] - origin, columns.end[place] - origin
            low = timeline.lanes - columns.lane[place] - 1 + gap / 2
            high = low + 1 - gap
            yield ((start, low), (end, low), (end, high), (start, high))


def _strip(axes: Axes, stretches: Sequence[tuple[float, float]], low: float, height: float, color: str) -> None:
    axes.broken_barh([(a, b - a) for a, b in stretches], (low, height), facecolor=color, edgecolor=color, linewidth=0.6)


def _stops(axes: Axes, found: Plotted) -> None:
    """Gray where nothing ran."""
    origin, length = span_of(found.timeline)
    for stop in found.timeline.bands.stops:
        begin, end = stop.start - origin, stop.end - origin
        axes.axvspan(begin, max(end, begin + 0.002 * length), facecolor=LIGHT, alpha=0.8, linewidth=0, zorder=0)


def _told(timeline: Timeline) -> str:
    text = f"{plural(timeline.attempts_total, 'attempt')} in {plural(timeline.lanes, 'lane')}"
    left_out = timeline.attempts_matching - timeline.attempts_shown
    text += f", {left_out:,} of them not drawn" if left_out else ""
    stops = timeline.bands.stops
    dead = sum(stop.end - stop.start for stop in stops)
    return text + (f"; gray: nothing ran ({plural(len(stops), 'stop')}, {seconds(dead)})" if stops else "")


def _legend(axes: Axes, timeline: Timeline) -> None:
    counts = [timeline.attempts.state.count(place) for place in range(len(STATES))]
    handles = [
        Patch(
            facecolor=_COLORS[state],
            edgecolor="white",
            linewidth=0,
            hatch="////" if state in _HATCHED else None,
            label=f"{state} {number:,}",
        )
        for state, number in zip(STATES, counts, strict=True)
        if number
    ]
    if handles:
        legend_below(axes, min(len(handles), 4), handles=handles)
