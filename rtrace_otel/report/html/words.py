"""What is said when a page has been written."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.report.document import printable
from rtrace_otel.report.numbers import plural


def written(path: str, size: int, read: ReadReport, files: Sequence[str]) -> str:
    """Where the page is, how large, and what to type next, as lines of text.

    Args:
        path: Where it was written.
        size: Its bytes.
        read: What the reader met.
        files: The trace or its parts, as the user named them.
    """
    rows = f"{plural(read.rows, 'row')} of {plural(len(read.runs), 'run')}"
    lines = [f"{printable(path)}: {megabytes(size)}, {rows}. Open it in a browser; it needs no network."]
    if "-" not in files:
        names = " ".join(shlex.quote(file) for file in files)
        lines += ["Next:", f"  rtrace restore {names}", *([f"  rtrace check {names}"] if len(files) == 1 else [])]
    return "".join(f"{printable(line)}\n" for line in lines)


def megabytes(size: int) -> str:
    """A size: ``76 KB``, ``1.4 MB``."""
    return f"{size / 1e6:.1f} MB" if size >= 999_500 else f"{size / 1e3:.0f} KB"
