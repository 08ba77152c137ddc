"""Results are kept between commands, and believed only while the trace is the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rtrace_otel.fleet import cache as caching
from rtrace_otel.fleet.cache import Cache, default_folder
from rtrace_otel.fleet.pool import read_here
from rtrace_otel.fleet.report import fleet_report, outcomes
from rtrace_otel.fleet.results import Failure, FileResult, Outcome, encode
from rtrace_otel.fleet.sources import Found, find
from tests.fleet.files import job, write_job


class Counting:
    """An engine that counts what it is asked to read."""

    def __init__(self) -> None:
        """Nothing was read."""
        self.read: list[str] = []

    def __call__(self, paths: Sequence[str]) -> Iterator[tuple[int, Outcome]]:
        """Read, in this process."""
        self.read += paths
        return read_here(paths)


@pytest.fixture
def store(tmp_path: Path) -> Cache:
    """A cache in a folder that does not exist yet."""
    return Cache(tmp_path / "cache" / "deep")


def _fleet(folder: Path, store: Cache | None) -> tuple[list[str], bytes]:
    engine = Counting()
    found, _ = find([str(folder)])
    report = fleet_report([outcome for outcome, _ in outcomes(found, engine, store)])
    return [Path(path).parent.name for path in engine.read], b"\n".join(map(encode, report.jobs))


def test_only_what_changed_is_read_again(tmp_path: Path, store: Cache) -> None:
    """The second time nothing, after a file grew that one, after one was added that one; the answers stay the same."""
    jobs = tmp_path / "jobs"
    one, _ = write_job(jobs / "one", 1), write_job(jobs / "two", 2)
    read, first = _fleet(jobs, store)
    assert ["one", "two"] == read
    assert ([], first) == _fleet(jobs, store)
    with one.open("ab") as file:
        file.write(b'{"event":"mine","run":"z","seq":0,"t":1}\n')
    read, grown = _fleet(jobs, store)
    assert ["one"] == read
    assert grown != first
    assert grown == _fleet(jobs, None)[1]
    write_job(jobs / "three", 3)
    assert ["three"] == _fleet(jobs, store)[0]


@pytest.mark.parametrize("damage", [b"", b"\0" * 100, b"{}", b"\xff\xfe", b"cut"])
def test_damaged_entries_count_as_none(tmp_path: Path, store: Cache, damage: bytes) -> None:
    """Empty, zeros, another file's, no text, or cut in the middle: the trace is read, and the entry is whole again."""
    jobs = tmp_path / "jobs"
    write_job(jobs / "one", 1)
    _, first = _fleet(jobs, store)
    (entry,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    entry.write_bytes(entry.read_bytes()[:-40] if damage == b"cut" else damage)
    assert (["one"], first) == _fleet(jobs, store)
    assert ([], first) == _fleet(jobs, store)


def test_a_damaged_body_counts_as_none(store: Cache, tmp_path: Path) -> None:
    """The first line is right, and the rest is JSON of something else."""
    found = Found("/a", "1")
    store.put(found, job("/a"))
    (entry,) = (path for path in (tmp_path / "cache").rglob("*") if path.is_file())
    head = entry.read_bytes().partition(b"\n")[0]
    for body in (b"{}", b"[]", b'{"result":{"path":7}}', b"1e999"):
        entry.write_bytes(head + b"\n" + body)
        assert store.get(found) is None


def test_another_analysis_reads_again(store: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of another version of the code are not those of this one."""
    found = Found("/a", "1")
    store.put(found, job("/a"))
    assert job("/a") == store.get(found)
    monkeypatch.setattr(caching, "_analysis_version", lambda: "another")
    assert store.get(found) is None


def test_failures_and_files_without_a_stamp_are_not_kept(store: Cache, tmp_path: Path) -> None:
    """Both are read again: the one may be readable by then, of the other nobody knows whether it changed."""
    store.put(Found("/a", "1"), Failure("/a", "no"))
    store.put(Found("/b", None), job("/b"))
    assert not (tmp_path / "cache").exists()
    assert store.get(Found("/b", None)) is None


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path: Path) -> None:
    """The fleet goes on without it."""
    (tmp_path / "file").touch()
    said: list[str] = []
    store = Cache(tmp_path / "file", said.append)
    for path in ("/a", "/b"):
        store.put(Found(path, "1"), job(path))
    (text,) = said
    assert text.startswith("results are not kept for the next time: ")


def test_a_killed_writer_leaves_no_entry(store: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry appears whole or not at all, and what was half written is gone."""

    def interrupted(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(caching, "encode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        store.put(Found("/a", "1"), job("/a"))
    assert [] == [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_where_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the XDG directories say; a relative one counts as none."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert Path("/caches/rtrace/fleet") == default_folder()
    for unset in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert Path("/home/me/.cache/rtrace/fleet") == default_folder()


def test_a_result_is_kept_with_everything(store: Cache, tmp_path: Path) -> None:
    """What comes back equals what was stored."""
    jobs = tmp_path / "jobs"
    write_job(jobs / "one", 1)
    (found,), _ = find([str(jobs)])
    ((_, outcome),) = read_here([found.path])
    store.put(found, outcome)
    assert isinstance(outcome, FileResult)
    assert outcome == store.get(found)
