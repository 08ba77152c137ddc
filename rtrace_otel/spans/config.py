"""Where spans go: the standard ``OTEL_*`` variables, overruled by arguments. Imports no SDK."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import unquote

Protocol: TypeAlias = Literal["grpc", "http/protobuf"]
"""How to talk to a collector."""

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables that name a collector; the first that is set wins."""

NOT_OURS: Final = frozenset({"none", "rtrace_jsonl"})
"""``rtrace_jsonl`` is for other tracer providers: this pipeline writes the rows already."""


@dataclass(frozen=True, slots=True)
class OtlpDestination:
    """An OTLP collector. What is ``None`` comes from the ``OTEL_EXPORTER_OTLP_*`` variables, else from their defaults.

    Attributes:
        endpoint: Base URL, for example ``http://collector:4318``.
        protocol: ``grpc`` or ``http/protobuf``.
        headers: Sent with every request.
        timeout_s: Seconds for one request, its retries included.
        compression: ``gzip`` or ``none``.
        certificate_file: CA certificate for TLS.
    """

    endpoint: str | None = None
    protocol: Protocol | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    compression: Literal["gzip", "none"] | None = None
    certificate_file: str | None = None


Otlp: TypeAlias = str | OtlpDestination | Sequence[str | OtlpDestination] | None
"""``auto`` (the environment decides), a URL, a destination, several of them, or ``None`` for no export."""


def wants_export(otlp: Otlp, environ: Mapping[str, str]) -> bool:
    """Whether spans are exported at all; cheap, and imports no exporter."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true" or otlp is None:
        return False
    if otlp != "auto":
        return True
    names = listed(environ.get("OTEL_TRACES_EXPORTER", ""))
    if names:
        return any(name not in NOT_OURS for name in names)
    return any(environ.get(name, "").strip() for name in ENDPOINTS)


def listed(text: str) -> list[str]:
    """The names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


@dataclass(frozen=True, slots=True)
class SpanOptions:
    """What a recorder was told about spans.

    Attributes:
        otlp: Collectors.
        exporters: ``SpanExporter`` objects of the user.
        tracer_provider: A ``TracerProvider`` of the user.
        meter_provider: A ``MeterProvider`` of the user.
        ghosts: Whether to end and export what the run before left open.
    """

    otlp: Otlp
    exporters: tuple[Any, ...]
    tracer_provider: Any
    meter_provider: Any
    ghosts: bool

    @property
    def wanted(self) -> bool:
        """Whether anything is exported beside the file."""
        given = (self.tracer_provider, self.meter_provider)
        return bool(self.exporters) or any(g is not None for g in given) or wants_export(self.otlp, os.environ)


def resource_from(environ: Mapping[str, str]) -> dict[str, str]:
    """The resource attributes in ``OTEL_RESOURCE_ATTRIBUTES``: ``key=value`` pairs, values percent-encoded."""
    pairs = (pair.partition("=") for pair in listed(environ.get("OTEL_RESOURCE_ATTRIBUTES", "")))
    return {key.strip(): unquote(value.strip()) for key, equals, value in pairs if equals and key.strip()}


def has_sdk_meter_provider() -> bool:
    """Whether the process may have set up metrics: it has at least imported the SDK for them. Imports nothing."""
    return "opentelemetry.sdk.metrics" in sys.modules
