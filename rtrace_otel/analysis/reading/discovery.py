"""The traces of a folder, found without looking at everything that a large file system holds."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME

MAX_DEPTH: Final = 6
"""Folders below the one that was named."""

MAX_ENTRIES: Final = 50_000
"""Entries of folders that are looked at; a folder of checkpoints can hold millions."""

MAX_TRACES: Final = 500


@dataclass(frozen=True, slots=True)
class Found:
    """The traces of a search.

    Attributes:
        paths: The traces: files that were named, in their order, and what folders hold, sorted within each.
        given_up: Why the search did not look everywhere; ``None`` if it did.
    """

    paths: tuple[Path, ...]
    given_up: str | None


def find_traces(places: Iterable[Path]) -> Found:
    """The traces that these places hold.

    Args:
        places: Files, which need not be there yet, and folders. A folder is searched for files whose names begin with
            ``rollout_trace.jsonl``, nearest first; links to folders are not followed.
    """
    paths: dict[Path, None] = {}
    looked, given_up = 0, None
    for place in places:
        if not place.is_dir():
            paths[place] = None
            continue
        found, seen, reason = _search(place, MAX_ENTRIES - looked)
        looked += seen
        given_up = given_up or reason
        paths.update(dict.fromkeys(found))
    if len(paths) > MAX_TRACES:
        given_up = f"more than {MAX_TRACES} traces"
    return Found(tuple(paths)[:MAX_TRACES], given_up)


def _search(folder: Path, most: int) -> tuple[list[Path], int, str | None]:
    """Traces in and below a folder, entries looked at, and why the search was given up."""
    found: list[Path] = []
    queue, looked = deque([(folder, 0)]), 0
    while queue:
        here, depth = queue.popleft()
        try:
            with os.scandir(here) as several:
                entries = sorted(islice(several, most - looked + 1), key=lambda entry: entry.name)
        except OSError:  # a folder that may not be read holds nothing for this reader
            continue
        for entry in entries:
            looked += 1
            if looked > most:
                return found, looked, f"more than {MAX_ENTRIES:,} files and folders"
            if entry.name.startswith(ROLLOUT_TRACE_FILENAME) and entry.is_file():
                found.append(Path(entry.path))
            elif depth < MAX_DEPTH and entry.is_dir(follow_symlinks=False):
                queue.append((Path(entry.path), depth + 1))
    return found, looked, None
