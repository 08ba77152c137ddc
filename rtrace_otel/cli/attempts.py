"""``rtrace attempts``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.flow.attempts import SORTS
from rtrace_otel.analysis.flow.attempts import attempts as find_attempts
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.records import ATTEMPT_OUTCOMES
from rtrace_otel.cli.choosing import choosing_options
from rtrace_otel.cli.common import answer, opened, reading_options
from rtrace_otel.report.attempts import attempts_document, attempts_json


@click.command()
@reading_options
@choosing_options(ATTEMPT_OUTCOMES, SORTS)
def attempts(file: str, form: str, output: str | None, strict: bool, quiet: bool, choice: Choice) -> None:
    """Rollout attempts: which ones took long, were abandoned or got stuck, and where their time went.

    The latencies below the table are those of all attempts that match, also of those that it does not show.

    \b
    Examples:
      rtrace attempts logs/ --slowest
      rtrace attempts logs/ --prompt 17 --limit 0
      rtrace attempts logs/ --outcome abandoned --reason timeout --format csv
      rtrace attempts logs/ --open
    """
    with opened(file, strict=strict, quiet=quiet) as reader:
        report = find_attempts(reader, choice)
    read = reader.report
    document = attempts_document(report, choice, read.source)
    answer(form, output, file, "attempts", document, attempts_json(report), read)
