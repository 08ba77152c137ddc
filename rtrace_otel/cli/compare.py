"""``rtrace compare``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import click

from rtrace_otel.analysis.compare.compare import compare as compared
from rtrace_otel.analysis.compare.gates import Gate, GateError, judge, metric_named, parse_gate
from rtrace_otel.analysis.compare.measure import ChosenRun, MeasureFold, Measures
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.cli.common import answer, opened, parts_options
from rtrace_otel.report.compare import Gated, compare_document, compare_json, failure_lines

EXIT_NOT_KEPT: Final = 3

Measured: TypeAlias = tuple[Measures, ReadReport]
"""One side, and what the reader met."""


def _gates(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[Gate, ...]:
    try:
        return tuple(parse_gate(value) for value in values)
    except GateError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(metric_named(value).name for value in values)
    except GateError as error:
        raise click.BadParameter(str(error), ctx, param) from None


@click.command()
@parts_options
@click.option("--run", "runs", multiple=True, help="Given twice: two runs of one file (heads of ids are enough).")
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    callback=_names,
    help="Only this metric, and those of --fail-on; repeatable.",
)
@click.option(
    "--fail-on",
    "gates",
    multiple=True,
    metavar="LIMIT",
    callback=_gates,
    help="Exit with 3 if B goes beyond this, as in lost_tokens:+5%; repeatable.",
)
def compare(
    files: tuple[str, ...],
    form: str,
    output: str | None,
    strict: bool,
    quiet: bool,
    runs: tuple[str, ...],
    only: tuple[str, ...],
    gates: tuple[Gate, ...],
) -> int:
    """Two traces A and B side by side, or two runs of one: every metric, its change, and which is better.

    LIMIT is NAME:+5% (B may be 5 % above A), NAME:-5% (5 % below, where higher is better), NAME:+100 (100 more, in the
    metric's unit), NAME:>0.5 or NAME:<0.5 (B itself may not be beyond that). No limit is kept by a value that is not
    known. The names of all metrics: rtrace definitions compare

    \b
    Examples:
      rtrace compare monday.jsonl tuesday.jsonl
      rtrace compare logs/ --run 3f9a --run 77c0
      rtrace compare base/ new/ --fail-on 'lost_tokens:+5%' --fail-on 'tokens_per_s:-5%'
      rtrace compare base/ new/ --only batch_age --format json
    """
    _check(files, runs)
    if runs:
        a, b = _two_runs(files[0], runs, strict=strict, quiet=quiet)
    else:
        a, b = (_whole(file, strict=strict, quiet=quiet) for file in files)
    report = compared(a[0], b[0])
    wanted = {*only, *(gate.metric.name for gate in gates)} if only else set()
    gated = Gated(report.only(wanted), gates, judge(report, gates))
    try:
        answer(form, output, files, "compare", compare_document(gated), compare_json(gated, (a[1], b[1])), None)
    finally:  # also when nobody reads the answer any more, or it cannot be written
        for line in failure_lines(gated.failures):
            click.echo(line, err=True)
    return EXIT_NOT_KEPT if gated.failures else 0


def _check(files: Sequence[str], runs: Sequence[str]) -> None:
    if "" in runs:
        raise click.UsageError("--run: the id is empty; is a variable of your shell unset?")
    if runs and (len(files), len(runs)) != (1, 2):
        raise click.UsageError("--run takes two runs of one file: give one FILE and --run twice")
    if not runs and len(files) != 2:
        raise click.UsageError("give two FILES, or one FILE and --run twice")
    if list(files) == ["-", "-"]:
        raise click.UsageError("standard input can be read once: only one of A and B can be '-'")


def _whole(file: str, *, strict: bool, quiet: bool) -> Measured:
    fold = MeasureFold()
    with opened(file, strict=strict, quiet=quiet) as reader:
        for row in reader:
            fold.add(row)
    return fold.result(reader.report.source, read=reader.report), reader.report


def _two_runs(file: str, heads: Sequence[str], *, strict: bool, quiet: bool) -> tuple[Measured, Measured]:
    first, second = ChosenRun(heads[0]), ChosenRun(heads[1])
    with opened(file, strict=strict, quiet=quiet) as reader:
        for row in reader:
            first.add(row)
            second.add(row)
    read = reader.report
    return (first.result(read), read), (second.result(read), read)
