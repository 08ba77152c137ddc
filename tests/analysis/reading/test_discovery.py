"""Searching folders for traces."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.analysis.reading import discovery
from rtrace_otel.analysis.reading.discovery import find_traces


def files(folder: Path, *names: str) -> None:
    """Empty files."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def names(folder: Path, *places: Path) -> list[str]:
    """What is found, by its path below a folder."""
    return [str(path.relative_to(folder)) for path in find_traces(places or (folder,)).paths]


def test_traces_of_a_folder(tmp_path: Path) -> None:
    """Nearest first, then by name; packed and numbered ones too; other files are none."""
    files(tmp_path, "b/rollout_trace.jsonl", "a/rollout_trace.jsonl.gz", "a/x/rollout_trace.jsonl", "a/other.jsonl")
    files(tmp_path, "rollout_trace.jsonl.1", "old_rollout_trace.jsonl")
    expected = ["rollout_trace.jsonl.1", "a/rollout_trace.jsonl.gz", "b/rollout_trace.jsonl", "a/x/rollout_trace.jsonl"]
    assert expected == names(tmp_path)


def test_files_that_are_named(tmp_path: Path) -> None:
    """They come in their order, once, and need not be there."""
    files(tmp_path, "rollout_trace.jsonl")
    places = (tmp_path / "later.jsonl", tmp_path / "rollout_trace.jsonl", tmp_path)
    assert ["later.jsonl", "rollout_trace.jsonl"] == names(tmp_path, *places)


def test_depth_is_bounded(tmp_path: Path) -> None:
    """Six folders down is found, seven is not."""
    files(tmp_path, "1/2/3/4/5/6/rollout_trace.jsonl", "1/2/3/4/5/6/7/rollout_trace.jsonl")
    assert ["1/2/3/4/5/6/rollout_trace.jsonl"] == names(tmp_path)


def test_a_ring_of_links_ends(tmp_path: Path) -> None:
    """Links to folders are not followed."""
    files(tmp_path, "a/rollout_trace.jsonl")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert ["a/rollout_trace.jsonl"] == names(tmp_path)


def test_a_search_that_is_too_long_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it found until then is given."""
    monkeypatch.setattr(discovery, "MAX_ENTRIES", 3)
    files(tmp_path, "rollout_trace.jsonl", "x", "y", "z")
    found = find_traces([tmp_path])
    assert ([tmp_path / "rollout_trace.jsonl"], "more than 3 files and folders") == (list(found.paths), found.given_up)


def test_too_many_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first ones are given."""
    monkeypatch.setattr(discovery, "MAX_TRACES", 2)
    files(tmp_path, "a/rollout_trace.jsonl", "b/rollout_trace.jsonl", "c/rollout_trace.jsonl")
    found = find_traces([tmp_path])
    assert (2, "more than 2 traces") == (len(found.paths), found.given_up)


def test_a_folder_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed over."""
    files(tmp_path, "a/rollout_trace.jsonl", "b/rollout_trace.jsonl")
    real = os.scandir

    def scandir(path: Path) -> Any:
        if path.name == "a":
            raise PermissionError
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert ["b/rollout_trace.jsonl"] == names(tmp_path)
