"""Writes what is derived: ``python -m tests.generate``; a test holds the files on disk to it.

The schema page, the JSON Schema and the typed methods come from the registry, the definitions of staleness in
``docs/concepts.md`` from theirs, the help texts of ``docs/cli.md`` from the commands, and the demo's output in the
README from the demo stored in ``tests/data/demo``.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import click

from rtrace_otel.analysis.age.definitions import DEFINITIONS
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.cli.main import COMMANDS, build_cli
from rtrace_otel.cli.terminal import render_documents
from rtrace_otel.demo.report import demo_documents
from tests.conventions_page import conventions_page
from tests.record_demo import DATA, recorded
from tests.reference_pages import checks_page, definitions_page
from tests.schema_pages import json_schema, schema_page
from tests.sql_pages import sql_page
from tests.typed_methods import typed_methods

ROOT = Path(__file__).resolve().parent.parent


def readme() -> str:
    """``README.md`` with the stored demo's output."""
    result = recorded()
    reader = read_events(DATA / "rollout_trace.jsonl.gz")
    events = list(reader)
    read = dataclasses.replace(reader.report, source=str(result.trace))
    return _with_block(
        (ROOT / "README.md").read_text(encoding="utf-8"), "demo", render_documents(demo_documents(result, events, read))
    )


def cli_page() -> str:
    """``docs/cli.md`` with each command's help."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    group = build_cli()
    context = click.Context(
        group, info_name="rtrace", max_content_width=100, terminal_width=100, help_option_names=["-h", "--help"]
    )
    text = _with_block(text, "rtrace", group.get_help(context))
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        text = _with_block(text, name, command.get_help(click.Context(command, context, name)))
    return text


def concepts_page() -> str:
    """``docs/concepts.md`` with the definitions of staleness."""
    text = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    rows = [
        "| name | framework and metric | from | back to | unit | weighting | approximation |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in DEFINITIONS:
        metric = one.metric if " " in one.metric else f"`{one.metric}`"
        cells = (
            f"`{one.name}`",
            f"{one.framework}: {metric}",
            one.later_clock,
            one.earlier_clock,
            one.unit,
            one.weight,
        )
        rows.append(f"| {' | '.join((*cells, one.approximation))} |")
    head, _, rest = text.partition("<!-- definitions -->")
    _, end, tail = rest.partition("<!-- end of definitions -->")
    assert end, "no place for the definitions"
    return "\n".join([f"{head}<!-- definitions -->", "", *rows, "", f"{end}{tail}"])


def _with_block(text: str, name: str, output: str) -> str:
    """The text with the code block that follows ``<!-- output: NAME -->`` replaced."""
    pattern = re.compile(rf"(<!-- output: {name} -->\n```text\n).*?(```\n)", re.DOTALL)
    assert pattern.search(text), f"no block for {name}"
    return pattern.sub(lambda match: match[1] + output.rstrip() + "\n" + match[2], text)


FILES = {
    "README.md": readme,
    "docs/cli.md": cli_page,
    "docs/concepts.md": concepts_page,
    "rtrace_otel/record/typed.py": typed_methods,
    "docs/checks.md": checks_page,
    "docs/definitions.md": definitions_page,
    "docs/schema.md": schema_page,
    "docs/semantic-conventions.md": conventions_page,
    "docs/rollout_trace.schema.json": json_schema,
    "docs/sql.md": sql_page,
}

if __name__ == "__main__":
    for path, text in FILES.items():
        (ROOT / path).write_text(text(), encoding="utf-8")
        print(f"wrote {path}")
