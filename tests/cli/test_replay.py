"""``rtrace replay`` against real OTLP receivers."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

import grpc
import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.spans.projector import project
from tests.cli.conftest import JOB, RUN_A, RUN_B
from tests.cli.program import Run, write
from tests.faults.collector_receiver import (
    Handler,
    Limited,
    Partial,
    TooLarge,
    Unavailable,
    grpc_collector,
    http_collector,
)


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)


def ids(path: Path, run: str = "") -> list[tuple[str, str]]:
    """Ids of the spans of a file, sorted."""
    spans = [span for span, _ in project(read_events(path)) if span.run.startswith(run)]
    return sorted((f"{span.trace_id:032x}", f"{span.span_id:016x}") for span in spans)


def test_everything_arrives_once(job: Path, run: Run) -> None:
    """Every span of the file arrives, and the second time they are the same."""
    with http_collector() as collector:
        first = run("replay", job, "--endpoint", collector.url)
        found = list(collector.ids)
        second = run("replay", job, "--endpoint", collector.url)
    assert (0, 0, ids(job)) == (first.code, second.code, found)
    assert sorted(found * 2) == collector.ids


def test_grpc(job: Path, run: Run) -> None:
    """The same over gRPC."""
    with grpc_collector() as collector:
        done = run("replay", job, "--endpoint", collector.url, "--protocol", "grpc")
    assert (0, ids(job)) == (done.code, collector.ids)


def test_environment_names_the_collector(job: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``--endpoint`` the standard variables decide."""
    with http_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        done = run("replay", job)
    assert (0, ids(job)) == (done.code, collector.ids)


def test_one_run(job: Path, run: Run) -> None:
    """``--run`` takes the head of a run's id."""
    with http_collector() as collector:
        done = run("replay", job, "--endpoint", collector.url, "--run", "bbbb")
    assert (0, ids(job, RUN_B)) == (done.code, collector.ids)


