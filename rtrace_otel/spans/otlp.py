"""Makes the exporters and processors that are wanted. Importing this imports the SDK."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from rtrace_otel.spans.config import ENDPOINTS, NOT_OURS, Otlp, OtlpDestination, Protocol, listed, wants_export
from rtrace_otel.spans.delivery import Rejections, TrackedExporter, quieten_exporters

logger = logging.getLogger("rtrace_otel")

QUEUE_SPANS: Final = 32_768
BATCH_SPANS: Final = 256
DELAY_MS: Final = 500
"""Defaults of the batch span processor where no ``OTEL_BSP_*`` variable is set: room for a burst of 20,000 spans, and
batches that any collector takes."""


class _Session(requests.Session):
    """Holds to the CA certificate that it is told: ``requests`` prefers ``REQUESTS_CA_BUNDLE`` of the machine."""

    def merge_environment_settings(self, *given: Any, **named: Any) -> Any:
        """Take proxies from the environment, but no certificate where there is one."""
        settings = super().merge_environment_settings(*given, **named)
        if isinstance(self.verify, str):
            settings["verify"] = self.verify
        return settings


def make_exporters(otlp: Otlp, environ: Mapping[str, str]) -> list[TrackedExporter]:
    """The exporters that are wanted, each wrapped; one that cannot be made is warned of and left out.

    Args:
        otlp: What the user asked for.
        environ: For the ``OTEL_*`` variables.
    """
    if not wants_export(otlp, environ):
        return []
    quieten_exporters()
    wanted: list[str | OtlpDestination]
    if otlp == "auto":
        wanted = [
            OtlpDestination() if n == "otlp" else n
            for n in (listed(environ.get("OTEL_TRACES_EXPORTER", "")) or ["otlp"])
        ]
    elif isinstance(otlp, (str, OtlpDestination)):
        wanted = [otlp]
    else:
        wanted = list(otlp or ())
    exporters = []
    for destination in wanted:
        try:
            made = _make(destination, environ)
        except Exception as error:  # a bad URL or certificate must not stop the job
            logger.warning("rollout trace: no spans to %s: %s", getattr(destination, "endpoint", destination), error)
        else:
            exporters += made
    return exporters


def make_processor(exporter: SpanExporter, environ: Mapping[str, str]) -> BatchSpanProcessor:
    """The SDK's batch span processor for one destination, with ``OTEL_BSP_*`` or our defaults."""
    queue = _number(environ, "OTEL_BSP_MAX_QUEUE_SIZE", QUEUE_SPANS)
    return BatchSpanProcessor(
        exporter,
        max_queue_size=queue,
        schedule_delay_millis=_number(environ, "OTEL_BSP_SCHEDULE_DELAY", DELAY_MS),
        max_export_batch_size=min(_number(environ, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH_SPANS), queue),
    )


def _make(destination: str | OtlpDestination, environ: Mapping[str, str]) -> list[TrackedExporter]:
    if isinstance(destination, str) and "://" not in destination:
        if destination in NOT_OURS:
            return []
        found = entry_points(group="opentelemetry_traces_exporter", name=destination)
        if not found:
            raise ValueError(
                f"no exporter is called {destination!r}; a collector's URL begins with http:// or https://"
            )
        return [TrackedExporter(next(iter(found)).load()(), destination)]
    otlp = OtlpDestination(endpoint=destination) if isinstance(destination, str) else destination
    protocol = otlp.protocol or _protocol(environ)
    endpoint = otlp.endpoint or next((environ[name] for name in ENDPOINTS if environ.get(name, "").strip()), None)
    rejections = Rejections()
    exporter = _grpc(otlp, rejections) if protocol == "grpc" else _http(otlp, rejections)
    return [TrackedExporter(exporter, endpoint or f"default {protocol} endpoint", rejections)]


def _protocol(environ: Mapping[str, str]) -> Protocol:
    for name in ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        value = environ.get(name, "").strip().lower()
        if value == "grpc":
            return "grpc"
        if value == "http/protobuf":
            return "http/protobuf"
        if value:
            logger.warning("rollout trace: %s=%s is not supported; using http/protobuf", name, value)
    return "http/protobuf"


def _http(otlp: OtlpDestination, rejections: Rejections) -> SpanExporter:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    given: dict[str, Any] = _given(otlp)
    session = _Session()
    session.hooks["response"].append(rejections)
    given["session"] = session
    if otlp.endpoint is not None:
        given["endpoint"] = _traces_url(otlp.endpoint)
    if otlp.compression is not None:
        given["compression"] = Compression.Gzip if otlp.compression == "gzip" else Compression.NoCompression
    return OTLPSpanExporter(**given)


def _grpc(otlp: OtlpDestination, rejections: Rejections) -> SpanExporter:
    import grpc

    from rtrace_otel.spans.grpc_exporter import ShowingExporter

    given: dict[str, Any] = _given(otlp)
    certificate = given.pop("certificate_file", None)
    if certificate is not None:
        with open(certificate, "rb") as file:  # noqa: PTH123 - a path of the user
            given["credentials"] = grpc.ssl_channel_credentials(file.read())
    if otlp.endpoint is not None:
        given["endpoint"] = otlp.endpoint
        given["insecure"] = not otlp.endpoint.startswith("https://")
    if otlp.compression is not None:
        given["compression"] = grpc.Compression.Gzip if otlp.compression == "gzip" else grpc.Compression.NoCompression
    return ShowingExporter(rejections.add, **given)


def _given(otlp: OtlpDestination) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if otlp.headers:
        given["headers"] = dict(otlp.headers)
    if otlp.timeout_s is not None:
        given["timeout"] = otlp.timeout_s
    if otlp.certificate_file is not None:
        given["certificate_file"] = otlp.certificate_file
    return given


def _traces_url(endpoint: str) -> str:
    """The URL for traces: a base URL gets the standard path, a full one is left alone."""
    return (
        endpoint if urlsplit(endpoint).path.rstrip("/").endswith("/v1/traces") else f"{endpoint.rstrip('/')}/v1/traces"
    )


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "").strip()
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text:
        logger.warning("rollout trace: %s=%s is not a positive whole number; using %d", name, text, default)
    return default
