"""Commands that ask more of a trace than one process answers at once: for a large file a second one does a part."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import click

from rtrace_otel.analysis.reading.beside import NoAnswerError, beside, is_worth_it
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.reading.source import file_of
from rtrace_otel.analysis.reading.window import Window, window_on
from rtrace_otel.cli.common import default_jobs, opened_parts, opened_window, rare_collections
from rtrace_otel.errors import TraceFileError

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Found = TypeVar("_Found")
_Part = TypeVar("_Part")

Analysis: TypeAlias = Callable[[EventReader, Callable[[], _Part] | None], _Found]
"""Goes through all rows of a reader. If it is given who has a part of the answer, it asks for that when it is done."""

_HELP: Final = "Processes that read a large file, at most 2: the second does a part. Default: one per core."


def beside_option(command: _Command) -> _Command:
    """The option of commands that can have a second process."""
    return click.option("--jobs", type=click.IntRange(min=1), metavar="N", help=_HELP)(command)


def read_beside(
    files: tuple[str, ...],
    analysis: Analysis[_Part, _Found],
    part: Callable[[EventReader], _Part],
    *,
    strict: bool,
    quiet: bool,
    jobs: int | None,
) -> tuple[_Found, ReadReport]:
    """What an analysis finds in a trace, and what its reader met; the result does not depend on the processes.

    Args:
        files: As on the command line.
        analysis: Called once; once more if the second process was lost and all of it must be done here.
        part: Finds a part of it in another process, in the same bytes.
        strict: Stop at the first damage.
        quiet: No progress bar and no notes.
        jobs: Processes for a large file, ``None`` for as many as there are cores.

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
            with rare_collections(), beside(window, part) as other:
                return _read(window, analysis, None if other is None else other.take, strict=strict, quiet=quiet)
        except NoAnswerError:
            window.rewind()
        return _read(window, analysis, None, strict=strict, quiet=quiet)  # here what was found before is free again


def _read(
    window: Window,
    analysis: Analysis[_Part, _Found],
    elsewhere: Callable[[], _Part] | None,
    *,
    strict: bool,
    quiet: bool,
) -> tuple[_Found, ReadReport]:
    with opened_window(window, strict=strict, quiet=quiet) as reader:
        found = analysis(reader, elsewhere)
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