def test_since(job: Path, run: Run) -> None:
    """``--since`` takes spans that end at that time or later, in UTC."""
    ends = sorted(span.end_ns for span, _ in project(JOB))
    middle = ends[len(ends) // 2]
    since = datetime.datetime.fromtimestamp(middle / 1e9, datetime.UTC).replace(tzinfo=None)
    with http_collector() as collector:
        done = run("replay", job, "--endpoint", collector.url, "--since", since.isoformat())
    expected = sorted(end for end in ends if end >= middle)
    assert (0, expected) == (done.code, sorted(span.end_time_unix_nano for span in collector.spans))


def test_shift_to_now(job: Path, run: Run) -> None:
    """The last span ends now, all distances and ids stay."""
    before = time.time_ns()
    with http_collector() as collector:
        done = run("replay", job, "--endpoint", collector.url, "--shift-to-now")
    moved = {span.span_id.hex(): span for span in collector.spans}
    last = max(span.end_time_unix_nano for span in collector.spans)
    spans = [span for span, _ in project(read_events(job))]
    by_ns = last - max(span.end_ns for span in spans)
    expected = {
        f"{span.span_id:016x}": [
            time_ns + by_ns for time_ns in (span.start_ns, span.end_ns, *(event.time_ns for event in span.events))
        ]
        for span in spans
    }
    found = {
        key: [span.start_time_unix_nano, span.end_time_unix_nano, *(event.time_unix_nano for event in span.events)]
        for key, span in moved.items()
    }
    assert (0, ids(job), expected) == (done.code, collector.ids, found)
    assert before <= last <= time.time_ns()


def test_dry_run_sends_nothing(job: Path, run: Run) -> None:
    """``--dry-run`` only says what would be sent."""
    with http_collector() as collector:
        done = run("replay", job, "--endpoint", collector.url, "--dry-run")
    assert (0, 0) == (done.code, collector.attempts)
    assert str(len(ids(job))) in done.out


def delivered(folder: Path, *pairs: tuple[str, str, str]) -> Path:
    """The job's file, with deliveries: destination, run, ranges."""
    rows = [*JOB]
    for destination, of_run, spans in pairs:
        last = rows[-1]
        rows.append(
            {"event": "spans_delivered", "t": last["t"], "run": last["run"], "seq": last["seq"] + 1,
             "destination": destination, "of_run": of_run, "spans": spans}
        )  # fmt: skip
    return write(folder, rows)


def test_only_undelivered(tmp_path: Path, run: Run) -> None:
    """Exactly those spans are sent that no ``spans_delivered`` row names."""
    with http_collector() as collector:
        path = delivered(tmp_path, (collector.url, RUN_A, "0-1 3"), (collector.url, RUN_B, "0"))
        done = run("replay", path, "--endpoint", collector.url, "--only-undelivered")
    numbered: dict[str, list[str]] = {RUN_A: [], RUN_B: []}
    for span, _ in project(JOB):
        numbered[span.run].append(f"{span.span_id:016x}")
    expected = [*(numbered[RUN_A][n] for n in range(len(numbered[RUN_A])) if n not in {0, 1, 3}), *numbered[RUN_B][1:]]
    assert (0, sorted(expected)) == (done.code, sorted(span.span_id.hex() for span in collector.spans))


def test_only_undelivered_of_the_collector_in_the_environment(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With several destinations in the file, the standard variables say which one is meant."""
    with http_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        path = delivered(tmp_path, (collector.url, RUN_A, "0-99"), ("http://other:4318", RUN_B, "0"))
        done = run("replay", path, "--only-undelivered")
    assert (0, ids(path, RUN_B)) == (done.code, collector.ids)


@pytest.mark.parametrize("kind", [Unavailable, TooLarge, Partial])
def test_not_accepted_is_a_failure(job: Path, run: Run, kind: type[Handler], monkeypatch: pytest.MonkeyPatch) -> None:
    """If a span was not accepted, the exit code says so, and so does the text."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with http_collector(kind) as collector:
        done = run("replay", job, "--endpoint", collector.url)
    assert 1 == done.code
    assert "not accepted" in done.err


def test_grpc_refusal_is_a_failure(job: Path, run: Run) -> None:
    """The same over gRPC."""
    with grpc_collector(grpc.StatusCode.INVALID_ARGUMENT) as collector:
        done = run("replay", job, "--endpoint", collector.url, "--protocol", "grpc")
    assert (1, []) == (done.code, collector.spans)


@pytest.mark.parametrize("arguments", [("--since", "yesterday"), ("--protocol", "http/json"), ("--rate", "fast")])
def test_bad_arguments(job: Path, run: Run, arguments: tuple[str, str]) -> None:
    """A wrong argument is a usage error."""
    assert 2 == run("replay", job, *arguments).code


def test_a_filter_that_matches_nothing_is_an_error(tmp_path: Path, run: Run) -> None:
    """A run that matches nothing is a slip of the person who typed it: the runs that there are get named."""
    with http_collector() as collector:
        done = run("replay", write(tmp_path, JOB), "--endpoint", collector.url, "--run", "zzz")
    assert (1, []) == (done.code, collector.spans)
    assert "no span is what was asked for. Runs in the file: " in done.err


def test_collector_with_a_size_limit_gets_everything(tmp_path: Path, run: Run) -> None:
    """Attempts with many long events arrive at a collector that takes 4 MiB at a time."""
    rows = [JOB[0]]

    def add(event: str, **fields: object) -> None:
        rows.append({"event": event, "t": JOB[0]["t"], "run": RUN_A, "seq": JOB[0]["seq"] + len(rows), **fields})

    for number in range(64):
        add("attempt_dispatched", group_id="g", attempt_id=f"x{number}", prompt_id="1", generation_index=number)
        for _ in range(200):
            add("note", attempt_id=f"x{number}", text="turn " * 100)
        add("attempt_sealed", attempt_id=f"x{number}")
    with http_collector(Limited) as collector:
        done = run("replay", write(tmp_path, rows), "--endpoint", collector.url)
    assert (0, 64) == (done.code, len(collector.spans))
