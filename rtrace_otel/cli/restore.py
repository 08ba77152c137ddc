"""``rtrace restore``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.restore import restore_report
from rtrace_otel.cli.common import answer, opened_parts, parts_options
from rtrace_otel.report.restore import restore_document, restore_json


@click.command()
@parts_options
def restore(files: tuple[str, ...], form: str, output: str | None, strict: bool, quiet: bool) -> None:
    """What each stop and restore cost: the fate of every rollout, in rollouts, tokens and seconds.

    A rollout that a stop took away was reused (its sealed result was kept), resumed (it went on with the tokens it
    had), redone from the start, trained again (the step that had trained it was lost), discarded after all, or never
    came back. Numbers of tokens are exact where rows say so, else "at least".

    \b
    Examples:
      rtrace restore rollout_trace.jsonl
      rtrace restore logs/ --format json | jq '.stops[].fates'
      rtrace restore monday.jsonl tuesday.jsonl
    """
    with opened_parts(files, strict=strict, quiet=quiet) as reader:
        report = restore_report(reader)
    read = reader.report
    document = restore_document(report, read.source, read.rows_missing)
    answer(form, output, files, "restore", document, restore_json(report), read)
