"""``rtrace fleet``."""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from rtrace_otel.cli.common import answer, write_out
from rtrace_otel.cli.writing import write_whole
from rtrace_otel.errors import TraceFileError
from rtrace_otel.fleet.cache import Cache, default_folder
from rtrace_otel.fleet.moment import moment_of
from rtrace_otel.fleet.patience import PATIENCE_S
from rtrace_otel.fleet.report import BY_PATH, BY_TIME, SORTS, Engine, FleetReport, fleet_report, outcomes
from rtrace_otel.fleet.sources import Found, find
from rtrace_otel.fleet.stores import Stores
from rtrace_otel.report.document import printable
from rtrace_otel.report.fleet import fleet_document, fleet_json
from rtrace_otel.report.numbers import plural, seconds

if TYPE_CHECKING:
    from rtrace_otel.fleet.results import Failure, Outcome

DEFAULT_LIMIT: Final = 50
_CLEAR: Final = "\r\x1b[K"


@click.command()
@click.argument("sources", metavar="PATH_OR_GLOB...", nargs=-1, required=True)
@click.option("--by", metavar="FIELD", help="Also add up by host, service, or a field of run_started or its config.")
@click.option("--since", metavar="TIME", help="Only jobs with a row since then: 2026-11-30, or an age such as 7d.")
@click.option(
    "--sort", type=click.Choice([*SORTS, BY_TIME, BY_PATH]), default="tokens-lost", show_default=True,
    help="Order of the jobs, the greatest first.",
)  # fmt: skip
@click.option(
    "--limit", type=click.IntRange(min=0), default=DEFAULT_LIMIT, show_default=True,
    help="How many jobs the table shows at most; 0 for all. Other formats have all.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), help="Processes that read.  [default: the cores]")
@click.option(
    "--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True,
    help="Who reads: processes of this machine, or tasks of a Ray cluster.",
)  # fmt: skip
@click.option("--ray-address", metavar="ADDRESS", help="Of the cluster.  [default: RAY_ADDRESS, else auto]")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=PATIENCE_S, show_default=True, metavar="SECONDS",
    help="How long a store is waited for, at each request.",
)  # fmt: skip
@click.option("--cache-dir", type=click.Path(file_okay=False, path_type=Path), help="Where results are kept.")
@click.option("--no-cache", is_flag=True, help="Read every trace anew, and keep nothing.")
@click.option(
    "--format", "form", type=click.Choice(["table", "json", "csv", "md", "html"]),
    help="How to print the answer.  [default: table, or html for -o NAME.html]",
)  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the answer to this file.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no notes on standard error.")
def fleet(
    sources: tuple[str, ...],
    by: str | None,
    since: str | None,
    sort: str,
    limit: int,
    jobs: int | None,
    engine: str,
    ray_address: str | None,
    timeout: float,
    cache_dir: Path | None,
    no_cache: bool,
    form: str | None,
    output: str | None,
    quiet: bool,
) -> None:
    """Many jobs in one table: what their stops cost, how stale they trained, what they wasted, whether they add up.

    A source is a trace, a folder that is searched for rollout_trace*.jsonl, a glob of either, or an address in a
    store (s3://, gs://, https://). Each file is one job. Files that cannot be read are listed, and the others counted.

    \b
    Examples:
      rtrace fleet /shared/jobs
      rtrace fleet '/shared/jobs/*/logs' --by service --since 7d
      rtrace fleet /shared/jobs --by model -o fleet.html
      rtrace fleet s3://bucket/jobs --format json | jq .total
    """
    for name, value in (("--by", by), ("--since", since), *(("PATH_OR_GLOB", source) for source in sources)):
        if value == "":
            raise click.UsageError(f"{name}: the value is empty; is a variable of your shell unset?")
    moment = None if since is None else moment_of(since, time.time())
    if engine == "local" and ray_address is not None:
        raise click.UsageError("--ray-address: only with --engine ray")
    found, missing = _find(sources, timeout, quiet)
    cache = None if no_cache else Cache(cache_dir or default_folder(), partial(_note, quiet))
    report = fleet_report(
        [*_read(found, _engine(engine, jobs, ray_address, timeout), cache, quiet), *missing],
        by=by,
        since=moment,
        sort=sort,
    )
    _print(report, form, output, [one.path for one in found], limit)


def _find(sources: tuple[str, ...], timeout: float, quiet: bool) -> tuple[list[Found], list[Failure]]:
    live = _is_live(quiet)
    if live:
        click.echo("looking for traces", err=True, nl=False)
    try:
        return find(sources, Stores(timeout))
    finally:
        if live:
            click.echo(_CLEAR, err=True, nl=False)


def _is_live(quiet: bool) -> bool:
    return not quiet and sys.stderr.isatty()


def _engine(engine: str, jobs: int | None, ray_address: str | None, timeout: float) -> Engine:
    if engine == "ray":
        from rtrace_otel.fleet.ray_engine import read_on_ray

        return partial(read_on_ray, address=ray_address, patience_s=timeout)
    from rtrace_otel.fleet.pool import read_here, read_in_pool

    jobs = jobs or len(os.sched_getaffinity(0))
    if jobs == 1:
        return partial(read_here, patience_s=timeout)
    return partial(read_in_pool, jobs=jobs, patience_s=timeout)


def _read(found: list[Found], engine: Engine, cache: Cache | None, quiet: bool) -> list[Outcome]:
    started, read, known = time.monotonic(), list["Outcome"](), 0
    live = _is_live(quiet)
    for outcome, was_known in outcomes(found, engine, cache):
        read.append(outcome)
        known += was_known
        if live:
            click.echo(f"\r{len(read):,} of {plural(len(found), 'trace')}", err=True, nl=False)
    if live:
        click.echo(_CLEAR, err=True, nl=False)
    took = f"{plural(len(read), 'trace')} in {seconds(time.monotonic() - started)}"
    _note(quiet, f"{took}, {known:,} of them as read before" if known else took)
    return read


def _print(report: FleetReport, form: str | None, output: str | None, traces: list[str], limit: int) -> None:
    if report.failures and not report.jobs and not report.older and not report.undated:
        raise _all_failed(report.failures)
    local = [path for path in traces if "://" not in path]
    if form == "html" or (form is None and output is not None and output.endswith(".html")):
        from rtrace_otel.report.fleet_page import fleet_page

        page = fleet_page(report)
        if output is None or output == "-":
            write_out(page)
        else:
            write_whole(Path(output), local, page)
        return
    form = form or "table"
    document = fleet_document(report, limit if form == "table" else 0)
    answer(form, output, local, "fleet", document, fleet_json(report), None)


def _all_failed(failures: tuple[Failure, ...]) -> TraceFileError:
    first = failures[0]
    more = f" (and {plural(len(failures) - 1, 'more trace')} that could not be read)" if len(failures) > 1 else ""
    return TraceFileError(first.path, f"{first.reason}{more}")


def _note(quiet: bool, text: str) -> None:
    if not quiet:
        click.echo(printable(f"note: {text}"), err=True)
