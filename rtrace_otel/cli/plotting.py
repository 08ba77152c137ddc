"""The pictures of ``rtrace export --to png``: where they go, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from rtrace_otel.analysis.plotted import PlottedFold
from rtrace_otel.analysis.spans_of import NothingSelectedError
from rtrace_otel.cli.streaming import write_stream
from rtrace_otel.errors import MissingExtraError, TraceFileError
from rtrace_otel.events import Row

_FORMATS: Final = ("png", "pdf", "svg")


@dataclass(frozen=True, slots=True)
class Destination:
    """Where pictures go.

    Attributes:
        path: A folder, or a file.
        form: ``png``, ``pdf`` or ``svg``.
        is_folder: Whether each picture is a file of its own.
    """

    path: Path
    form: str
    is_folder: bool


def destination(output: Path | None) -> Destination:
    """What the user means by ``-o``: a file if its name ends like one, else a folder.

    Raises:
        UsageError: It is left out, or it ends like a file of another kind.
    """
    if output is None or str(output) == "-":
        raise click.UsageError("--to png needs -o with a folder, or a file that ends in .png, .pdf or .svg")
    form = output.suffix.lstrip(".").lower()
    if output.is_dir() or not form:
        return Destination(output, "png", is_folder=True)
    if form not in _FORMATS:
        raise click.UsageError(f"-o {output}: pictures are written as .png, .pdf or .svg, or into a folder")
    return Destination(output, form, is_folder=False)


def write_pictures(rows: Iterable[Row], file: str, place: Destination) -> list[str]:
    """Draw the rows; gives the names of the files.

    Args:
        rows: In file order.
        file: The trace, which no picture may replace.
        place: Where they go.

    Raises:
        MissingExtraError: matplotlib is not installed.
        NothingSelectedError: There is nothing to draw.
        TraceFileError: A file cannot be written.
    """
    try:
        from rtrace_otel.report.plots import sheet
    except ImportError as error:
        raise MissingExtraError("rtrace export --to png", "plot", error.name or "matplotlib") from None
    fold = PlottedFold()
    for row in rows:
        fold.add(row)
    found = fold.result()
    if not sheet.shown(found):
        raise NothingSelectedError(
            f"{file}: no attempt, no step with a batch age and no stop: there is nothing to draw"
        )
    if not place.is_folder:
        return [write_stream(place.path, file, [sheet.sheet(found, place.form, file)])]
    try:
        place.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TraceFileError(str(place.path), f"cannot be made: {error.strerror or error}") from error
    pictures = sheet.each_picture(found, place.form)
    return [write_stream(place.path / f"{name}.{place.form}", file, [data]) for name, data in pictures.items()]
