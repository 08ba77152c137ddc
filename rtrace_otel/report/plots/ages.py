"""Batch age of each training step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from rtrace_otel.analysis.age.results import StepAge
from rtrace_otel.analysis.plotted import Plotted
from rtrace_otel.report.numbers import plural
from rtrace_otel.report.plots.style import BLUE, GRAY, RED, SOFT, heading, legend_below


def draw_ages(several: Sequence[Axes], found: Plotted) -> None:
    """The mean over the tokens of each step, the range of the token ages around it, and where a run went on."""
    (axes,) = several
    steps = found.staleness.ages.steps
    ranged = [step for step in steps if step.p50 is not None and step.p95 is not None and step.max is not None]
    numbers = [step.step for step in ranged]
    axes.fill_between(
        numbers, [float(step.p50 or 0) for step in ranged], [float(step.p95 or 0) for step in ranged],
        step="mid", color=BLUE, alpha=0.2, linewidth=0, label="tokens: p50 to p95",
    )  # fmt: skip
    axes.plot(numbers, [float(step.max or 0) for step in ranged], ".", color=GRAY, markersize=4, label="oldest token")
    known = [step for step in steps if step.best is not None]
    marker = "o" if len(known) <= 60 else ""
    axes.plot(
        [step.step for step in known], [float(step.best or 0) for step in known],
        marker=marker, markersize=3, color=BLUE, label="batch age",
    )  # fmt: skip
    for step in _first_of_runs(steps):
        axes.axvline(step - 0.5, color=RED, linewidth=1, linestyle=(0, (4, 2)))
        axes.annotate("restored", (step - 0.5, 1), (3, -3), xycoords=axes.get_xaxis_transform(),
                      textcoords="offset points", va="top", fontsize=7, color=RED)  # fmt: skip
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_xlabel("training step")
    axes.set_ylabel("versions")
    ages = found.staleness.ages
    mean = "" if ages.batch_age is None else f"mean over tokens {ages.batch_age:.3f} versions, "
    heading(axes, "Batch age per step", f"{mean}{plural(len(steps), 'step')}, {plural(ages.tokens, 'token')}")
    legend_below(axes, 3)
    axes.yaxis.label.set_color(SOFT)


def _first_of_runs(steps: Sequence[StepAge]) -> list[int]:
    """The first step of each run but the first."""
    return [after.step for before, after in pairwise(steps) if before.run != after.run]
