"""How the static pictures look: colours that the colour-blind can tell apart, letters that fit a column of a paper."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import ScaledTranslation

from rtrace_otel.report.document import printable

BLUE, SKY, GREEN, YELLOW = "#0072B2", "#56B4E9", "#009E73", "#E69F00"
RED, PINK, GRAY, LIGHT, INK, SOFT = "#D55E00", "#CC79A7", "#8A8F98", "#D9DCE1", "#1B1F24", "#59616B"
"""The palette of Okabe and Ito (Color Universal Design, 2008), and grays."""

STYLE: Final[Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 16,
    "axes.labelcolor": SOFT,
    "axes.labelsize": 8.5,
    "axes.edgecolor": LIGHT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#ECEEF1",
    "grid.linewidth": 0.8,
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 1.2,
    "legend.handleheight": 0.9,
    "legend.columnspacing": 1.3,
    "legend.handletextpad": 0.5,
    "legend.borderaxespad": 0.0,
    "lines.linewidth": 1.4,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "rtrace",
    "pdf.fonttype": 42,
}
"""Settings of matplotlib, in force while a picture is drawn; text is never read as mathematics."""

_LABEL_POINTS: Final = 34
"""Height of the numbers and the label of a horizontal axis."""

_UNITS: Final = ((2 * 86_400.0, 86_400.0, "d"), (2 * 3_600.0, 3_600.0, "h"), (120.0, 60.0, "min"), (0.0, 1.0, "s"))


def heading(axes: Axes, title: str, told: str = "") -> None:
    """A title, and below it what the picture says in words."""
    axes.set_title(printable(title))
    if told:
        below = axes.annotate(
            printable(told),
            (0, 1),
            (0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            fontsize=8,
            color=SOFT,
        )
        below.set_in_layout(False)  # a long line is cut at the edge; it must not make the picture narrower


def legend_below(axes: Axes, columns: int, **options: Any) -> None:
    """A legend below the axes and their label, at the same distance whatever their height."""
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes stand in a figure"
    down = ScaledTranslation(0, -_LABEL_POINTS / 72, figure.dpi_scale_trans)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0, 0), "bbox_transform": axes.transAxes + down}
    axes.legend(ncols=columns, **place, **options)


def unit_of(seconds: float) -> tuple[float, str]:
    """Length in seconds and name of the unit in which a stretch of time is best told."""
    return next((unit, name) for least, unit, name in _UNITS if seconds >= least)


def time_axis(axes: Axes, seconds: float, *, label: str = "time since the first row") -> None:
    """Mark a horizontal axis that counts seconds in larger units, for a stretch that is so long."""
    unit, name = unit_of(seconds)
    axes.set_xlim(0, seconds or 1.0)
    axes.xaxis.set_major_locator(_Steps(unit))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:g}"))
    axes.set_xlabel(f"{label}, {name}")


def count_axis(axes: Axes) -> None:
    """Mark a vertical axis that counts things: whole numbers, thousands separated."""
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_ylim(bottom=0)


class _Steps(MaxNLocator):
    """Round numbers of a unit."""

    def __init__(self, unit: float) -> None:
        super().__init__(7, steps=[1, 2, 3, 5, 6, 10] if unit != 60 else [1, 2, 5, 10])
        self._unit = unit

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return [tick * self._unit for tick in super().tick_values(vmin / self._unit, vmax / self._unit)]
