"""The shipped collector configurations are what the collector accepts, and say what they promise."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.collector.files import COMBINATIONS, OTELCOL, configs, default_of, read_yaml
from tests.servers import BUILD_TIMEOUT_S, need_binaries

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)


def _run(command: str, *arguments: str, combination: str) -> str:
    files = [f"--config=file:{path}" for path in configs(combination)]
    done = subprocess.run(
        [need_binaries().otelcol, command, *arguments, *files], capture_output=True, text=True, check=False, timeout=600
    )
    assert (0, "") == (done.returncode, done.stderr), done.stdout
    return done.stdout


def _merged(combination: str) -> Any:
    return json.loads(_run("print-config", "--format=json", "--mode=unredacted", combination=combination))


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_the_collector_accepts_it(combination: str) -> None:
    """Its own ``validate`` finds nothing to complain of."""
    assert "" == _run("validate", combination=combination)


def test_a_mistake_is_not_accepted(tmp_path: Path) -> None:
    """What ``validate`` says is worth something: it finds a component that does not exist."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("service: {pipelines: {traces: {exporters: [nowhere]}}}")
    done = subprocess.run(
        [need_binaries().otelcol, "validate", f"--config=file:{OTELCOL / 'base.yaml'}", f"--config=file:{wrong}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert 0 != done.returncode
    assert "nowhere" in done.stderr


def test_every_file_is_part_of_a_combination() -> None:
    """No configuration is shipped that nothing checks."""
    assert {name for names in COMBINATIONS.values() for name in names} == {path.stem for path in OTELCOL.iterdir()}


@pytest.mark.parametrize(
    ("combination", "expected"),
    [
        (
            "alone",
            {
                "traces": (["otlp"], ["memory_limiter", "batch"], ["span_metrics", "file"]),
                "metrics": (["otlp", "span_metrics"], ["memory_limiter", "batch"], ["prometheus"]),
            },
        ),
        (
            "as shipped",
            {
                "traces": (["otlp"], ["memory_limiter", "batch"], ["span_metrics", "file"]),
                "metrics": (["otlp", "span_metrics"], ["memory_limiter", "batch"], ["prometheus"]),
                "traces/backends": (
                    ["otlp"],
                    ["memory_limiter", "batch"],
                    ["otlp_grpc/jaeger", "otlp_grpc/tempo"],
                ),
            },
        ),
        (
            "tail sampling",
            {
                "traces": (["otlp"], ["memory_limiter", "batch"], ["span_metrics", "file"]),
                "metrics": (["otlp", "span_metrics"], ["memory_limiter", "batch"], ["prometheus"]),
                "traces/backends": (
                    ["otlp"],
                    ["memory_limiter", "tail_sampling", "batch"],
                    ["otlp_grpc/jaeger", "otlp_grpc/tempo"],
                ),
            },
        ),
        (
            "clickhouse",
            {
                "traces": (["otlp"], ["memory_limiter", "batch"], ["span_metrics", "file"]),
                "metrics": (["otlp", "span_metrics"], ["memory_limiter", "batch"], ["prometheus"]),
                "traces/backends": (
                    ["otlp"],
                    ["memory_limiter", "batch"],
                    ["otlp_grpc/jaeger", "otlp_grpc/tempo"],
                ),
                "traces/clickhouse": (["otlp"], ["memory_limiter", "batch"], ["clickhouse"]),
            },
        ),
    ],
)
def test_the_collector_merges_them_into_these_pipelines(
    combination: str, expected: dict[str, tuple[list[str], list[str], list[str]]]
) -> None:
    """Later files replace lists: nothing of an earlier one is lost, and sampling is for Jaeger and Tempo alone."""
    pipelines = _merged(combination)["service"]["pipelines"]
    assert expected == {
        name: (pipeline["receivers"], pipeline["processors"], pipeline["exporters"])
        for name, pipeline in pipelines.items()
    }


def test_clickhouse_gets_the_table_that_the_queries_ask() -> None:
    """The exporter's own table, in map columns, and not its variant with columns of JSON."""
    exporter = _merged("clickhouse")["exporters"]["clickhouse"]
    assert ("otel_traces", False, True) == (
        exporter["traces_table_name"], exporter["json"], exporter["create_schema"]
    )  # fmt: skip


def test_duration_buckets_reach_hours() -> None:
    """Rollouts last from seconds to hours; the buckets rise from 1 s to 2 h."""
    buckets = read_yaml("otelcol/base.yaml")["connectors"]["span_metrics"]["histogram"]["explicit"]["buckets"]
    seconds = [int(text[:-1]) * {"s": 1, "m": 60, "h": 3600}[text[-1]] for text in buckets]
    assert sorted(set(seconds)) == seconds
    assert (1, 7200) == (seconds[0], seconds[-1])


def test_span_metrics_have_few_series() -> None:
    """No id, prompt, step or version is a dimension, and what comes beyond a limit is counted together."""
    connector = read_yaml("otelcol/base.yaml")["connectors"]["span_metrics"]
    names = [dimension["name"] for dimension in connector["dimensions"]]
    assert ["rtrace.outcome", "rtrace.reason", "rtrace.refits_bucket"] == names
    assert 0 < connector["aggregation_cardinality_limit"]


def test_every_address_comes_from_the_environment() -> None:
    """No port is fixed: another collector may run on the machine, and tests pick free ones."""
    base = read_yaml("otelcol/base.yaml")
    protocols = base["receivers"]["otlp"]["protocols"]
    (reader,) = base["service"]["telemetry"]["metrics"]["readers"]
    telemetry = reader["pull"]["exporter"]["prometheus"]
    addresses = [
        protocols["grpc"]["endpoint"],
        protocols["http"]["endpoint"],
        base["exporters"]["prometheus"]["endpoint"],
        base["extensions"]["health_check"]["endpoint"],
        f"{telemetry['host']}:{telemetry['port']}",
    ]
    assert ["0.0.0.0:4317", "0.0.0.0:4318", "0.0.0.0:8889", "0.0.0.0:13133", "0.0.0.0:8888"] == [
        default_of(address) for address in addresses
    ]
    assert all(address.startswith("${env:") for address in addresses)


def test_a_batch_fits_into_one_message() -> None:
    """A batch of spans of 3 KB is smaller than the 4 MiB that an OTLP server accepts by default."""
    assert read_yaml("otelcol/base.yaml")["processors"]["batch"]["send_batch_max_size"] * 3072 < 4 * 2**20
