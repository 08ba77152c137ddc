"""Traces in real object stores give what the same files give on a disk."""

from __future__ import annotations

import gzip
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rtrace_otel.fleet.cache import Cache
from rtrace_otel.fleet.pool import AHEAD, read_here, read_in_pool
from rtrace_otel.fleet.report import outcomes
from rtrace_otel.fleet.results import FileResult, Outcome
from rtrace_otel.fleet.sources import find
from rtrace_otel.fleet.stores import Stores
from rtrace_otel.fleet.stream import CHUNK
from rtrace_otel.testing import SimulationSettings, simulate
from tests.cli.program import lines, rtrace
from tests.fleet.stores import BUCKET, Store
from tests.pace import SOON_S
from tests.report.history import ended, started, trace

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROWS = lines(trace(started("a", service="math"), ended("a")))

NAMES = (
    "a/rollout_trace.jsonl",
    "b b/logs/rollout_trace-2.jsonl",
    "c#1/rollout_trace.jsonl.gz",
    "d%20e/rollout_trace%2F.jsonl.zst",
    "ü 漢/rollout_trace[1].jsonl",
    "f*?/rollout_trace{x}.jsonl",
)
"""Keys with characters that mean something in an address, a glob, or a URL."""


def _packed(name: str, data: bytes) -> bytes:
    if name.endswith(".gz"):
        return gzip.compress(data)
    return zstd.compress(data) if name.endswith(".zst") else data


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """Traces of simulated jobs under those names, and a file that is none."""
    rows = {
        name: lines(simulate(SimulationSettings(seed=seed, prompts=20, steps=3)).rows)
        for seed, name in enumerate(NAMES)
    }
    return {**{name: _packed(name, data) for name, data in rows.items()}, "a/metrics.jsonl": b"{}\n"}


@pytest.fixture
def disk(files: dict[str, bytes], bucket: Store, tmp_path: Path) -> Path:
    """The same files in a folder and in the store, there under ``same``."""
    for name, data in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    bucket.put_all({f"same/{name}": data for name, data in files.items()})
    return tmp_path


def _read(patterns: list[str], root: str) -> list[Outcome]:
    """Everything that patterns mean, with names that begin below the root."""
    found, failures = find(patterns)
    assert [] == failures
    results = [outcome for _, outcome in read_here([one.path for one in found])]
    return sorted((replace(one, path=one.path.removeprefix(root)) for one in results), key=lambda one: one.path)


def test_folders_and_globs(bucket: Store, disk: Path) -> None:
    """The same traces are found as in a folder."""
    stores, root = Stores(), bucket.address("same")
    for pattern in ("", "/", "/**/rollout_trace*", "/*", "/[a-d]*", "/**/logs", "/*/rollout*"):
        here, _ = find([f"{disk}{pattern}"])
        there, failures = find([f"{root}{pattern}"], stores)
        assert ([], pattern) == (failures, pattern)
        assert [one.path.replace(str(disk), root) for one in here] == [one.path for one in there]


def test_every_number_is_the_same(bucket: Store, disk: Path) -> None:
    """Of each trace, found in a folder, or by its name whatever characters that has."""
    here = _read([str(disk)], str(disk))
    assert len(NAMES) == sum(isinstance(one, FileResult) for one in here)
    assert here == _read([bucket.address("same")], bucket.address("same"))
    assert here == _read([bucket.address(f"same/{name}") for name in NAMES], bucket.address("same"))


def test_the_program_gives_the_same_bytes(bucket: Store, disk: Path) -> None:
    """By two processes, from the store and from the disk, apart from the paths; and it says nothing but its note."""
    options = ("--format", "json", "--no-cache", "--jobs", "2", "--by", "host")
    there = rtrace("fleet", bucket.address("same"), *options)
    here = rtrace("fleet", disk, *options)
    assert 0 == there.code
    assert here.out.replace(str(disk), bucket.address("same")) == there.out
    assert ["note: 6 traces in"] == [line.rpartition(" in ")[0] + " in" for line in there.err.splitlines()]


