"""Where the traces of a fleet are found."""

from __future__ import annotations

import functools
import gzip
import http.server
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from rtrace_otel.errors import MissingExtraError
from rtrace_otel.fleet.analyse import analyse_file
from rtrace_otel.fleet.results import Failure, FileResult
from rtrace_otel.fleet.sources import Found, find
from tests.cli.program import lines, write
from tests.fleet.files import write_job
from tests.report.history import ended, started, trace

ROWS = trace(started("a", service="math"), ended("a"))


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Two jobs, one of them packed, and files that are none."""
    write_job(tmp_path / "one" / "logs", 1)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "rollout_trace.jsonl.gz").write_bytes(gzip.compress(lines(ROWS)))
    (tmp_path / "two" / "metrics.jsonl").write_text("{}\n")
    return tmp_path


def _paths(*patterns: str | Path) -> list[str]:
    found, failures = find([str(pattern) for pattern in patterns])
    assert [] == failures
    return [one.path for one in found]


def test_a_folder_is_searched_to_its_bottom(jobs: Path) -> None:
    """For files with the name of a trace, packed ones too; other files are passed over."""
    expected = [f"{jobs}/one/logs/rollout_trace.jsonl", f"{jobs}/two/rollout_trace.jsonl.gz"]
    assert expected == _paths(jobs)
    assert expected == _paths(f"{jobs}/*")
    assert expected == _paths(f"{jobs}/**/rollout_trace*")


def test_a_file_is_taken_whatever_its_name(jobs: Path) -> None:
    """Who names it means it."""
    other = write(jobs, ROWS, "monday[1].jsonl")
    assert [str(other)] == _paths(other)


def test_each_trace_is_found_once(jobs: Path) -> None:
    """Named twice, in two ways, or through a link."""
    (jobs / "link").symlink_to(jobs / "one")
    one = f"{jobs}/one/logs/rollout_trace.jsonl"
    assert [one] == _paths(one, f"{jobs}/one", f"{jobs}/link", f"{jobs}/o*")


def test_what_means_nothing_is_a_failure(jobs: Path) -> None:
    """A glob without a match, and an empty folder, beside one that has a trace."""
    (jobs / "none").mkdir()
    found, failures = find([f"{jobs}/one", f"{jobs}/none", f"{jobs}/x*"])
    assert 1 == len(found)
    assert [Failure(f"{jobs}/none", "no trace there"), Failure(f"{jobs}/x*", "no trace there")] == failures


def test_a_folder_that_cannot_be_listed_is_a_failure(jobs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The traces beside it are found."""
    locked, listing = jobs / "one" / "locked", os.scandir
    locked.mkdir()

    def refusing(path: str) -> object:
        if str(path) == str(locked):
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found, failures = find([f"{jobs}/one", str(locked)])

    assert [f"{jobs}/one/logs/rollout_trace.jsonl"] == [one.path for one in found]
    assert [Failure(str(locked), "cannot be listed: Permission denied")] == failures


def test_a_pipe_is_not_waited_for(jobs: Path) -> None:
    """Neither when a folder holds it nor when it is named: reading it would wait for who writes."""
    pipe = jobs / "one" / "rollout_trace.pipe.jsonl"
    os.mkfifo(pipe)
    for patterns in ([f"{jobs}/one"], [str(pipe), f"{jobs}/one/*"]):
        found, failures = find(patterns)
        assert [f"{jobs}/one/logs/rollout_trace.jsonl"] == [one.path for one in found]
        assert [Failure(str(pipe), "is not a file but a device or a pipe")] == failures


def test_a_file_that_changes_has_another_stamp(jobs: Path) -> None:
    """By its size alone, too."""
    (before,), _ = find([f"{jobs}/one"])
    with Path(before.path).open("ab") as file:
        file.write(b"\n")
    (after,), _ = find([f"{jobs}/one"])
    assert before.path == after.path
    assert before.stamp != after.stamp


@pytest.fixture
def server(jobs: Path) -> Iterator[str]:
    """The same folder over HTTP."""
    handler = functools.partial(_Quiet, directory=str(jobs))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_traces_over_http(server: str, jobs: Path) -> None:
    """A server that lists its folders is searched like a disk, and gives the same numbers."""
    found = _paths(f"{server}/")
    assert [f"{server}/one/logs/rollout_trace.jsonl", f"{server}/two/rollout_trace.jsonl.gz"] == found
    for address, path in zip(found, _paths(jobs), strict=True):
        there, here = analyse_file(address), analyse_file(path)
        assert isinstance(there, FileResult)
        assert isinstance(here, FileResult)
        assert there.numbers == here.numbers
    gone = f"{server}/three.jsonl"
    assert Failure(gone, "no such file") == analyse_file(gone)


def test_traces_in_a_store() -> None:
    """Folders and globs of a store that tells when its files changed; the address keeps its protocol."""
    store = fsspec.filesystem("memory")
    store.pipe("/fleet/a/rollout_trace.jsonl", lines(ROWS))
    store.pipe("/fleet/b/rollout_trace-2.jsonl", lines(ROWS))
    store.pipe("/fleet/b/other.txt", b"x")
    paths = ["memory:///fleet/a/rollout_trace.jsonl", "memory:///fleet/b/rollout_trace-2.jsonl"]
    found, _ = find(["memory://fleet"])
    assert paths == [one.path for one in found]
    assert paths == _paths("memory://fleet/*")
    assert all(one.stamp and "created=" in one.stamp for one in found)
    result = analyse_file(paths[0])
    assert isinstance(result, FileResult)
    assert ("math", 2) == (result.service, result.numbers.rows)
    store.rm("/fleet", recursive=True)


def test_a_store_that_does_not_answer_is_a_failure() -> None:
    """With what it said."""
    found, (failure,) = find(["http://127.0.0.1:1/jobs"])
    assert [] == found
    assert failure.reason.startswith("cannot be listed: ")
    _, (unknown,) = find(["nowhere://jobs"])
    assert "Protocol not known: nowhere" in unknown.reason


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local traces need nothing; an address says what to install."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError) as caught:
        find(["s3://bucket/jobs"])
    assert "Reading s3://bucket/jobs needs fsspec. Install it with: pip install 'rtrace-otel[fleet]'" == str(
        caught.value
    )
    assert ([], [Failure("/nowhere", "no trace there")]) == find(["/nowhere"])


def test_a_stamp_needs_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that tells only the size gives no stamp: an equal size is no proof of equal content."""
    files = fsspec.filesystem("memory")
    files.pipe("/f.jsonl", lines(ROWS))
    monkeypatch.setattr(type(files), "info", lambda *_, **__: {"name": "/f.jsonl", "size": 3, "type": "file"})
    assert ([Found("memory:///f.jsonl", None)], []) == find(["memory://f.jsonl"])
    files.rm("/f.jsonl")
