"""The whole shipped chain on this machine: a job's data, the collector, Jaeger and Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from tests.collector.files import configs, read_yaml
from tests.collector.sending import SERVICE, JobMetrics, demo_spans, send_spans
from tests.server_process import free_ports, refusing_port
from tests.servers import (
    COLLECTOR,
    Jaeger,
    Otelcol,
    Prometheus,
    eventually,
    jaeger,
    need_program,
    otelcol,
    prometheus,
)

ROUNDS = 4
"""Counters have to move between scrapes for a rate to be more than 0."""


@dataclass(frozen=True)
class Stack:
    """The running servers, and when all that was sent had arrived."""

    otelcol: Otelcol
    jaeger: Jaeger
    prometheus: Prometheus
    at: float

    def query(self, expr: str) -> list[dict[str, Any]]:
        """The result of a query for that moment: rates look back a minute, and tests may take longer."""
        return self.prometheus.query(expr, self.at)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The shipped configurations, running, after the demo went through them. Tempo is down."""
    need_program("prometheus")
    (prometheus_port,) = free_ports(1)
    ui = {
        "JAEGER_UI_CONFIG": str(COLLECTOR / "jaeger" / "ui.json"),
        "PROMETHEUS_URL": f"http://127.0.0.1:{prometheus_port}",
    }
    with refusing_port() as nobody, jaeger(COLLECTOR / "jaeger" / "jaeger.yaml", ui) as traces:
        backends = {"JAEGER_OTLP": traces.otlp_grpc, "TEMPO_OTLP": f"127.0.0.1:{nobody}", "SPAN_METRICS_INTERVAL": "1s"}
        with otelcol(configs("as shipped"), backends) as collector:
            scrapes = {"collector:8889": collector.metrics, "collector:8888": collector.telemetry}
            config = tmp_path_factory.mktemp("prometheus") / "prometheus.yaml"
            config.write_text(_prometheus_config(scrapes))
            with prometheus(config, prometheus_port) as metrics:
                yield Stack(collector, traces, metrics, _send(collector, metrics))


def _prometheus_config(addresses: dict[str, str]) -> str:
    """The shipped configuration, with the addresses of this run and scraping often."""
    shipped = yaml.safe_load(yaml.safe_dump(read_yaml("prometheus/prometheus.yaml")))
    shipped["global"] = {"scrape_interval": "500ms", "evaluation_interval": "500ms"}
    shipped["rule_files"] = [str(COLLECTOR / "prometheus" / name) for name in shipped["rule_files"]]
    for scrape in shipped["scrape_configs"]:
        for static in scrape["static_configs"]:
            static["targets"] = [addresses[target] for target in static["targets"]]
    return yaml.safe_dump(shipped)


def _send(collector: Otelcol, prometheus: Prometheus) -> float:
    """Send everything in a few rounds, each of which is scraped; gives when that was done."""
    # Prometheus begins to scrape some seconds after it is ready; what came before shows in no rate.
    eventually(lambda: prometheus.query("up"), lambda up: [s["value"][1] for s in up] == ["1", "1"])
    spans, sent = demo_spans(), 0
    counts = [
        f'sum(traces_span_metrics_calls_total{{service_name="{SERVICE}"}})',
        f'sum(rtrace_rows_lost_total{{job="{SERVICE}"}})',
    ]

    def scraped() -> list[str]:
        return [str(series["value"][1]) for count in counts for series in prometheus.query(count)]

    with JobMetrics(collector.otlp_http) as metrics:
        for round_ in range(ROUNDS):
            metrics.send()
            send_spans(collector.otlp_http, some := spans[round_::ROUNDS])
            sent += len(some)
            wanted = [str(sent), str(round_ + 1)]
            assert wanted == eventually(scraped, wanted.__eq__)
    return time.time()
