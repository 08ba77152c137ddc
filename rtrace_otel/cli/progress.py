"""The progress bar of a command that reads a large file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

PROGRESS_ABOVE_BYTES: Final = 50 * 1024 * 1024


def shows_progress(size: int, quiet: bool) -> bool:
    """Whether there is one: for a large file, on standard error, if that is a terminal.

    Args:
        size: Of the file, in bytes.
        quiet: Whether nothing is to be said there.
    """
    return not quiet and size > PROGRESS_ABOVE_BYTES and sys.stderr.isatty()


@contextmanager
def with_progress(file: IO[bytes], size: int) -> Iterator[IO[bytes]]:
    """The same file, with a bar that shows how much of it was read.

    Args:
        file: Open to be read; its name is a path.
        size: How many bytes will be read of it.
    """
    from rich.console import Console
    from rich.progress import wrap_file

    description = f"reading {Path(file.name).name}"
    console = Console(stderr=True)
    with wrap_file(cast("BinaryIO", file), size, description=description, console=console, transient=True) as shown:
        yield shown
