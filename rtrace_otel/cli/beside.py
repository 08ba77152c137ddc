"""Commands that check a trace beside other analyses: for a large file a second process does it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import click

from rtrace_otel.analysis.check.apart import check_apart
from rtrace_otel.analysis.check.results import CheckReport
from rtrace_otel.analysis.reading.beside import NoAnswerError, beside, is_worth_it
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.reading.source import file_of
from rtrace_otel.analysis.reading.window import Window, window_on
from rtrace_otel.cli.common import default_jobs, opened_parts, opened_window, rare_collections
from rtrace_otel.errors import TraceFileError

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Found = TypeVar("_Found")

Analysis: TypeAlias = Callable[[EventReader, Callable[[], CheckReport] | None], _Found]
"""Goes through all rows of a reader. If it is given who has checked them, it need not, and asks when it is done."""

_HELP: Final = "Processes that read a large file, at most 2: the second does the check. Default: one per core."


def beside_option(command: _Command) -> _Command:
    """The option of commands that can have a second process."""
    return click.option("--jobs", type=click.IntRange(min=1), metavar="N", help=_HELP)(command)


def read_and_checked(
    files: tuple[str, ...],
    analysis: Analysis[_Found],
    *,
    strict: bool,
    quiet: bool,
    jobs: int | None,
    secret: bytes | None = None,
) -> tuple[_Found, ReadReport]:
    """What an analysis finds in a trace, and what its reader met; the result does not depend on the processes.

    Args:
        files: As on the command line.
        analysis: Called once; once more if the second process was lost and all of it must be done here.
        strict: Stop at the first damage.
        quiet: No progress bar and no notes.
        jobs: Processes for a large file, ``None`` for as many as there are cores.
        secret: Key of the hashes, if the check is to be that of rows without names.

    Raises:
        TraceFileError: The trace cannot be read, or it holds no event.
    """
    window = _window(files, default_jobs() if jobs is None else jobs)
    if window is None:
        with opened_parts(files, strict=strict, quiet=quiet) as reader:
            found = analysis(reader, None)
        return found, reader.report
    with window:
        try:
            with rare_collections(), beside(window, partial(check_apart, secret=secret)) as other:
                return _read(window, analysis, None if other is None else other.take, strict=strict, quiet=quiet)
        except NoAnswerError:
            window.rewind()
            return _read(window, analysis, None, strict=strict, quiet=quiet)


def _read(
    window: Window,
    analysis: Analysis[_Found],
    checked: Callable[[], CheckReport] | None,
    *,
    strict: bool,
    quiet: bool,
) -> tuple[_Found, ReadReport]:
    with opened_window(window, strict=strict, quiet=quiet) as reader:
        found = analysis(reader, checked)
    return found, reader.report


def _window(files: tuple[str, ...], jobs: int) -> Window | None:
    """What the file holds now, if two processes are to read it."""
    if len(files) > 1 or files[0] == "-":
        return None
    try:
        path = file_of(Path(files[0]))
        return window_on(path) if is_worth_it(path.stat().st_size, jobs) else None
    except (OSError, TraceFileError):  # reading it says what is wrong
        return None
