"""``rtrace waste``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.waste import waste_report
from rtrace_otel.cli.common import answer, opened_parts, parts_options
from rtrace_otel.report.waste import waste_document, waste_json


@click.command()
@parts_options
def waste(files: tuple[str, ...], form: str, output: str | None, strict: bool, quiet: bool) -> None:
    """Where the tokens and the attempt time went: trained, masked, abandoned, discarded, lost with a run, or open.

    Every rollout is in one account. Attempt time adds up over attempts that run side by side; the job's own time is
    given apart.

    \b
    Examples:
      rtrace waste rollout_trace.jsonl
      rtrace waste logs/ --format csv -o waste.csv
      rtrace waste logs/ --format json | jq '.accounts[] | select(.name == "lost")'
    """
    with opened_parts(files, strict=strict, quiet=quiet) as reader:
        report = waste_report(reader)
    read = reader.report
    document = waste_document(report, read.source, read.rows_missing)
    answer(form, output, files, "waste", document, waste_json(report), read)