def test_a_disk_and_a_store_in_one_call(bucket: Store, disk: Path) -> None:
    """Twice as many traces, in the order of their paths."""
    both = [f"{disk}/a", bucket.address("same/a"), bucket.address("same/b b")]
    found, failures = find(both)
    expected = [f"{disk}/a/rollout_trace.jsonl", *(bucket.address(f"same/{name}") for name in NAMES[:2])]
    assert ([], sorted(expected)) == (failures, [one.path for one in found])
    paths = [one.path for one in found]
    assert list(read_here(paths)) == sorted(read_in_pool(paths, 2), key=lambda pair: pair[0])


def test_only_an_object_that_changed_is_read_again(bucket: Store, tmp_path: Path) -> None:
    """By what the store is asked for."""
    bucket.put_all({f"cached/{number}/rollout_trace.jsonl": ROWS for number in range(5)})
    cache = Cache(tmp_path)

    def known() -> int:
        found, _ = find([bucket.address("cached")])
        return sum(was_known for _, was_known in outcomes(found, read_here, cache))

    assert (0, 5) == (known(), len(bucket.contents("cached")))
    bucket.proxy.asked.clear()
    assert (5, 0) == (known(), len(bucket.contents("cached")))
    bucket.put("cached/3/rollout_trace.jsonl", ROWS.replace(b"math", b"code"))
    assert 4 == known()
    assert {"3"} == {one.partition("cached")[2][1:].removeprefix("2F")[:1] for one in bucket.contents("cached")}


def test_more_objects_than_a_listing_has(bucket: Store) -> None:
    """S3 lists a thousand at a time; this store of the other kind gives all at once."""
    count = 1_100 if bucket.kind == "s3" else 110
    bucket.put_all({f"many/{number:04}/rollout_trace.jsonl": ROWS for number in range(count)})
    bucket.proxy.asked.clear()
    found, failures = find([bucket.address("many")])
    assert ([], count) == (failures, len(found))
    assert all(one.stamp for one in found)
    asked = bucket.proxy.about("many")
    assert len(asked) < 6
    assert (bucket.kind == "s3") == sum("continuation-token" in one for one in asked)


def test_a_signed_url(bucket: Store) -> None:
    """It has the mark of a glob, and is none; and it is not loaded as a listing of links."""
    if bucket.kind == "gs":
        url = f"{bucket.proxy.url}/download/storage/v1/b/{BUCKET}/o/signed%2Frollout_trace.jsonl?alt=media"
    else:
        where = {"Bucket": BUCKET, "Key": "signed/rollout_trace.jsonl"}
        signed = bucket.client.generate_presigned_url("get_object", where)
        url = signed.replace(bucket.url, bucket.proxy.url)
    bucket.put("signed/rollout_trace.jsonl", ROWS)
    found, failures = find([url])
    assert ([url], []) == ([one.path for one in found], failures)
    ((_, outcome),) = read_here([url])
    assert isinstance(outcome, FileResult)
    assert ("math", 2) == (outcome.service, outcome.numbers.rows)


def test_a_large_object_comes_in_parts(bucket: Store) -> None:
    """It is never in memory as a whole."""
    row = b'{"event":"x","t":1.0,"run":"a","text":"' + b"-" * 1000 + b'"}\n'
    bucket.put("large/rollout_trace.jsonl", row * (5 * CHUNK // len(row)))
    ((_, outcome),) = read_here([bucket.address("large/rollout_trace.jsonl")])
    assert isinstance(outcome, FileResult)
    assert 5 * CHUNK // len(row) == outcome.numbers.rows
    assert 5 <= len(bucket.contents("large"))


def test_objects_are_read_side_by_side(bucket: Store) -> None:
    """A store that answers only when as many wait as one process asks for at a time answers all of them."""
    bucket.put_all({f"wide/{number}/rollout_trace.jsonl": ROWS for number in range(2 * AHEAD)})
    found, _ = find([bucket.address("wide")])
    together = threading.Barrier(AHEAD)

    def gather(method: str, path: str) -> int | None:
        if "wide" in path and bucket.is_content(method, path):
            together.wait(SOON_S)
        return None

    bucket.proxy.act = gather
    results = [outcome for _, outcome in read_here([one.path for one in found], SOON_S)]
    assert 2 * AHEAD == sum(isinstance(one, FileResult) for one in results)
