"""The demo server's own spans, made with OpenTelemetry as an inference server makes them: children of the attempts."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any, Final

from rtrace_otel.demo.engine import Call
from rtrace_otel.spans.config import wants_export

SERVICE_NAME: Final = "rtrace-demo-server"


class ServerTracing:
    """Makes an ``llm_request`` span for each call that carries a ``traceparent``; does nothing without a collector."""

    def __init__(self) -> None:
        """Set up a provider of its own if the ``OTEL_*`` variables name a collector."""
        self._tracer: Any = None
        self._provider: Any = None
        if wants_export("auto", os.environ):
            self._set_up()

    def start(self, headers: Mapping[str, str], call_id: str, max_tokens: int) -> Any:
        """Begin the span of a call; give it to :meth:`end`."""
        if self._tracer is None:
            return None
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        context = TraceContextTextMapPropagator().extract(headers)
        attributes = {"gen_ai.request.id": call_id, "gen_ai.request.max_tokens": max_tokens}
        return self._tracer.start_span("llm_request", context, SpanKind.SERVER, attributes)

    @staticmethod
    def end(span: Any, call: Call | None, error: str | None) -> None:
        """End the span of a call, with what the call gave."""
        if span is None:
            return
        if call is not None:
            span.set_attribute("gen_ai.usage.completion_tokens", len(call.tokens))
        if error is not None:
            from opentelemetry.trace import StatusCode

            span.set_status(StatusCode.ERROR, error)
        span.end()

    def shut_down(self) -> None:
        """Export what is left, for two seconds at most."""
        if self._provider is not None:
            ending = threading.Thread(target=self._provider.shutdown, daemon=True)
            ending.start()
            ending.join(2.0)

    def _set_up(self) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        from rtrace_otel.spans.otlp import make_exporters, make_processor

        self._provider = TracerProvider(
            resource=Resource.create({"service.name": SERVICE_NAME}), shutdown_on_exit=False
        )
        for exporter in make_exporters("auto", os.environ):
            self._provider.add_span_processor(make_processor(exporter, os.environ))
        self._tracer = self._provider.get_tracer(SERVICE_NAME)
