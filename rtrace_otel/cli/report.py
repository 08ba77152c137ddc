"""``rtrace report``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from secrets import token_bytes

import click

from rtrace_otel.analysis.apart import Apart, apart_of
from rtrace_otel.analysis.overview import Overview, OverviewFold
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.share import SECRET_BYTES, Sharing
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.cli.beside import beside_option, read_beside
from rtrace_otel.cli.common import TRACE, write_out
from rtrace_otel.cli.selecting import selecting_options
from rtrace_otel.cli.writing import write_whole
from rtrace_otel.report.html.data import page_data
from rtrace_otel.report.html.page import render_page
from rtrace_otel.report.html.words import written


@click.command()
@click.argument("files", type=TRACE, nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    default="report.html",
    show_default=True,
    help="Write the page to this file; - for standard output.",
)
@click.option("--title", help="Title of the page; by default it names the trace.")
@click.option(
    "--share",
    is_flag=True,
    help="For a page that leaves the house: hash the ids of prompts, groups and attempts; drop paths, hosts, services, "
    "settings and fields of your own.",
)
@selecting_options
@click.option("--strict", is_flag=True, help="Stop at the first damage in the file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar, no notes, no word on what was written.")
@beside_option
def report(
    files: tuple[str, ...],
    output: str,
    title: str | None,
    share: bool,
    selection: Selection,
    strict: bool,
    quiet: bool,
    jobs: int | None,
) -> None:
    """One HTML page that explains a trace: the verdict, what each stop cost, charts, tables, definitions.

    The page is a single file. It loads nothing from anywhere and sends nothing, so it can be mailed, archived and
    opened on a machine without a network. Numbers come from every row; where a picture of a big trace shows fewer
    points, the page says so.

    \b
    Examples:
      rtrace report logs/
      rtrace report rollout_trace.jsonl -o monday.html --title "Monday's job"
      rtrace report logs/ --steps 120-140 -o where-it-stalled.html
      rtrace report logs/ --share -o for-the-issue.html
      rtrace report monday.jsonl tuesday.jsonl -o week.html
      zcat trace.jsonl.gz | rtrace report - -o - > report.html
    """
    secret = token_bytes(SECRET_BYTES) if share else None
    analysis = partial(_overview, selection=selection, secret=secret)
    question = partial(apart_of, secret=secret)
    (found, read), _ = read_beside(files, analysis, question, strict=strict, quiet=quiet, jobs=jobs)
    page = render_page(page_data(found, read, title=title, shared=share))
    if output == "-":
        write_out(page)
        return
    write_whole(Path(output), files, page)
    if not quiet:
        write_out(written(output, len(page.encode()), read, files))


def _overview(
    reader: EventReader, elsewhere: Callable[[], Apart] | None, *, selection: Selection, secret: bytes | None
) -> tuple[Overview, ReadReport]:
    fold = OverviewFold(selection=selection, apart=elsewhere is not None)
    sharing = None if secret is None else Sharing(secret)
    for row in reader:
        fold.add(row if sharing is None else sharing.row(row), reader.line)
    read = reader.report if sharing is None else sharing.report(reader.report)
    return fold.result(read, elsewhere), read
