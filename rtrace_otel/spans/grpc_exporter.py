"""The SDK's OTLP exporter for gRPC, with its responses shown to somebody.

The exporter drops what a collector answers, and with it how many spans the collector refused (OTLP partial success). It
has no public place to listen: the stub that it makes is wrapped. A release of the SDK that makes its stub elsewhere
exports as before and shows nothing; ``tests/faults/test_collectors.py`` holds the pinned range to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse


class ShowingExporter(OTLPSpanExporter):
    """Exports over gRPC and passes each response on.

    Args:
        show: Told of each response, by the thread that exports.
        **given: Arguments of the SDK's exporter.
    """

    def __init__(self, show: Callable[[ExportTraceServiceResponse], None], **given: Any) -> None:
        """Open the channel."""
        self._show = show
        super().__init__(**given)

    def _initialize_channel_and_stub(self) -> None:
        connect: Callable[[], None] = super()._initialize_channel_and_stub
        connect()
        if self._client is not None:
            self._client = _ShowingStub(self._client, self._show)


class _ShowingStub:
    def __init__(self, stub: Any, show: Callable[[ExportTraceServiceResponse], None]) -> None:
        self._stub = stub
        self._show = show

    def Export(self, **call: Any) -> ExportTraceServiceResponse:  # noqa: N802 - the name of the service's method
        """Call the service."""
        response: ExportTraceServiceResponse = self._stub.Export(**call)
        self._show(response)
        return response
