"""A proxy before an HTTP server: tells what was asked, and lets a test have the server be slow, silent or broken."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Act = Callable[[str, str], int | None]
"""Told of a request by method and path before it is passed on; a status that it gives is the answer instead."""

_OWN = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"})


def pass_on(_method: str, _path: str) -> int | None:
    """Nothing befalls it."""
    return None


@dataclass
class Proxy:
    """A running proxy.

    Attributes:
        url: Where it listens.
        asked: Requests so far, as ``GET /path``.
        act: What befalls each request; a test may change it at any time.
    """

    url: str
    asked: list[str] = field(default_factory=list)
    act: Act = pass_on

    def about(self, part: str) -> list[str]:
        """Requests that hold this part: others may be left from an earlier test that did not wait for them."""
        return [one for one in self.asked if part in one]


@contextmanager
def proxy(server: str) -> Iterator[Proxy]:
    """A proxy on a free port before a server of 127.0.0.1; the header ``Host`` is passed on as it came."""
    target = urlsplit(server).netloc
    running: Proxy

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            running.asked.append(f"{self.command} {self.path}")
            status = running.act(self.command, self.path)
            if status is None:
                self._forward(body)
            else:
                self._give(status, [], b"")

        def _forward(self, body: bytes) -> None:
            connection = http.client.HTTPConnection(target, timeout=60)
            try:
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    if name.lower() not in {"connection", "expect"}:
                        connection.putheader(name, value)
                connection.endheaders(body)
                answer = connection.getresponse()
                content = answer.read()
                headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN]
                length = answer.getheader("Content-Length") or "0"
                self._give(answer.status, headers, content, length if self.command == "HEAD" else None)
            finally:
                connection.close()

        def _give(self, status: int, headers: list[tuple[str, str]], content: bytes, length: str | None = None) -> None:
            with suppress(OSError):  # who asked is gone
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", length or str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def __getattr__(self, name: str) -> Callable[[], None]:
            if name.startswith("do_"):
                return self._answer
            raise AttributeError(name)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """Say nothing: who asked went away, as one that is killed does."""

    with Server(("127.0.0.1", 0), Handler) as listening:
        running = Proxy(f"http://127.0.0.1:{listening.server_port}")
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield running
        finally:
            listening.shutdown()
            thread.join()
