"""``rtrace steps``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.steps import train_steps
from rtrace_otel.cli.common import answer, opened, reading_options
from rtrace_otel.report.steps import steps_document, steps_json


@click.command()
@reading_options
def steps(file: str, form: str, output: str | None, strict: bool, quiet: bool) -> None:
    """Training steps: how long each waited, trained and synced weights, and who waited for whom.

    Below the steps stands where the wall time of each run went; each second counts once.

    \b
    Examples:
      rtrace steps rollout_trace.jsonl
      rtrace steps logs/ --format csv -o steps.csv
      rtrace steps logs/ --format json | jq .verdicts
    """
    with opened(file, strict=strict, quiet=quiet) as reader:
        report = train_steps(reader)
    read = reader.report
    answer(form, output, file, "steps", steps_document(report, read.source), steps_json(report), read)
