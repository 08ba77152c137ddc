"""``rtrace summary``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.summary import summarise
from rtrace_otel.cli.common import answer, opened, reading_options
from rtrace_otel.report.summary import next_blocks, summary_document, summary_json


@click.command()
@reading_options
def summary(file: str, form: str, output: str | None, strict: bool, quiet: bool) -> None:
    """What a trace holds: its runs and how each ended, attempts and groups by outcome, steps, refits, checkpoints.

    \b
    Examples:
      rtrace summary rollout_trace.jsonl
      rtrace summary logs/ --format md
      rtrace summary logs/ --format json | jq .attempts
    """
    with opened(file, strict=strict, quiet=quiet) as reader:
        result = summarise(reader)
    read = reader.report
    document = summary_document(result, read)
    if form == "table":
        document = document.followed_by(next_blocks(file))
    answer(form, output, file, "summary", document, summary_json(result), read)
