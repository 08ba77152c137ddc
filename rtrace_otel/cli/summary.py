"""``rtrace summary``."""

from __future__ import annotations

import click

from rtrace_otel.analysis.summary import summarise
from rtrace_otel.cli.beside import beside_option, read_beside
from rtrace_otel.cli.common import answer, deliver, opened, reading_options
from rtrace_otel.report.summary import next_blocks, summary_document, summary_json


@click.command()
@reading_options
@click.option("--all", "everything", is_flag=True, help="Also what age, restore and check say, from one pass.")
@beside_option
def summary(
    file: str, form: str, output: str | None, strict: bool, quiet: bool, everything: bool, jobs: int | None
) -> None:
    """What a trace holds: its runs and how each ended, attempts and groups by outcome, steps, refits, checkpoints.

    \b
    Examples:
      rtrace summary rollout_trace.jsonl
      rtrace summary logs/ --format md
      rtrace summary logs/ --format json | jq .attempts
      rtrace summary logs/ --all
    """
    if everything:
        _answers(file, form, output, strict=strict, quiet=quiet, jobs=jobs)
        return
    with opened(file, strict=strict, quiet=quiet) as reader:
        result = summarise(reader)
    read = reader.report
    document = summary_document(result, read)
    if form == "table":
        document = document.followed_by(next_blocks(file))
    answer(form, output, file, "summary", document, summary_json(result), read)


def _answers(file: str, form: str, output: str | None, *, strict: bool, quiet: bool, jobs: int | None) -> None:
    from rtrace_otel.analysis.answers import answers
    from rtrace_otel.analysis.check.check import check_trace
    from rtrace_otel.report.answers import answers_csv, answers_documents, answers_json, joined

    found, read = read_beside((file,), answers, check_trace, strict=strict, quiet=quiet, jobs=jobs)
    documents = answers_documents(found, read, for_terminal=form == "table")
    if form == "csv":
        deliver(answers_csv(documents), output, file)
    else:
        answer(form, output, file, "summary", joined(documents), answers_json(found), read)
