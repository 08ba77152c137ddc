"""Static pictures: what is drawn, read back from the figures, and what the files are."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy
import pytest
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from rtrace_otel.analysis.plotted import Plotted, PlottedFold
from rtrace_otel.analysis.timeline.levels import LevelFold
from rtrace_otel.events import Row
from rtrace_otel.report.plots.ages import draw_ages
from rtrace_otel.report.plots.costs import draw_stops, draw_waste
from rtrace_otel.report.plots.over_time import MOST_STEPS, coarse, draw_rates, draw_timeline
from rtrace_otel.report.plots.sheet import PICTURES, each_picture, sheet, shown
from rtrace_otel.report.plots.style import STYLE, unit_of
from tests.cli.conftest import JOB
from tests.report.history import abandoned, dispatched, event, reserved, sealed, started, trace, trained


def plotted(rows: Sequence[Row]) -> Plotted:
    """What is shown of rows."""
    fold = PlottedFold()
    for row in rows:
        fold.add(row)
    return fold.result()


def drawn(draw: Callable[[Sequence[Axes], Plotted], None], found: Plotted, rows: int = 1) -> list[Axes]:
    """The axes after drawing."""
    with rc_context(STYLE):
        axes = list(Figure(layout="constrained").subplots(rows, 1, squeeze=False)[:, 0])
        draw(axes, found)
    return axes


def points(line: Line2D) -> list[tuple[float, float]]:
    """The points of a line."""
    return [(float(x), float(y)) for x, y in numpy.asarray(line.get_xydata())]


def bars_of(axes: Axes) -> list[tuple[float, float]]:
    """Begin and length of each bar that has a length."""
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return [(float(box.get_x()), float(box.get_width())) for box in boxes if box.get_width()]


def texts(axes: Axes) -> list[str]:
    """Every text that is written into a picture."""
    legend = axes.get_legend()
    return [
        axes.get_title(loc="left"),
        *(text.get_text() for text in axes.texts),
        *([] if legend is None else [text.get_text() for text in legend.get_texts()]),
    ]


def test_a_job_has_every_picture() -> None:
    """Attempts, ages, rates, waste and a stop."""
    assert list(PICTURES) == shown(plotted(JOB))


def test_the_timeline_has_a_bar_for_each_attempt() -> None:
    """X was trained; y was sealed and z open when the run was killed; w failed. Bars begin at 1000 s."""
    (axes,) = drawn(draw_timeline, plotted(JOB))
    bars = [path for found in axes.collections if isinstance(found, PolyCollection) for path in found.get_paths()]
    corners = [numpy.asarray(bar.vertices) for bar in bars]
    ends = [(float(corner[0][0]), float(corner[1][0])) for corner in corners if len(corner) == 5]
    assert {(2.0, 3.0), (7.0, 10.0), (8.0, 11.0), (15.0, 16.0)} <= set(ends)
    assert "4 attempts in 2 lanes; gray: nothing ran (1 stop, 1.0 s)" in texts(axes)
    assert {"abandoned 1", "trained 1"} <= set(texts(axes))


def test_the_age_of_each_step() -> None:
    """The line is the truest age that the file gives, and the restore stands before the first step after it."""
    (axes,) = drawn(draw_ages, plotted(JOB))
    (line,) = [line for line in axes.lines if line.get_label() == "batch age"]
    assert [(5.0, 0.0), (6.0, 1.375)] == points(line)
    assert [[(5.5, 0.0), (5.5, 1.0)]] == [points(line) for line in axes.lines if line.get_linestyle() == "--"]
    assert "restored" in texts(axes)


def test_what_was_not_trained() -> None:
    """Largest first, with its share; what is known only in part says so. 300 of 1,000 tokens were trained."""
    rows = trace(
        started("a"),
        reserved("a", "g"),
        *(dispatched("a", name) for name in "xyz"),
        {**sealed("a", "x"), "tokens": 300},
        {**abandoned("a", "y", "timeout"), "tokens": 600},
        {**abandoned("a", "z", "server_error"), "tokens": 100},
        trained("a", 1, 1, "g"),
    )
    (axes,) = drawn(draw_waste, plotted(rows))
    assert ["abandoned: timeout", "abandoned: server error"] == [label.get_text() for label in axes.get_yticklabels()]
    assert [600.0, 100.0] == [length for _, length in bars_of(axes)]
    assert {"600  60 %", "100  10 %", "3 rollouts, 1,000 tokens: 30 % were trained"} <= set(texts(axes))


def test_what_followed_a_stop() -> None:
    """Dead for 1 s; the first dispatch 3 s after the next run began, its first step 6 s after: 7 s in all."""
    (axes,) = drawn(draw_stops, plotted(JOB))
    assert [(0.0, 1.0), (1.0, 3.0), (4.0, 3.0)] == bars_of(axes)
    assert "7.0 s" in texts(axes)
    assert ["aaaaaaaa \u2192 bbbbbbbb"] == [label.get_text() for label in axes.get_yticklabels()]


def test_rates_keep_their_area() -> None:
    """A long series is drawn in fewer steps, each the mean of some buckets."""
    fold = LevelFold(("open",))
    for place in range(3000):
        fold.span("open", float(place), float(place) + 0.5, place % 7)
    series = fold.result()
    moments, values = coarse(series, "open", 0.0)
    widths = [after - before for before, after in pairwise(moments)]
    area = sum(width * value for width, value in zip(widths, values, strict=False))
    assert len(moments) == len(values) <= MOST_STEPS + 1
    assert pytest.approx(series.total("open")) == area
    assert 0.0 == values[-1]


def test_open_attempts_are_drawn() -> None:
    """Two at most: y and z."""
    above, below = drawn(draw_rates, plotted(JOB), 2)
    assert ["Open attempts and queue", "Tokens per second"] == [texts(axes)[0] for axes in (above, below)]
    assert 2.0 <= above.get_ylim()[1] < 3.0


@pytest.mark.parametrize(
    ("seconds", "unit"), [(0.5, "s"), (119.0, "s"), (120.0, "min"), (7_199.0, "min"), (7_200.0, "h"), (172_800.0, "d")]
)
def test_units_of_time(seconds: float, unit: str) -> None:
    """The larger one from two of it on."""
    assert unit == unit_of(seconds)[1]


def test_files() -> None:
    """A PNG of 1280 dots' width each; the sheet is as high as all of them and its title; PDF and SVG by name."""
    found = plotted(JOB)
    pictures = each_picture(found, "png")
    sizes = [struct.unpack(">II", data[16:24]) for data in (*pictures.values(), sheet(found, "png", "job.jsonl"))]
    assert list(PICTURES) == list(pictures)
    assert {1280} == {width for width, _ in sizes}
    assert abs(sum(height for _, height in sizes[:-1]) + 60 - sizes[-1][1]) <= len(sizes)
    assert sheet(found, "pdf", "job.jsonl").startswith(b"%PDF-")
    assert b"<svg" in sheet(found, "svg", "job.jsonl")


