"""OTLP collectors for tests, over HTTP and gRPC, that can misbehave."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.pace import SOON_S


@dataclass
class Received:
    """What a collector has been sent.

    Attributes:
        url: Where it listens.
        spans: Spans that it accepted.
        services: Service name of each accepted batch.
        headers: Of each request, names in lower case.
        attempts: Requests, refused ones included.
        hold: Set to let requests that hang go.
    """

    url: str = ""
    spans: list[Span] = field(default_factory=list)
    services: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    attempts: int = 0
    hold: threading.Event = field(default_factory=threading.Event)

    @property
    def ids(self) -> list[tuple[str, str]]:
        """Trace and span ids, sorted."""
        return sorted((span.trace_id.hex(), span.span_id.hex()) for span in self.spans)

    @property
    def names(self) -> list[str]:
        """Names of the spans, sorted."""
        return sorted(span.name for span in self.spans)

    def take(self, request: ExportTraceServiceRequest) -> None:
        """Accept a request."""
        for batch in request.resource_spans:
            values = {pair.key: pair.value.string_value for pair in batch.resource.attributes}
            self.services.append(values.get("service.name", ""))
            self.spans += [span for scope in batch.scope_spans for span in scope.spans]


class Handler(BaseHTTPRequestHandler):
    """One request to the HTTP collector."""

    received: Received

    def do_POST(self) -> None:
        """Take an export."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.attempts += 1
        self.received.headers.append({name.lower(): value for name, value in self.headers.items()})
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        self.answer(request)

    def answer(self, request: ExportTraceServiceRequest) -> None:
        """Accept."""
        self.received.take(request)
        self.reply(200, ExportTraceServiceResponse())

    def reply(self, status: int, message: ExportTraceServiceResponse | None = None) -> None:
        """Send an answer."""
        body = b"" if message is None else message.SerializeToString()
        self.send_response(status)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


class Unavailable(Handler):
    """503 to everything."""

    def answer(self, request: ExportTraceServiceRequest) -> None:  # noqa: ARG002 - as its parent
        """Refuse."""
        self.reply(503)


class TooLarge(Handler):
    """413 to everything."""

    def answer(self, request: ExportTraceServiceRequest) -> None:  # noqa: ARG002 - as its parent
        """Refuse."""
        self.reply(413)


class Limited(Handler):
    """Takes requests of up to 4 MiB, as gRPC servers do by default."""

    def answer(self, request: ExportTraceServiceRequest) -> None:
        """Accept if it is small enough."""
        if request.ByteSize() > 2**22:
            self.reply(413)
        else:
            super().answer(request)


class Hanging(Handler):
    """Never answers."""

    def answer(self, request: ExportTraceServiceRequest) -> None:  # noqa: ARG002 - as its parent
        """Wait for the end of the test."""
        self.received.hold.wait(SOON_S)


class Closing(Handler):
    """Closes the connection instead of answering."""

    def answer(self, request: ExportTraceServiceRequest) -> None:  # noqa: ARG002 - as its parent
        """Hang up."""
        self.close_connection = True


class Slow(Handler):
    """Answers late."""

    def answer(self, request: ExportTraceServiceRequest) -> None:
        """Accept after a while."""
        time.sleep(0.3)
        super().answer(request)


class Partial(Handler):
    """Takes every batch and rejects one span of each."""

    def answer(self, request: ExportTraceServiceRequest) -> None:
        """Accept in part."""
        self.received.take(request)
        message = ExportTraceServiceResponse()
        message.partial_success.rejected_spans = 1
        message.partial_success.error_message = "one was bad"
        self.reply(200, message)


class Half(Handler):
    """Accepts every second request and refuses the others for good."""

    def answer(self, request: ExportTraceServiceRequest) -> None:
        """Accept or refuse."""
        if self.received.attempts % 2:
            super().answer(request)
        else:
            self.reply(400)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that went away are no news."""


Kind: TypeAlias = type[Handler]


@contextmanager
def http_collector(kind: Kind = Handler, port: int = 0) -> Iterator[Received]:
    """A collector that takes OTLP over HTTP."""
    received = Received()
    handler = type("Bound", (kind,), {"received": received})
    server = _Server(("127.0.0.1", port), handler)
    received.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        received.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def silent_port() -> Iterator[Received]:
    """A port that takes connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield Received(url=f"http://127.0.0.1:{server.getsockname()[1]}")


class _Service(TraceServiceServicer):
    def __init__(self, received: Received, status: grpc.StatusCode | None, rejects: int) -> None:
        self._received = received
        self._status = status
        self._rejects = rejects

    def Export(self, request: ExportTraceServiceRequest, context: Any) -> ExportTraceServiceResponse:  # noqa: N802
        """Take an export."""
        self._received.attempts += 1
        if self._status is not None:
            context.abort(self._status, "no")
        self._received.take(request)
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans = self._rejects
        return answer


@contextmanager
def grpc_collector(status: grpc.StatusCode | None = None, port: int = 0, rejects: int = 0) -> Iterator[Received]:
    """A collector that takes OTLP over gRPC; ``rejects`` spans of each batch it refuses."""
    received = Received()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(_Service(received, status, rejects), server)  # type: ignore[no-untyped-call]
    received.url = f"http://127.0.0.1:{server.add_insecure_port(f'127.0.0.1:{port}')}"
    server.start()
    try:
        yield received
    finally:
        server.stop(0).wait()
