"""Where tokens went, and how long each stop took until the job was as before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from rtrace_otel.analysis.plotted import Plotted
from rtrace_otel.analysis.restore_results import Stop
from rtrace_otel.analysis.waste import WasteReport
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import count, percent, plural, seconds, shortener
from rtrace_otel.report.plots.style import (
    BLUE,
    GRAY,
    GREEN,
    INK,
    PINK,
    RED,
    SKY,
    SOFT,
    YELLOW,
    heading,
    legend_below,
    time_axis,
    unit_of,
)
from rtrace_otel.report.restore_words import verdict

MOST_ACCOUNTS: Final = 12
MOST_STOPS: Final = 12

_ACCOUNTS: Final = {
    "trained": SKY,
    "masked": GRAY,
    "abandoned": YELLOW,
    "discarded": PINK,
    "lost": RED,
    "waiting": BLUE,
    "open": GRAY,
}
_LONGEST: Final = 34


def draw_waste(several: Sequence[Axes], found: Plotted) -> None:
    """Tokens by what became of them and why, largest first; on a scale of its own for what was not trained."""
    (axes,) = several
    accounts = [account for account in found.waste.accounts if account.name != "trained"]
    shown, rest = accounts[:MOST_ACCOUNTS], accounts[MOST_ACCOUNTS:]
    total = found.waste.total.tokens
    names = [_name(account.name, account.reason) for account in shown]
    tokens = [account.amount.tokens for account in shown]
    exact = [account.amount.tokens_exact for account in shown]
    colors = [_ACCOUNTS.get(account.name, GRAY) for account in shown]
    if rest:
        names.append(f"{len(rest)} more")
        tokens.append(sum(account.amount.tokens for account in rest))
        exact.append(all(account.amount.tokens_exact for account in rest))
        colors.append(GRAY)
    places = range(len(names))
    axes.barh(places, tokens, color=colors, height=0.7)
    for place, number, is_exact in zip(places, tokens, exact, strict=True):
        share = f"  {_share(number / total)}" if total else ""
        least = "" if is_exact else "at least "
        axes.annotate(f"{least}{count(number)}{share}", (number, place), (4, 0), textcoords="offset points",
                      va="center", fontsize=7.5, color=SOFT)  # fmt: skip
    axes.set_yticks(places, names, color=INK)
    axes.invert_yaxis()
    axes.margins(x=0.28)
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("tokens that were not trained")
    heading(axes, "Where the rest of the tokens went", _trained(found.waste))


def _share(value: float) -> str:
    return percent(value) if value >= 0.005 or not value else "< 1 %"


def _trained(report: WasteReport) -> str:
    """How much there was, and the share that was trained."""
    least, known = ("", "") if report.total.tokens_exact else ("at least ", "of those known, ")
    made = f"{plural(report.total.rollouts, 'rollout')}, {least}{plural(report.total.tokens, 'token')}"
    return f"{made}: {known}{percent(report.share('trained'))} were trained"


def _name(name: str, reason: str | None) -> str:
    text = name if reason is None else f"{name}: {reason.replace('_', ' ')}"
    return printable(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")


def draw_stops(several: Sequence[Axes], found: Plotted) -> None:
    """Each stop from the last sign of life of one run to the old pace of the next."""
    (axes,) = several
    stops = [stop for stop in found.restores.stops if stop.dead_s is not None]
    shown = sorted(sorted(stops, key=lambda stop: -_length(stop))[:MOST_STOPS], key=found.restores.stops.index)
    longest = max(map(_length, shown), default=1.0)
    short = shortener(run for stop in shown for run in (stop.run, stop.restored_run))
    for place, stop in enumerate(shown):
        dead = max(stop.dead_s or 0.0, 0.0)
        axes.barh(place, dead, color=GRAY, height=0.5)
        before = dead
        for moment, color in _moments(stop):
            if moment is not None and dead + moment > before:
                axes.barh(place, dead + moment - before, left=before, color=color, height=0.5)
                before = dead + moment
        axes.annotate(seconds(before), (before, place), (4, 0), textcoords="offset points", va="center",
                      fontsize=7.5, color=SOFT)  # fmt: skip
    labels = [printable(f"{short(stop.run)} → {short(stop.restored_run)}") for stop in shown]
    axes.set_yticks(range(len(shown)), labels, color=INK)
    axes.grid(visible=False)
    axes.grid(visible=True, axis="x")
    unit, _ = unit_of(longest)
    time_axis(axes, longest, label="time since the last sign of life")
    axes.set_xlim(0, max(longest * 1.12, unit * 1e-3))
    left_out = f"; the {len(shown)} longest of {len(stops)} are drawn" if len(stops) > len(shown) else ""
    heading(axes, "Stops and restores", re.split("[,;] ", verdict(found.restores))[0].rstrip(".") + left_out)
    for color, label in ((GRAY, "nothing ran"), *((color, f"to the {name}") for name, color in _MARKS.items())):
        axes.barh(0, 0, color=color, label=label)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    legend_below(axes, 3)


_MARKS: Final = {"first dispatch": BLUE, "first seal": SKY, "first step": YELLOW, "pace before": GREEN}


def _moments(stop: Stop) -> list[tuple[float | None, str]]:
    """Seconds after the first row of the next run, in order of time."""
    moments = (stop.first_dispatch_s, stop.first_seal_s, stop.first_train_step_s, stop.throughput_back_s)
    pairs = list(zip(moments, _MARKS.values(), strict=True))
    return sorted(pairs, key=lambda pair: float("inf") if pair[0] is None else pair[0])


def _length(stop: Stop) -> float:
    known = [moment for moment, _ in _moments(stop) if moment is not None]
    return max(stop.dead_s or 0.0, 0.0) + max([*known, 0.0])
