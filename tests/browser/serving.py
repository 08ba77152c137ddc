"""``rtrace serve`` as a process, and what its page shows."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from tests.cli.program import LIMIT_S, RTRACE, environment

CONNECTED: Final = "window.rtrace && rtrace.live && rtrace.live().connected"


@contextmanager
def program(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A command that runs until the block ends."""
    process = subprocess.Popen(
        [RTRACE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_S)


@contextmanager
def served(*arguments: str | Path) -> Iterator[str]:
    """The address of a server."""
    with program("serve", *arguments) as process:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("Serving at ").strip()


def rows(page: Page) -> int:
    """Rows that the page shows."""
    return int(page.evaluate("rtrace.data.doc.results.summary.rows"))
