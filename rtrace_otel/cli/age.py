"""``rtrace age``."""

from __future__ import annotations

from typing import Final

import click

from rtrace_otel.analysis.age.by_field import ByFold
from rtrace_otel.analysis.age.defined import DefinitionFold
from rtrace_otel.analysis.age.definitions import DEFINITIONS, DEFINITIONS_BY_NAME
from rtrace_otel.analysis.age.staleness import staleness
from rtrace_otel.cli.common import answer, jobs_option, opened, reading_options
from rtrace_otel.report.age_by import by_document, by_json
from rtrace_otel.report.age_definitions import definitions_document, definitions_json
from rtrace_otel.report.staleness import staleness_document, staleness_json

DEFAULT: Final = DEFINITIONS[0].name
ALL: Final = "all"


@click.command()
@reading_options
@click.option("--by", metavar="FIELD", help="Batch age by the values of a field of the groups' rows.")
@click.option(
    "--definition",
    type=click.Choice([*DEFINITIONS_BY_NAME, ALL]),
    default=DEFAULT,
    show_default=True,
    metavar="NAME",
    help=f"Staleness as another framework defines it: {', '.join(DEFINITIONS_BY_NAME)}; or all, side by side.",
)
@jobs_option
def age(
    file: str,
    form: str,
    output: str | None,
    strict: bool,
    quiet: bool,
    by: str | None,
    definition: str,
    jobs: int | None,
) -> None:
    """Batch age of each training step: weight updates between generating a token and training on it.

    Three values stand side by side where the file has them: the one the controller logged, the one from the token
    counts it published, and the one recomputed from the refit rows of all runs. Where they differ, the report says why.
    It also says where the age comes from, how token ages spread, and what a restore changed.

    \b
    Examples:
      rtrace age rollout_trace.jsonl
      rtrace age logs/ --by environment
      rtrace age logs/ --definition all
      rtrace age logs/ --format csv -o ages.csv
      zcat trace.jsonl.gz | rtrace age - --format json
    """
    if by == "":
        raise click.UsageError("--by: the name is empty; is a variable of your shell unset?")
    if by is not None and definition != DEFAULT:
        raise click.UsageError("--by and --definition do not go together; give one of them")
    chosen = DEFINITIONS if definition == ALL else (DEFINITIONS_BY_NAME[definition],)
    by_fold, definition_fold = ByFold(by or ""), DefinitionFold(chosen)
    watchers = [by_fold] if by is not None else [definition_fold] if definition != DEFAULT else []
    with opened(file, strict=strict, quiet=quiet, jobs=jobs) as reader:
        found = staleness(reader, *watchers)
    read, result = reader.report, staleness_json(found)
    if by is not None:
        document = by_document(by_fold.result(), found, read.source)
        result |= by_json(by_fold.result())
    elif definition != DEFAULT:
        document = definitions_document(definition_fold.result(), found, read.source)
        result |= definitions_json(definition_fold.result())
    else:
        document = staleness_document(found, read.source)
    answer(form, output, file, "age", document, result, read)
