"""The report of ``rtrace fleet`` as one HTML page: the verdict, the dearest jobs, all jobs in a table, token ages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rtrace_otel.fleet.numbers import Numbers
from rtrace_otel.fleet.report import FleetReport
from rtrace_otel.report.document import Show, Table, printable
from rtrace_otel.report.fleet import failure_table, fleet_json, group_table, job_table, left_out_sentences, verdict
from rtrace_otel.report.fleet_names import short_paths
from rtrace_otel.report.formats import finite
from rtrace_otel.report.html.blocks import table_json
from rtrace_otel.report.html.columns import pack_json
from rtrace_otel.report.html.page import PageData, render_page
from rtrace_otel.report.numbers import count, percent, plural, seconds
from rtrace_otel.version import __version__

PANELS: Final = (
    "assets/core.js",
    "assets/format.js",
    "assets/columns.js",
    "assets/pieces.js",
    "assets/table.js",
    "assets/blocks.js",
    "assets/fleet.js",
    "assets/boot.js",
)
"""The page's scripts."""

FOOTER: Final = "Written by rtrace fleet. This file loads nothing and sends nothing."

MAX_BARS: Final = 12
"""Jobs of one picture."""

MAX_AGES: Final = 40
"""Ages of the picture; what is older is put together."""

MAX_JOBS: Final = 20_000
"""Jobs that the page carries; it says how many there are."""

_WORST: Final[tuple[tuple[str, Callable[[Numbers], float | None], Show], ...]] = (
    ("Tokens lost in stops", lambda numbers: numbers.lost.tokens, count),
    ("Time in which nothing ran", lambda numbers: numbers.dead_s, seconds),
    ("Share of tokens wasted", lambda numbers: numbers.waste, percent),
    ("Token age that 95 % do not exceed", lambda numbers: numbers.age_at(0.95), count),
)


def fleet_page(report: FleetReport) -> str:
    """The page as one HTML text.

    Args:
        report: From the fleet.
    """
    data = PageData(
        title=f"Fleet of {plural(len(report.jobs), 'job')}",
        about=f"{plural(report.total.rows, 'row')} · rtrace {__version__}",
        opening=[verdict(report), *left_out_sentences(report)],
        head={"version": __version__, "jobs": len(report.jobs)},
        document=pack_json(finite(page_document(report))),
        tables={},
    )
    return render_page(data, panels=PANELS, footer=FOOTER)


def page_document(report: FleetReport) -> dict[str, Any]:
    """What the page shows, as JSON values, and the results as ``rtrace fleet --format json`` gives their total."""
    tables: list[Table] = [] if report.by is None else [group_table(report)]
    tables.append(job_table(report))
    tables += [failure_table(report)] if report.failures else []
    return {
        "total": fleet_json(report)["total"],
        "jobs": [table_json(table, MAX_JOBS) for table in tables],
        "worst": [worst for title, value, show in _WORST if (worst := _worst(report, title, value, show))["rows"]],
        "ages": _ages(report.total.ages),
    }


def _worst(report: FleetReport, title: str, value: Callable[[Numbers], float | None], show: Show) -> dict[str, Any]:
    found = [(job.path, known) for job in report.jobs if (known := value(job.numbers))]
    dearest = sorted(found, key=lambda pair: (-pair[1], pair[0]))[:MAX_BARS]
    names = short_paths([job.path for job in report.jobs])
    return {"title": title, "rows": [[printable(names[path]), known, show(known)] for path, known in dearest]}


def _ages(ages: Mapping[int, int]) -> list[list[Any]]:
    known = sorted((age, tokens) for age, tokens in ages.items() if tokens)
    rows = [[str(age), tokens, count(tokens)] for age, tokens in known[:MAX_AGES]]
    rest = sum(tokens for _, tokens in known[MAX_AGES:])
    return [*rows, *([["older", rest, count(rest)]] if rest else [])]
