"""``rtrace definitions``."""

from __future__ import annotations

import click

from rtrace_otel.cli.common import answer
from rtrace_otel.report.definitions import (
    UnknownTermError,
    definitions_document,
    definitions_json,
    definitions_of,
    rule_document,
    rule_json,
    rule_of,
)


@click.command()
@click.argument("term", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "md"]),
    default="table",
    show_default=True,
    help="How to print the answer.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the answer to this file.")
def definitions(term: str | None, form: str, output: str | None) -> None:
    """What every number of every command means: its formula, its unit, and where the definition comes from.

    TERM is the name of a number, a command for all of its numbers, or a code of rtrace check. Without it, all are
    listed.

    \b
    Examples:
      rtrace definitions
      rtrace definitions batch_age
      rtrace definitions RT203
    """
    rule = rule_of(term)
    if rule is not None:
        document, result = rule_document(rule, for_terminal=form == "table"), rule_json(rule)
    else:
        try:
            found = definitions_of(term)
        except UnknownTermError as error:
            raise click.UsageError(str(error)) from None
        document, result = definitions_document(found, for_terminal=form == "table"), definitions_json(found)
    answer(form, output, "-", "definitions", document, result, None)
