"""Which pictures there are, and how they become files: one each, or all on one sheet."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rtrace_otel.analysis.plotted import Plotted
from rtrace_otel.report.document import printable
from rtrace_otel.report.plots.ages import draw_ages
from rtrace_otel.report.plots.costs import MOST_ACCOUNTS, MOST_STOPS, draw_stops, draw_waste
from rtrace_otel.report.plots.over_time import draw_rates, draw_timeline
from rtrace_otel.report.plots.style import SOFT, STYLE

WIDTH_IN: Final = 6.4
DPI: Final = 200
FORMATS: Final = ("png", "pdf", "svg")


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture.

    Attributes:
        draw: Draws it.
        wanted: Whether there is anything to show.
        height_in: Its height, in inches.
        rows: Axes that stand on top of each other.
    """

    draw: Callable[[Sequence[Axes], Plotted], None]
    wanted: Callable[[Plotted], bool]
    height_in: Callable[[Plotted], float]
    rows: int = 1


PICTURES: Final[Mapping[str, Picture]] = {
    "timeline": Picture(
        draw_timeline,
        lambda found: len(found.timeline.attempts) > 0,
        lambda found: 2.4 + min(found.timeline.lanes, 60) * 0.035,
    ),
    "batch-age": Picture(
        draw_ages, lambda found: any(step.best is not None for step in found.staleness.ages.steps), lambda _: 2.9
    ),
    "rates": Picture(draw_rates, lambda found: len(found.timeline.attempts) > 0, lambda _: 3.9, 2),
    "waste": Picture(
        draw_waste,
        lambda found: any(account.name != "trained" for account in found.waste.accounts),
        lambda found: 1.2 + 0.24 * min(len(found.waste.accounts), MOST_ACCOUNTS + 1),
    ),
    "stops": Picture(
        draw_stops,
        lambda found: any(stop.dead_s is not None for stop in found.restores.stops),
        lambda found: 1.75 + 0.3 * min(len(found.restores.stops), MOST_STOPS),
    ),
}
"""The pictures by name, in the order of the sheet."""


def each_picture(found: Plotted, form: str) -> dict[str, bytes]:
    """The files of the pictures that have something to show, by name.

    Args:
        found: What they show.
        form: ``png``, ``pdf`` or ``svg``.
    """
    with rc_context(STYLE):
        return {name: _file([name], found, form, "") for name in shown(found)}


def sheet(found: Plotted, form: str, source: str) -> bytes:
    """All pictures that have something to show as one file; there is at least one.

    Args:
        found: What they show.
        form: ``png``, ``pdf`` or ``svg``.
        source: Name of the trace.
    """
    with rc_context(STYLE):
        return _file(shown(found), found, form, source)


def shown(found: Plotted) -> list[str]:
    """The pictures that have something to show."""
    return [name for name, picture in PICTURES.items() if picture.wanted(found)]


def _file(names: Sequence[str], found: Plotted, form: str, source: str) -> bytes:
    pictures = [PICTURES[name] for name in names]
    heights = [picture.height_in(found) for picture in pictures]
    figure = Figure(figsize=(WIDTH_IN, sum(heights) + (0.3 if source else 0.0)), dpi=DPI, layout="constrained")
    parts = figure.subfigures(len(names), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, picture in zip(parts, pictures, strict=True):
        picture.draw(part.subplots(picture.rows, 1, squeeze=False)[:, 0], found)
    if source:
        figure.suptitle(printable(source), x=0.01, ha="left", fontsize=8, color=SOFT)
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # an id in a script that the font lacks
        figure.savefig(file, format=form, metadata=_METADATA[form])
    return file.getvalue()


_METADATA: Final[Mapping[str, dict[str, str | None]]] = {
    "png": {"Software": "rtrace"},
    "pdf": {"Creator": "rtrace", "Producer": "rtrace", "CreationDate": None},
    "svg": {"Creator": "rtrace", "Date": None},
}
"""Without a date, so that the same trace gives the same file."""
