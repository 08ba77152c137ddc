"""Stores that refuse, are silent, or lose objects: listed with the reason, in bounded time, and the others counted."""

from __future__ import annotations

import json
import os
import signal
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rtrace_otel.fleet.pool import read_here, read_in_pool
from rtrace_otel.fleet.results import Failure, FileResult, Outcome
from rtrace_otel.fleet.sources import find
from rtrace_otel.fleet.stores import Stores
from rtrace_otel.fleet.stream import CHUNK, GIVE_UP
from tests.cli.program import lines, rtrace, strict_json
from tests.fleet.killing import readers
from tests.fleet.stores import BUCKET, Store, s3_client, s3_server
from tests.report.history import ended, started, trace
from tests.server_process import refusing_port

ROWS = lines(trace(started("a"), ended("a")))
SHORT_S = 0.5
"""Patience with what never answers: it runs out on any machine."""

SILENT = f"the store gave no usable answer within {SHORT_S} s"


@contextmanager
def _silence(bucket: Store, part: str) -> Iterator[None]:
    """No answer to requests whose path has this part, until the block ends."""
    over = threading.Event()

    def hold(_method: str, path: str) -> int | None:
        if part in path:
            over.wait()
        return None

    bucket.proxy.act = hold
    try:
        yield
    finally:
        over.set()


def _reasons(found: list[Outcome]) -> list[str]:
    return [one.reason for one in found if isinstance(one, Failure)]


def test_what_is_not_there(bucket: Store) -> None:
    """A bucket, a folder, a file: a line each, and no traceback."""
    nowhere = f"{bucket.kind}://nobucket/jobs"
    patterns = [nowhere, bucket.address("none"), bucket.address("none/rollout_trace.jsonl"), bucket.address("none*")]
    found, failures = find(patterns)
    assert [] == found
    missing = "no trace there: no such file, folder or bucket"
    assert {nowhere: missing, patterns[1]: missing, patterns[2]: missing, patterns[3]: "no trace there"} == {
        one.path: one.reason for one in failures
    }
    result = rtrace("fleet", nowhere)
    assert (1, "") == (result.code, result.out)
    assert f"error: {nowhere}: {missing}" == result.err.splitlines()[-1]
    assert 2 == len(result.err.splitlines())


def test_a_store_that_refuses_all(bucket: Store) -> None:
    """It is said, at once: a refusal is not tried again."""
    bucket.proxy.act = lambda _method, _path: 403
    result = rtrace("fleet", bucket.address("jobs"))
    assert 1 == result.code
    assert f"error: {bucket.address('jobs')}: cannot be listed: no permission: Forbidden" in result.err
    assert "Traceback" not in result.err


def test_a_refusal_over_http_is_no_missing_file(bucket: Store) -> None:
    """Though its client raises all that goes wrong as a file that is not there."""
    bucket.proxy.act = lambda _method, _path: 403
    address = f"{bucket.proxy.url}/jobs/rollout_trace.jsonl"
    _, (failure,) = find([address])
    assert failure.reason.startswith("cannot be listed: no permission: 403, message='Forbidden'")
    ((_, outcome),) = read_here([address])
    assert isinstance(outcome, Failure)
    assert outcome.reason.startswith("no permission: 403, message='Forbidden'")


def test_an_object_that_is_refused(bucket: Store) -> None:
    """The others are counted, and the exit status is that of any fleet with a file that cannot be read."""
    bucket.put_all({f"locked/{name}/rollout_trace.jsonl": ROWS for name in ("open", "shut")})
    bucket.proxy.act = lambda method, path: 403 if bucket.is_content(method, path) and "shut" in path else None
    result = rtrace("fleet", bucket.address("locked"), "--no-cache", "--jobs", "1", "--format", "json")
    data = strict_json(result.out)
    assert (0, 1) == (result.code, data["total"]["jobs"])
    (failure,) = data["failures"]
    assert bucket.address("locked/shut/rollout_trace.jsonl") == failure["path"]
    assert failure["reason"].startswith("no permission: Forbidden")


@pytest.mark.parametrize("processes", [1, 2])
def test_an_object_that_is_gone_when_it_is_read(bucket: Store, processes: int) -> None:
    """Listed, then deleted: it is no trace any more, and the others are counted."""
    bucket.put_all({f"fleeting/{number}/rollout_trace.jsonl": ROWS for number in range(4)})
    found, _ = find([bucket.address("fleeting")])
    bucket.delete("fleeting/2/rollout_trace.jsonl")
    paths = [one.path for one in found]
    read = read_here(paths) if processes == 1 else read_in_pool(paths, processes)
    results = dict(read)
    assert Failure(paths[2], "no such file") == results.pop(2)
    assert 3 == sum(isinstance(one, FileResult) for one in results.values())