def test_the_same_trace_gives_the_same_file() -> None:
    """No date and no random name is in it."""
    for form in ("png", "pdf", "svg"):
        assert sheet(plotted(JOB), form, "x") == sheet(plotted(JOB), form, "x")


ODD: list[Any] = [
    None,
    "$\\frac{",
    -1,
    2**70,
    float("nan"),
    float("inf"),
    [1],
    "\u4f60\u597d",
    "\x1b[1m<b>&",
    True,
    1e300,
]


@pytest.mark.parametrize("value", ODD, ids=ascii)
def test_odd_rows(value: Any) -> None:
    """Nothing that a file can hold keeps the pictures from being drawn; text is not read as mathematics."""
    rows = trace(
        started("a", host=value),
        {**reserved("a", "g"), "prompt_id": value},
        {**dispatched("a", "x"), "weight_version": value},
        {**abandoned("a", "x", "r"), "reason": value, "tokens": value},
        dispatched("a", "y"),
        {**sealed("a", "y"), "tokens": value},
        {**trained("a", 1, 1, "g"), "step": value, "batch_age": value, "tokens": value},
        event("b", "run_started", schema=1, host=value, pid=value),
        event("b", "checkpoint_restored", checkpoint_id=value, step=value),
        {**trained("b", 2, 1, "g"), "batch_age": value, "trained_version": value},
    )
    for some in (rows, [{**row, "t": value} for row in rows], rows + [{**row, "t": value} for row in rows]):
        each_picture(plotted(some), "svg")


def test_nothing_to_show() -> None:
    """An empty job has no picture."""
    assert [] == shown(plotted(trace(started("a"))))
