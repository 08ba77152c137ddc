"""``rtrace groups``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import SORTS
from rtrace_otel.analysis.flow.groups import groups as find_groups
from rtrace_otel.analysis.flow.records import GROUP_OUTCOMES
from rtrace_otel.cli.choosing import choosing_options
from rtrace_otel.cli.common import answer, opened, reading_options
from rtrace_otel.report.groups import groups_document, groups_json


@click.command()
@reading_options
@choosing_options(GROUP_OUTCOMES, SORTS)
def groups(file: str, form: str, output: str | None, strict: bool, quiet: bool, choice: Choice) -> None:
    """Prompt groups: which ones waited, which generation held them up, and how they ended.

    A group that a later run brought back is listed once for each run. The latencies below the table are those of all
    groups that match, also of those that it does not show.

    \b
    Examples:
      rtrace groups logs/ --slowest
      rtrace groups logs/ --sort straggler --descending
      rtrace groups logs/ --prompt 17
      rtrace groups logs/ --open
    """
    with opened(file, strict=strict, quiet=quiet) as reader:
        report = find_groups(reader, choice)
    read = reader.report
    answer(form, output, file, "groups", groups_document(report, choice, read.source), groups_json(report), read)
