"""The standard environment variables, and arguments that overrule them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.config import OtlpDestination
from tests.faults import child
from tests.faults.collector_programs import plain_job
from tests.faults.collector_receiver import grpc_collector, http_collector


def record(file: Path, **arguments: object) -> None:
    """One attempt: two spans, for the run's end ends its group."""
    with RolloutTrace(file, **arguments) as trace:  # type: ignore[arg-type]
        trace.attempt_dispatched("g", "x", 1, 0)
        trace.attempt_sealed("x")


ALL = ["rollout.attempt", "rollout.group"]


def names(file: Path, monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    """The spans that arrive at the collector that the environment names, with further variables."""
    with http_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        record(file)
        return collector.names


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("OTEL_SDK_DISABLED", "false", ALL),
        ("OTEL_SDK_DISABLED", "TRUE", []),
        ("OTEL_TRACES_EXPORTER", "none", []),
        ("OTEL_TRACES_EXPORTER", "otlp", ALL),
        ("OTEL_TRACES_EXPORTER", "", ALL),
        ("OTEL_TRACES_EXPORTER", " , ", ALL),
        ("OTEL_TRACES_EXPORTER", "rtrace_jsonl,otlp", ALL),
        ("OTEL_TRACES_EXPORTER", "no_such,otlp", ALL),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", ALL),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", ALL),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "1", ["rollout.group"]),
    ],
)
def test_variable(file: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: list[str]) -> None:
    """A standard variable does what OpenTelemetry says."""
    found = names(file, monkeypatch, **{name: value})
    assert bool(expected) == bool(found)
    assert set(expected) <= set(found) <= set(ALL)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zip"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "no pair"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many"),
        ("OTEL_BSP_SCHEDULE_DELAY", "-1"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0"),
    ],
)
def test_bad_value_is_warned_of_and_the_default_holds(
    file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, value: str
) -> None:
    """A value that makes no sense costs a line of log and nothing else."""
    with caplog.at_level(logging.WARNING):
        found = names(file, monkeypatch, **{name: value})
    assert (ALL, True) == (found, bool(caplog.records))


def test_headers_and_resource(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers, service name and resource attributes arrive."""
    with http_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=rl,x-key=a%20b")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "trainer")
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=ignored,team=rl")
        record(file)
    header = collector.headers[0]
    assert ("rl", "a b", {"trainer"}) == (header["x-team"], header["x-key"], set(collector.services))


def test_traces_endpoint_is_taken_as_it_is(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable for traces alone wins, and is a full URL."""
    with http_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/any/path")
        record(file)
    assert ALL == collector.names


def test_grpc_by_variable(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol variable chooses gRPC."""
    with grpc_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
        record(file)
    assert ALL == collector.names


def test_arguments_win(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A destination that was given replaces the one in the environment, with its headers and compression."""
    with http_collector() as meant, http_collector() as other:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", other.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=other")
        record(file, otlp=OtlpDestination(meant.url, "http/protobuf", {"x-team": "rl"}, 2.0, "gzip"))
    header = meant.headers[0]
    assert (ALL, [], "rl", "gzip") == (meant.names, other.names, header["x-team"], header["content-encoding"])


def test_none_overrules_the_environment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``otlp=None`` exports nothing."""
    with http_collector() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        record(file, otlp=None)
    assert 0 == collector.attempts


def test_two_destinations(file: Path) -> None:
    """Each of several destinations gets every span."""
    with http_collector() as one, grpc_collector() as two:
        record(file, otlp=[one.url, OtlpDestination(two.url, "grpc")])
    assert [ALL, ALL] == [collector.names for collector in (one, two)]


@pytest.mark.parametrize("otlp", ["no scheme", "ftp://x", "http://", ["http://[", 5]])
def test_odd_destination_never_raises(file: Path, otlp: object) -> None:
    """A destination that cannot be is no trouble for the job or its file."""
    record(file, otlp=otlp)
    assert b"attempt_sealed" in file.read_bytes()


def test_nothing_is_imported_when_nothing_is_set(file: Path) -> None:
    """Without a destination no module of OpenTelemetry is loaded."""
    done = child.run(plain_job, file)
    assert (0, "[]\n", "") == (done.code, done.out, done.err)


def test_console(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``console`` prints the spans."""
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "console")
    done = child.run(plain_job, file)
    assert (0, 1) == (done.code, done.out.count('"name": "rollout.attempt"'))