@pytest.mark.parametrize("bucket", ["s3"], indirect=True)
def test_a_process_that_is_killed_with_objects_on_their_way(bucket: Store) -> None:
    """None of them is lost: not the one that it worked on, nor those that it had asked for already."""
    bucket.put_all({f"killing/{number:02}/rollout_trace.jsonl": ROWS for number in range(12)})
    found, _ = find([bucket.address("killing")])
    once, killed = threading.Lock(), set[int]()

    def kill(method: str, path: str) -> None:
        with once:
            if not killed and "killing" in path and bucket.is_content(method, path):
                killed.update(readers())
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)

    bucket.proxy.act = kill
    results = dict(read_in_pool([one.path for one in found], 1))
    assert 1 == len(killed)
    assert [FileResult] * 12 == [type(results[place]) for place in range(12)]


def test_an_object_that_is_replaced_while_it_is_read(bucket: Store) -> None:
    """Half of one and half of another is a trace of neither."""
    key = "replaced/rollout_trace.jsonl"
    row = json.dumps({"event": "x", "t": 1.0, "run": "a", "text": "-" * 1000}).encode() + b"\n"
    long = row * (2 * CHUNK // len(row))
    bucket.put(key, long)
    asked = 0

    def replace(method: str, path: str) -> None:
        nonlocal asked
        if "replaced" in path and bucket.is_content(method, path):
            asked += 1
            if asked == 2:
                bucket.put(key, long.replace(b'"a"', b'"b"'))

    bucket.proxy.act = replace
    (_, outcome), *_ = read_here([bucket.address(key)])
    assert Failure(bucket.address(key), "it was replaced while it was read; read it again") == outcome


def test_nobody_listens(bucket: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patience ends it, whatever the store's own client would still try; or the client gives up by itself."""
    with refusing_port() as port:
        for name, value in bucket.env(f"http://127.0.0.1:{port}").items():
            monkeypatch.setenv(name, value)
        found, (failure,) = find([bucket.address("jobs")], Stores(SHORT_S))
    assert [] == found
    assert failure.reason.startswith("cannot be listed: ")
    assert SILENT in failure.reason or "onnect" in failure.reason


def test_a_store_that_never_answers(bucket: Store) -> None:
    """The program says so and ends, though its request is still on the way."""
    with _silence(bucket, "quiet"):
        result = rtrace("fleet", bucket.address("quiet"), "--timeout", str(SHORT_S))
    assert (1, "") == (result.code, result.out)
    assert f"error: {bucket.address('quiet')}: cannot be listed: {SILENT}" == result.err.splitlines()[-1]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_store_that_falls_silent_is_given_up(bucket: Store, processes: int) -> None:
    """After some objects without an answer the others are not waited for, in each process."""
    bucket.put_all({f"dying/{number:02}/rollout_trace.jsonl": ROWS for number in range(20)})
    found, failures = find([bucket.address("dying")])
    assert [] == failures
    paths = [one.path for one in found]
    with _silence(bucket, "dying"):
        read = read_here(paths, SHORT_S) if processes == 1 else read_in_pool(paths, processes, SHORT_S)
        reasons = _reasons([outcome for _, outcome in read])
    assert GIVE_UP * processes == reasons.count(SILENT)
    assert 20 - GIVE_UP * processes == reasons.count(f"not waited for: {GIVE_UP} others in a row got no answer")


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[str, dict[str, str]]]:
    """An S3 that checks who asks; and the keys of a user who may do nothing."""
    with s3_server() as url:
        s3_client(url).create_bucket(Bucket=BUCKET)
        iam = s3_client(url, "iam")
        iam.create_user(UserName="nobody")
        key = iam.create_access_key(UserName="nobody")["AccessKey"]
        request = urllib.request.Request(f"{url}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
        yield url, {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, "no permission: Access Denied"),
        ({"AWS_SECRET_ACCESS_KEY": "wrong"}, "no permission: The request signature we calculated does not match"),
        ({"AWS_ACCESS_KEY_ID": "wrong"}, "no permission: The AWS Access Key Id you provided does not exist"),
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "NoCredentialsError: Unable to locate credentials"),
    ],
)
def test_credentials(guarded: tuple[str, dict[str, str]], changed: dict[str, str], reason: str) -> None:
    """No permission, a wrong secret, a wrong key, none: what the store or its client says of each."""
    url, keys = guarded
    nobody = {"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere"}
    env = {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", **nobody}
    result = rtrace("fleet", f"s3://{BUCKET}/jobs", env={**env, **keys, **changed})
    assert 1 == result.code
    assert f"error: s3://{BUCKET}/jobs: cannot be listed: {reason}" in result.err
    assert "Traceback" not in result.err
