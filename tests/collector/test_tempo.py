"""Tempo's limits fit rollouts: long, in large traces, replayed in bulk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.collector.files import default_of, read_yaml

TEMPO: Any = read_yaml("tempo/tempo.yaml")
UNITS = {"s": 1, "m": 60, "h": 3600}

LOOKED_UP = """\
backend_scheduler.provider.compaction.compaction.block_retention backend_worker.compaction.block_retention
distributor.receivers.otlp.protocols.grpc.endpoint distributor.receivers.otlp.protocols.grpc.max_recv_msg_size_mib
live_store.wal.ingestion_time_range_slack live_store.wal.path
metrics_generator.metrics_ingestion_time_range_slack metrics_generator.processor.span_metrics.histogram_buckets
metrics_generator.storage.path metrics_generator.storage.remote_write
overrides.defaults.global.max_bytes_per_trace overrides.defaults.ingestion.burst_size_bytes
overrides.defaults.ingestion.max_traces_per_user overrides.defaults.ingestion.rate_limit_bytes
query_frontend.metrics.max_duration query_frontend.search.max_duration
server.http_listen_port storage.trace.backend storage.trace.local.path
storage.trace.wal.ingestion_time_range_slack storage.trace.wal.path
stream_over_http_enabled usage_report.reporting_enabled
"""
"""Settings found in the configuration reference of Tempo 3.0, which refuses unknown ones; it is not run here."""


def _settings(value: object, path: str = "") -> Iterator[str]:
    if not isinstance(value, dict):
        yield path
        return
    for key, inner in value.items():
        yield from _settings(inner, f"{path}.{key}" if path else key)


def test_every_setting_is_one_of_tempo_3() -> None:
    """A new one is to be looked up first."""
    assert sorted(LOOKED_UP.split()) == sorted(_settings(TEMPO))


def _seconds(text: str) -> int:
    return int(text[:-1]) * UNITS[text[-1]]


def test_long_rollouts_are_found_by_time() -> None:
    """Both write-ahead logs accept spans that began as long ago as the longest group that sampling waits for."""
    wals = [TEMPO["live_store"]["wal"], TEMPO["storage"]["trace"]["wal"]]
    sampling = read_yaml("otelcol/tail-sampling.yaml")["processors"]["tail_sampling"]
    longest = _seconds(default_of(sampling["decision_wait"]))
    assert [True, True] == [_seconds(wal["ingestion_time_range_slack"]) >= longest for wal in wals]


def test_grafana_looks_up_traces_as_far_back() -> None:
    """The shift of a look-up by id is the slack."""
    (tempo,) = [
        source
        for source in read_yaml("grafana/provisioning/datasources/datasources.yaml")["datasources"]
        if source["type"] == "tempo"
    ]
    slack = TEMPO["live_store"]["wal"]["ingestion_time_range_slack"]
    query = tempo["jsonData"]["traceQuery"]
    assert (True, f"-{slack}", slack) == (
        query["timeShiftEnabled"],
        query["spanStartTimeShift"],
        query["spanEndTimeShift"],
    )


def test_late_spans_count_in_the_metrics_generator() -> None:
    """Should it be turned on: more than the default of 30 s, and the collector's buckets."""
    generator = TEMPO["metrics_generator"]
    assert _seconds(generator["metrics_ingestion_time_range_slack"]) > 30
    shipped = read_yaml("otelcol/base.yaml")["connectors"]["span_metrics"]["histogram"]["explicit"]["buckets"]
    assert [_seconds(text) for text in shipped] == generator["processor"]["span_metrics"]["histogram_buckets"]
    assert "metrics_generator" not in TEMPO["overrides"]["defaults"]


def test_limits_are_wider_than_the_defaults() -> None:
    """A group of 64 generations with their events and the server's spans; a replay's pace; many groups at once."""
    defaults = TEMPO["overrides"]["defaults"]
    assert defaults["global"]["max_bytes_per_trace"] > 5_000_000
    assert defaults["ingestion"]["rate_limit_bytes"] > 15_000_000
    assert defaults["ingestion"]["burst_size_bytes"] >= defaults["ingestion"]["rate_limit_bytes"]
    assert defaults["ingestion"]["max_traces_per_user"] > 10_000


def test_nothing_is_reported_to_anyone() -> None:
    """It runs where there is no internet."""
    assert TEMPO["usage_report"] == {"reporting_enabled": False}


def test_what_is_searchable_is_kept() -> None:
    """A search may reach as far back as blocks are kept, and both parts that delete blocks agree."""
    kept = TEMPO["backend_scheduler"]["provider"]["compaction"]["compaction"]["block_retention"]
    assert kept == TEMPO["backend_worker"]["compaction"]["block_retention"]
    assert _seconds(kept) == _seconds(TEMPO["query_frontend"]["search"]["max_duration"])
