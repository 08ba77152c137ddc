"""A server of ``rtrace serve`` in this process, and somebody who asks it through raw sockets."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

from rtrace_otel.cli.serving import TraceServer, serve_in_background
from rtrace_otel.cli.traces_served import TracesServed
from tests.cli.conftest import JOB
from tests.cli.program import write

TOKEN: Final = "secret-token"
LIMIT_S: Final = 120.0


class Answer:
    """An answer of HTTP."""

    def __init__(self, data: bytes) -> None:
        head, _, self.body = data.partition(b"\r\n\r\n")
        first, *fields = head.decode("latin-1").split("\r\n")
        self.status = int(first.split()[1])
        self.fields = {name.lower(): value for name, _, value in (field.partition(": ") for field in fields)}


class Client:
    """Asks a server."""

    def __init__(self, server: TraceServer) -> None:
        self.port = server.server_address[1]

    def connect(self) -> socket.socket:
        """A connection."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)

    def send(self, request: bytes) -> Answer:
        """Send bytes, and read until the server closes."""
        with self.connect() as connection:
            connection.sendall(request)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
        return Answer(b"".join(parts))

    def ask(self, path: str, method: str = "GET", host: str | None = "127.0.0.1:1") -> Answer:
        """Ask for a path."""
        field = "" if host is None else f"Host: {host}\r\n"
        return self.send(f"{method} {path} HTTP/1.1\r\n{field}Connection: close\r\n\r\n".encode())

    def stream(self, query: str = "", trace: int = 0) -> Generator[tuple[str, Any], None, None]:
        """The events of a trace: name and value."""
        with closing(self.connect()) as connection:
            connection.sendall(f"GET /{TOKEN}/t/{trace}/events?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            with connection.makefile("r", encoding="utf-8") as file:
                while line := file.readline():
                    if line.startswith("event: "):
                        yield line[len("event: ") : -1], json.loads(file.readline()[len("data: ") :])


def two_jobs(folder: Path) -> Path:
    """A folder of two jobs."""
    for name, rows in (("a", JOB), ("b", JOB[:3])):
        (folder / name).mkdir()
        write(folder / name, rows)
    return folder


@contextmanager
def served(folder: Path) -> Iterator[TraceServer]:
    """A server of a folder."""
    with TraceServer(TracesServed([str(folder)]), "127.0.0.1", 0, TOKEN) as server:
        serve_in_background(server)
        yield server
        server.shutdown()
