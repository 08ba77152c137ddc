"""What the commands share: their options, how they open a file, and how they print."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.parallel import MIN_BYTES
from rtrace_otel.analysis.reading.parts import Parts
from rtrace_otel.analysis.reading.reader import EventReader, read_events
from rtrace_otel.analysis.reading.source import file_of, is_one_of
from rtrace_otel.analysis.reading.window import Window
from rtrace_otel.cli.progress import shows_progress, with_progress
from rtrace_otel.errors import TraceFileError
from rtrace_otel.report.damage import damage_json, damage_sentences
from rtrace_otel.report.document import Document, printable
from rtrace_otel.report.formats import to_csv, to_json, to_markdown

COLLECT_EVERY: Final = 100_000
"""Objects that are made between two looks for garbage in cycles."""

MAX_JOBS: Final = 8
"""More processes than that wait for the one that puts their results together."""


class StdoutError(Exception):
    """Standard output cannot be written.

    Attributes:
        error: Why.
    """

    def __init__(self, error: OSError) -> None:
        """Keep the reason from click, which handles some of them in its own way."""
        super().__init__(str(error))
        self.error = error


_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Trace(click.Path):
    """A trace on the command line; completed like any path, looked at only when it is read."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty; is a variable of your shell unset?", param, ctx)
        return super().convert(value, param, ctx)


TRACE: Final = _Trace(allow_dash=True)
"""Type of the argument FILE."""


def reading_options(command: _Command) -> _Command:
    """The argument FILE and the options of every command that reads a trace."""
    return click.argument("file", type=TRACE)(answer_options(command))


def parts_options(command: _Command) -> _Command:
    """The same for a command that takes several, as FILES: parts of one trace, or traces to compare."""
    return click.argument("files", type=TRACE, nargs=-1, required=True)(answer_options(command))


def answer_options(command: _Command) -> _Command:
    """The options of every command that reads a trace."""
    decorators = (
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


def jobs_option(command: _Command) -> _Command:
    """The option of commands that several processes can answer."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        help="Processes that read a large file. Default: one per core, at most 8.",
    )(command)


def default_jobs() -> int:
    """One for each core that this process may use, at most ``MAX_JOBS``."""
    return min(len(os.sched_getaffinity(0)), MAX_JOBS)


@contextmanager
def opened(file: str, *, strict: bool, quiet: bool, jobs: int | None = 1) -> Iterator[EventReader]:
    """A reader of the file, with a progress bar if one process reads a large one and standard error is a terminal.

    Args:
        file: As on the command line.
        strict: Stop at the first damage.
        quiet: No progress bar and no notes.
        jobs: Processes for a large file, ``None`` for one per core.

    Raises:
        TraceFileError: The file cannot be read, or it holds no event.
    """
    if file == "-" and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("FILE is '-' but standard input is a terminal; pipe a trace into it")
    with rare_collections(), _reader_of(file, strict, quiet, jobs) as reader:
        yield reader
        gc.freeze()  # nobody looks for garbage among it: freeing it piece by piece takes longer than the process's end
    _note_damage(reader.report, quiet)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage in cycles seldom: looking for it took a third of the time of a check.

    It costs memory: what an analysis leaves in cycles waits longer.
    """
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _reader_of(file: str, strict: bool, quiet: bool, jobs: int | None) -> Iterator[EventReader]:
    size = 0 if file == "-" else _size_of(Path(file))
    jobs = 1 if size < MIN_BYTES else default_jobs() if jobs is None else jobs
    if jobs == 1 and file != "-" and shows_progress(size, quiet):
        with (
            file_of(Path(file)).open("rb") as plain,
            with_progress(plain, size) as stream,
            read_events(stream, strict=strict, one_pass=True) as reader,
        ):
            yield reader
    else:
        with read_events(file, strict=strict, one_pass=True, jobs=jobs) as reader:
            yield reader


@contextmanager
def opened_window(window: Window, *, strict: bool, quiet: bool) -> Iterator[EventReader]:
    """A reader of what a file held a moment ago, in every other way as from :func:`opened`.

    Raises:
        TraceFileError: It cannot be read, or it holds no event.
    """
    size = window.extent.size
    progress = with_progress(window.stream, size) if shows_progress(size, quiet) else nullcontext(window.stream)
    with rare_collections(), progress as stream, read_events(stream, strict=strict) as reader:
        yield reader
    _note_damage(reader.report, quiet)


@contextmanager
def opened_parts(files: Sequence[str], *, strict: bool, quiet: bool) -> Iterator[EventReader]:
    """A reader of a trace that lies in one file or several.

    Raises:
        TraceFileError: One of them cannot be read, or they hold no event.
    """
    if len(files) == 1:
        with opened(files[0], strict=strict, quiet=quiet) as reader:
            yield reader
        return
    if "-" in files:
        raise click.UsageError("'-' must stand alone: standard input cannot be one part of several")
    with read_events(Parts(files), strict=strict) as reader:
        yield reader
    _note_damage(reader.report, quiet)


def check_readable(file: str) -> None:
    """Open and close a file that nothing needs to be read from.

    Raises:
        TraceFileError: It cannot be opened.
    """
    if file != "-":
        read_events(file).close()


def _size_of(path: Path) -> int:
    try:
        return file_of(path).stat().st_size
    except (OSError, TraceFileError):  # reading it says what is wrong
        return 0


def answer(
    form: str,
    output: str | None,
    file: str | Sequence[str],
    command: str,
    document: Document,
    result: Mapping[str, Any],
    read: ReadReport | None,
) -> None:
    """Print a command's answer, or write it to a file.

    Args:
        form: ``table``, ``json``, ``csv`` or ``md``.
        output: File to write to; ``None`` or ``-`` for standard output.
        file: The trace or its parts, which the answer must not replace.
        command: Name of the command.
        document: Its report.
        result: Its result as JSON values.
        read: What the reader met; ``None`` if the command reads no trace.
    """
    to_file = output is not None and output != "-"
    deliver(_rendered(form, command, document, result, read, to_file=to_file), output, file)


def deliver(text: str, output: str | None, file: str | Sequence[str]) -> None:
    """Print an answer, or write it to a file.

    Args:
        text: The answer.
        output: As for :func:`answer`.
        file: As for :func:`answer`.
    """
    if output is None or output == "-":
        write_out(text)
    else:
        write_file(Path(output), file, text)


def write_out(text: str) -> None:
    """Write to standard output as it is.

    Raises:
        StdoutError: It cannot be written. click would take a closed pipe for a failure of its own.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise StdoutError(error) from error


def write_file(path: Path, trace: str | Sequence[str], text: str) -> None:
    """Write a file.

    Raises:
        TraceFileError: It cannot be written, or it is the trace itself.
    """
    try:
        parts = [trace] if isinstance(trace, str) else trace
        if is_one_of(path, parts):
            raise TraceFileError(str(path), "is the trace itself", hint="Give -o another name")
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TraceFileError(str(path), f"cannot be written: {error.strerror or error}") from error


def _rendered(
    form: str, command: str, document: Document, result: Mapping[str, Any], read: ReadReport | None, *, to_file: bool
) -> str:
    if form == "json":
        return to_json(command, result, None if read is None else damage_json(read))
    if form == "csv":
        return to_csv(document)
    if form == "md":
        return to_markdown(document)
    from rtrace_otel.cli.terminal import PLAIN, render_terminal, standard_output

    return render_terminal(document, PLAIN if to_file else standard_output())


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
            click.echo(printable(f"note: {report.source}: {sentence}"), err=True)
