"""What the commands share: their options, how they open a file, and how they print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

import click

from rtrace_otel.analysis.damage import ReadReport
from rtrace_otel.analysis.reader import EventReader, read_events
from rtrace_otel.errors import TraceFileError
from rtrace_otel.report.damage import damage_json, damage_sentences
from rtrace_otel.report.document import Document
from rtrace_otel.report.formats import to_csv, to_json, to_markdown

PROGRESS_ABOVE_BYTES: Final = 50 * 1024 * 1024

_Command = TypeVar("_Command", bound=Callable[..., Any])


def reading_options(command: _Command) -> _Command:
    """The options of every command that reads a trace."""
    decorators = (
        click.argument("file"),
        click.option(
            "--format",
            "form",
            type=click.Choice(["table", "json", "csv", "md"]),
            default="table",
            show_default=True,
            help="How to print the answer.",
        ),
        click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the answer to this file."),
        click.option("--strict", is_flag=True, help="Stop at the first damage in the file."),
        click.option("-q", "--quiet", is_flag=True, help="No progress bar and no notes on standard error."),
    )
    for decorator in reversed(decorators):
        command = decorator(command)
    return command


@contextmanager
def opened(file: str, *, strict: bool, quiet: bool) -> Iterator[EventReader]:
    """A reader of the file, with a progress bar if the file is large and standard error is a terminal.

    Raises:
        TraceFileError: The file cannot be read, or it holds no event.
    """
    if file == "-" and sys.stdin.isatty():
        raise click.UsageError("FILE is '-' but standard input is a terminal; pipe a trace into it")
    path = Path(file)
    if (
        not quiet
        and file != "-"
        and sys.stderr.isatty()
        and path.is_file()
        and path.stat().st_size > PROGRESS_ABOVE_BYTES
    ):
        with _with_progress(path) as stream, read_events(stream, strict=strict) as reader:
            yield reader
    else:
        with read_events(file, strict=strict) as reader:
            yield reader
    _note_damage(reader.report, quiet)


def answer(
    form: str, output: str | None, command: str, document: Document, result: Mapping[str, Any], read: ReadReport
) -> None:
    """Print a command's answer, or write it to a file.

    Args:
        form: ``table``, ``json``, ``csv`` or ``md``.
        output: File to write to; ``None`` or ``-`` for standard output.
        command: Name of the command.
        document: Its report.
        result: Its result as JSON values.
        read: What the reader met.
    """
    text = _rendered(form, command, document, result, read)
    if output is None or output == "-":
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TraceFileError(output, f"cannot be written: {error.strerror or error}") from error


def _rendered(form: str, command: str, document: Document, result: Mapping[str, Any], read: ReadReport) -> str:
    if form == "json":
        return to_json(command, result, damage_json(read))
    if form == "csv":
        return to_csv(document)
    if form == "md":
        return to_markdown(document)
    from rtrace_otel.cli.terminal import render_terminal

    return render_terminal(document)


@contextmanager
def _with_progress(path: Path) -> Iterator[IO[bytes]]:
    from rich.console import Console
    from rich.progress import open as open_with_progress

    console = Console(stderr=True)
    with open_with_progress(
        str(path), "rb", description=f"reading {path.name}", console=console, transient=True
    ) as file:
        yield cast("IO[bytes]", file)


def _note_damage(report: ReadReport, quiet: bool) -> None:
    if not report.rows:
        first = damage_sentences(report)
        raise TraceFileError(
            report.source,
            "no rollout event in this file" + (f": {first[0]}" if first else ": it is empty"),
            hint="Is it a rollout trace?",
        )
    if not quiet:
        for sentence in damage_sentences(report):
            click.echo(f"note: {report.source}: {sentence}", err=True)


def silence_stdout() -> None:
    """Nobody reads on: let the interpreter's last flush go nowhere instead of complaining."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
