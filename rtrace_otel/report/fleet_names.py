"""What to call the jobs of a fleet: the part of each path in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

TRACE_NAMES: Final = ("rollout_trace.jsonl", "rollout_trace.jsonl.gz", "rollout_trace.jsonl.zst")
"""File names that say nothing about the job."""


def short_paths(paths: Sequence[str]) -> dict[str, str]:
    """Each path without what all of them begin with, folder by folder, and without the usual file name.

    Args:
        paths: Paths or addresses.

    Returns:
        A name for each; the path itself where names would be empty or equal.
    """
    parts = {path: path.split("/") for path in paths}
    common = _common(list(parts.values()))
    names = {path: _name(split[common:]) or path for path, split in parts.items()}
    return names if len(set(names.values())) == len(names) else dict(zip(paths, paths, strict=True))


def _common(paths: list[list[str]]) -> int:
    """How many leading folders all paths share."""
    if len(paths) < 2:
        return max(len(paths[0]) - 2, 0) if paths else 0
    shared = 0
    for level in zip(*(path[:-1] for path in paths), strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    return shared


def _name(parts: list[str]) -> str:
    return "/".join(parts[:-1] if parts[-1] in TRACE_NAMES else parts)
