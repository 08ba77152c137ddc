"""The controller's own metrics provider, as a job sets one up: dashboards need numbers that no finished span tells."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any, Final

from rtrace_otel.spans.config import listed

INTERVAL_MS: Final = 1000.0
"""Between two exports; the demo is over in seconds."""

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS: Final = ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_LOGGERS: Final = (
    "opentelemetry.exporter.otlp.proto.grpc.exporter",
    "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "opentelemetry.exporter.otlp.common.http",
)


class JobMetrics:
    """Sends the metrics of a run to the collector that the ``OTEL_*`` variables name; does nothing without one.

    Attributes:
        provider: For ``RolloutTrace``; ``None`` without a collector.

    Args:
        service: Name of the job.
        run: Id of the run.
        environ: For the ``OTEL_*`` variables.
    """

    def __init__(self, service: str, run: str, environ: Mapping[str, str]) -> None:
        """Set up a provider of its own if a collector is named."""
        self.provider: Any = None
        if _wants_metrics(environ):
            self._set_up(service, run, _first(environ, _PROTOCOLS))

    def shut_down(self) -> None:
        """Export what is left, for two seconds at most."""
        if self.provider is not None:
            ending = threading.Thread(target=self.provider.shutdown, daemon=True)
            ending.start()
            ending.join(2.0)

    def _set_up(self, service: str, run: str, protocol: str) -> None:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource

        # A server for traces alone, as Jaeger is, refuses metrics each time: no fault of the job.
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        reader = PeriodicExportingMetricReader(_exporter(protocol), export_interval_millis=INTERVAL_MS)
        resource = Resource.create({"service.name": service, "service.instance.id": run})
        self.provider = MeterProvider([reader], resource=resource, shutdown_on_exit=False)


def _wants_metrics(environ: Mapping[str, str]) -> bool:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    names = listed(environ.get("OTEL_METRICS_EXPORTER", ""))
    return (not names or "otlp" in names) and bool(_first(environ, _ENDPOINTS))


def _first(environ: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((environ[name].strip() for name in names if environ.get(name, "").strip()), "")


def _exporter(protocol: str) -> Any:
    if protocol == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter

        return OTLPMetricExporter()
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as OverHttp

    return OverHttp()
