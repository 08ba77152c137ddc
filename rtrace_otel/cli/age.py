"""``rtrace age``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.ages import step_ages
from rtrace_otel.cli.common import answer, opened, reading_options
from rtrace_otel.report.age import age_document, age_json


@click.command()
@reading_options
def age(file: str, form: str, output: str | None, strict: bool, quiet: bool) -> None:
    """Batch age of each training step: weight updates between generating a token and training on it.

    Three values stand side by side where the file has them: the one the controller logged, the one from the token
    counts it published, and the one recomputed from the refit rows of all runs. Where they differ, the report says why.

    \b
    Examples:
      rtrace age rollout_trace.jsonl
      rtrace age logs/ --format csv -o ages.csv
      zcat trace.jsonl.gz | rtrace age - --format json
    """
    with opened(file, strict=strict, quiet=quiet) as reader:
        report = step_ages(reader)
    read = reader.report
    answer(form, output, file, "age", age_document(report, read.source), age_json(report), read)
