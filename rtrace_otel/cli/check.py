"""``rtrace check``."""

from __future__ import annotations

from typing import Final

import click

from rtrace_otel.analysis.check.check import check_trace
from rtrace_otel.analysis.check.registry import RULES_BY_CODE, UnknownCodeError, codes_under
from rtrace_otel.analysis.check.rule import Severity
from rtrace_otel.cli.common import answer, opened, reading_options
from rtrace_otel.report.check import check_document, check_json, next_blocks

EXIT_ERRORS_FOUND: Final = 3


def _codes(ctx: click.Context, param: click.Parameter, value: str | None) -> frozenset[str] | None:
    try:
        return None if value is None else codes_under(value)
    except UnknownCodeError as error:
        raise click.BadParameter(f"{error}; there are {', '.join(RULES_BY_CODE)}", ctx, param) from None


@click.command()
@reading_options
@click.option(
    "--select", metavar="CODES", callback=_codes, help="Only these rules: codes or their heads, as in RT101,RT2."
)
@click.option("--ignore", metavar="CODES", callback=_codes, help="All rules but these.")
def check(
    file: str,
    form: str,
    output: str | None,
    strict: bool,
    quiet: bool,
    select: frozenset[str] | None,
    ignore: frozenset[str] | None,
) -> int:
    """Whether the numbers of a trace add up: every rollout, token, weight version, step and row is accounted for.

    Each finding has a code, a severity, the run and the line. The exit status is 3 if there is an error.

    \b
    Examples:
      rtrace check rollout_trace.jsonl
      rtrace check logs/ --select RT1,RT311 --format json
      rtrace check logs/ --ignore RT604 -o findings.txt
    """
    wanted = (frozenset(RULES_BY_CODE) if select is None else select) - (ignore or frozenset())
    with opened(file, strict=strict, quiet=quiet) as reader:
        report = check_trace(reader, codes=wanted)
    read = reader.report
    document = check_document(report, read.source, for_terminal=form == "table")
    if form == "table":
        document = document.followed_by(next_blocks(report))
    answer(form, output, file, "check", document, check_json(report), read)
    return EXIT_ERRORS_FOUND if report.number(Severity.ERROR) else 0
