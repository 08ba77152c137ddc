"""What a page of a trace carries: the results of the analyses as JSON, and columns for its charts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from rtrace_otel.analysis.overview import Overview
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.report.age import headline
from rtrace_otel.report.check import verdict as check_verdict
from rtrace_otel.report.damage import damage_json, missing_rows
from rtrace_otel.report.definitions import DEFINITIONS
from rtrace_otel.report.document import printable
from rtrace_otel.report.formats import finite
from rtrace_otel.report.html.age_data import age_tables, staleness_facts
from rtrace_otel.report.html.columns import Columns, pack, pack_json
from rtrace_otel.report.html.cost_data import refit_table, survival_tables, waste_accounts, waste_table
from rtrace_otel.report.html.flow_data import flow_facts, flow_tables
from rtrace_otel.report.html.page import PageData
from rtrace_otel.report.html.pieces import document_pieces, table_pieces
from rtrace_otel.report.html.texts import page_texts
from rtrace_otel.report.html.tiles import tiles
from rtrace_otel.report.html.timeline_data import timeline_columns, timeline_json
from rtrace_otel.report.latency import latency_json
from rtrace_otel.report.numbers import moment, plural, shortener
from rtrace_otel.report.restore import restore_json
from rtrace_otel.report.restore_words import stop_sentences
from rtrace_otel.report.restore_words import verdict as restore_verdict
from rtrace_otel.report.steps import findings
from rtrace_otel.report.summary import summary_json
from rtrace_otel.report.summary import verdict as summary_verdict
from rtrace_otel.report.waste import waste_json, waste_verdict
from rtrace_otel.version import __version__

SHOWN: Final = frozenset({"summary", "restore", "age", "waste", "steps", "attempts", "groups", "check", "report"})
"""Commands whose numbers the page shows."""


def page_data(found: Overview, read: ReadReport, *, title: str | None = None, shared: bool = False) -> PageData:
    """The data of a page.

    Args:
        found: What is known of the file.
        read: What the reader met.
        title: Title of the page; by default the name of the file.
        shared: Whether ids and names were taken out of the rows.
    """
    return PageData(
        title=_title(read) if title is None else printable(title),
        about=_about(found, read, shared),
        opening=opening(found, read),
        head=finite(_head(found, read, shared)),
        document=pack_json(_shown(finite(page_document(found, read)))),
        tables={name: pack(columns) for name, columns in page_tables(found).items()},
    )


def live_page_data(found: Overview, read: ReadReport, attempts: Mapping[str, str]) -> PageData:
    """The data of a page that follows a file, in pieces: see :mod:`rtrace_otel.report.html.pieces`.

    Args:
        found: What is known of the file so far, without the attempts of the timeline.
        read: What the reader met.
        attempts: These, as packed pieces.
    """
    tables = {**attempts, **dict(table_pieces(_small_tables(found)))}
    rest, pieces = document_pieces(_shown(finite(page_document(found, read))))
    counts = Counter(name.partition("#")[0] for name in tables)
    return PageData(
        title=_title(read),
        about=_about(found, read, shared=False),
        opening=opening(found, read),
        head={**finite(_head(found, read, shared=False)), "pieces": counts},
        document=pack_json(rest),
        tables={**tables, **pieces},
    )


def page_document(found: Overview, read: ReadReport) -> dict[str, Any]:
    """The results as JSON values: ``results`` as the commands give them, ``texts`` as people read them."""
    summary = summary_json(found.summary)
    waste = waste_json(found.waste)
    stops = found.restores.stops
    return {
        "tiles": tiles(found),
        "results": {
            # What has a line for each step is in the packed tables.
            "summary": {name: value for name, value in summary.items() if name != "ages"},
            "restore": restore_json(found.restores),
            "waste": {name: value for name, value in waste.items() if name != "steps"},
            "timeline": timeline_json(found.timeline),
            "latencies": latency_json(found.slow.attempts.latencies),
            "read": damage_json(read),
        },
        "stop_sentences": [
            [printable(text) for text in stop_sentences(stop, number, len(stops))]
            for number, stop in enumerate(stops, 1)
        ],
        "accounts": waste_accounts(found.waste_steps),
        "staleness": staleness_facts(found.staleness),
        "refits": len(found.pauses.refits),
        "flow": flow_facts(found),
        "texts": page_texts(found, read),
        "definitions": [
            [one.name, one.meaning, one.formula, one.unit, one.source]
            for one in DEFINITIONS
            if not SHOWN.isdisjoint(one.shown_in)
        ],
    }


def page_tables(found: Overview) -> Mapping[str, Columns]:
    """The columns of the charts, by table."""
    return {**_small_tables(found), **timeline_columns(found.timeline)}


def _small_tables(found: Overview) -> dict[str, Columns]:
    """The tables that do not have a row for each attempt."""
    return {
        **age_tables(found.staleness),
        **flow_tables(found),
        "waste": waste_table(found.waste_steps),
        "refits": refit_table(found.pauses),
        **survival_tables(found.slow),
    }


def opening(found: Overview, read: ReadReport) -> list[str]:
    """The verdict in words: what the stops cost, what the trace holds, how stale it is, where time and tokens went."""
    sentences = [restore_verdict(found.restores), summary_verdict(found.summary), headline(found.staleness.ages)]
    sentences += [waste_verdict(found.waste), *findings(found.steps)]
    sentences += [] if found.check is None else [check_verdict(found.check)]
    return [printable(text) for text in (*sentences, *(block.text for block in missing_rows(read.rows_missing)))]


def _shown(value: Any) -> Any:
    """A JSON value whose texts can be shown: names in it come from a file."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _title(read: ReadReport) -> str:
    return printable(f"Rollouts of {PurePath(read.source).name or read.source}")


def _about(found: Overview, read: ReadReport, shared: bool) -> str:
    starts = [run.started for run in found.summary.runs if run.started is not None]
    ends = [run.last_row for run in found.summary.runs if run.last_row is not None]
    parts = [printable(read.source), plural(read.rows, "row"), plural(len(found.summary.runs), "run")]
    if starts and ends:
        parts.append(f"{moment(min(starts))} to {moment(max(ends))} UTC")
    parts.append(f"rtrace {__version__}")
    return " · ".join(parts + (["ids and names taken out"] if shared else []))


def _head(found: Overview, read: ReadReport, shared: bool) -> dict[str, Any]:
    runs = [run.run for run in found.summary.runs]
    short = shortener(runs)
    return {
        "version": __version__,
        "source": printable(read.source),
        "rows": read.rows,
        "shared": shared,
        "opening": opening(found, read),
        "runs": [{"run": printable(run), "short": printable(short(run))} for run in runs],
    }
