"""What a page of a trace carries: the results of the analyses as JSON, and columns for its charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rtrace_otel.analysis.damage import ReadReport
from rtrace_otel.analysis.overview import Overview
from rtrace_otel.report.age import headline
from rtrace_otel.report.check import verdict as check_verdict
from rtrace_otel.report.damage import damage_json, missing_rows
from rtrace_otel.report.document import printable
from rtrace_otel.report.formats import finite
from rtrace_otel.report.html.age_data import age_columns
from rtrace_otel.report.html.blocks import document_blocks
from rtrace_otel.report.html.columns import Columns, pack, pack_json
from rtrace_otel.report.html.page import PageData
from rtrace_otel.report.numbers import moment, plural, shortener
from rtrace_otel.report.restore import restore_document, restore_json
from rtrace_otel.report.restore_words import verdict as restore_verdict
from rtrace_otel.report.steps import findings
from rtrace_otel.report.summary import summary_document, summary_json
from rtrace_otel.report.summary import verdict as summary_verdict
from rtrace_otel.report.waste import waste_document, waste_json, waste_verdict
from rtrace_otel.version import __version__


def page_data(found: Overview, read: ReadReport, *, title: str | None = None, shared: bool = False) -> PageData:
    """The data of a page.

    Args:
        found: What is known of the file.
        read: What the reader met.
        title: Title of the page; by default the name of the file.
        shared: Whether ids and names were taken out of the rows.
    """
    document = finite(page_document(found, read))
    return PageData(
        title=printable(title) if title is not None else f"Rollouts of {printable(read.source)}",
        about=_about(found, read, shared),
        opening=opening(found, read),
        head=finite(_head(found, read, shared)),
        document=pack_json(document),
        tables={name: pack(columns) for name, columns in page_tables(found).items()},
    )


def page_document(found: Overview, read: ReadReport) -> dict[str, Any]:
    """The results as JSON values: ``results`` as the commands give them, ``texts`` as people read them."""
    source = read.source
    return {
        "results": {
            "summary": summary_json(found.summary),
            "restore": restore_json(found.restores),
            "waste": waste_json(found.waste),
            "read": damage_json(read),
        },
        "texts": {
            "summary": document_blocks(summary_document(found.summary, read)),
            "restore": document_blocks(restore_document(found.restores, source, read.rows_missing)),
            "waste": document_blocks(waste_document(found.waste, source, read.rows_missing)),
        },
    }


def page_tables(found: Overview) -> Mapping[str, Columns]:
    """The columns of the charts, by table."""
    return {"ages": age_columns(found.staleness)}


def opening(found: Overview, read: ReadReport) -> list[str]:
    """The verdict in words: what the stops cost, what the trace holds, how stale it is, where time and tokens went."""
    sentences = [restore_verdict(found.restores), summary_verdict(found.summary), headline(found.staleness.ages)]
    sentences += [waste_verdict(found.waste), *findings(found.steps)]
    sentences += [] if found.check is None else [check_verdict(found.check)]
    return [printable(text) for text in (*(block.text for block in missing_rows(read.rows_missing)), *sentences)]


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
        "runs": [{"run": printable(run), "short": printable(short(run))} for run in runs],
    }
