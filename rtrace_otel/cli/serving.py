"""The web server of ``rtrace serve``: who may ask, and what is answered."""

from __future__ import annotations

import http.server
import ipaddress
import logging
import select
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from secrets import compare_digest
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from rtrace_otel.cli.followed import Followed
from rtrace_otel.cli.traces_served import TracesServed
from rtrace_otel.report.html.index import INDEX_POLICY
from rtrace_otel.report.html.stream import event_of, events_since

MAX_STREAMS: Final = 64
"""Pages that are kept up to date at once."""

IDLE_S: Final = 20.0
"""A connection on which nothing moves for so long is closed: a reader that hangs costs a thread."""

FIRST_PAGE_S: Final = 60.0
_CHECK_S: Final = 1.0
_ALIVE_S: Final = 10.0
_log: Final = logging.getLogger(__name__)
_PLAIN_POLICY: Final = "default-src 'none'"


class TraceServer(http.server.ThreadingHTTPServer):
    """Serves traces on one address.

    Args:
        traces: The traces.
        host: Name or address to listen at.
        port: Port; 0 takes a free one.
        token: What every address must begin with.

    Raises:
        OSError: The address cannot be had.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, traces: TracesServed, host: str, port: int, token: str) -> None:
        """Listen."""
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.traces = traces
        self.host = host
        self.token = token
        self._streams = threading.Semaphore(MAX_STREAMS)
        super().__init__((host, port), Handler)

    @property
    def url(self) -> str:
        """Where the traces are, token and all."""
        host = socket.gethostname() if self._is_anywhere() else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.server_address[1]}/{self.token}/"

    def knows_host(self, host: str) -> bool:
        """Whether a request's ``Host`` means this server.

        A page of somebody else can have its own name lead here; then the name tells. The port may be another one:
        a tunnel changes it.
        """
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        others = set() if self._is_loopback() else {socket.gethostname().lower()}
        if name in {"localhost", self.host.lower()} | others:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or not self._is_loopback()

    @contextmanager
    def stream(self) -> Iterator[bool]:
        """Whether one more page may be kept up to date, until the block ends."""
        granted = self._streams.acquire(blocking=False)
        try:
            yield granted
        finally:
            if granted:
                self._streams.release()

    def _is_anywhere(self) -> bool:
        return self.host in ("", "0.0.0.0", "::")  # noqa: S104 - a comparison

    def _is_loopback(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the signature of the base
        """A reader that went away is no error; what else goes wrong in an answer ends that answer only, and is told."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            _log.error("an answer failed", exc_info=True)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection."""

    server: TraceServer
    protocol_version = "HTTP/1.1"
    server_version = "rtrace"
    sys_version = ""
    timeout = IDLE_S

    def do_GET(self) -> None:
        """Answer a request that asks for something."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1:
            self._text(HTTPStatus.BAD_REQUEST, "One Host, please.")
        elif not self._knows(hosts[0]):
            self._text(HTTPStatus.MISDIRECTED_REQUEST, "This server has another name.")
        elif self.path == "/favicon.ico":
            self._answer(HTTPStatus.NO_CONTENT, "", "text/plain", _PLAIN_POLICY)
        else:
            self._answer_path()

    def do_HEAD(self) -> None:
        """The same without the content."""
        self.do_GET()

    def parse_request(self) -> bool:
        """Read the head of a request; nothing here can be changed, so other methods are refused."""
        if not super().parse_request():
            return False
        if self.command in ("GET", "HEAD"):
            return True
        self.close_connection = True
        self._text(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and HEAD.", Allow="GET, HEAD")
        return False

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the method that it replaces
        """Say nothing: the address is a secret."""

    def _knows(self, host: str) -> bool:
        try:
            return self.server.knows_host(host)
        except ValueError:
            return False

    def _answer_path(self) -> None:
        given = urlsplit(self.path)
        _, token, *rest = given.path.split("/")
        if not compare_digest(token.encode(), self.server.token.encode()):
            self._text(HTTPStatus.FORBIDDEN, "The address lacks its token; take the one that rtrace serve printed.")
            return
        match rest:
            case []:
                self._redirect(f"/{self.server.token}/")
            case [""] if self.server.traces.only:
                self._redirect("t/0/")
            case [""]:
                self._answer(HTTPStatus.OK, self.server.traces.index(), "text/html", INDEX_POLICY)
            case ["t", number, ""] if trace := self._trace(number):
                self._page(trace)
            case ["t", number, "events"] if trace := self._trace(number):
                self._events(trace, parse_qs(given.query))
            case _:
                self._text(HTTPStatus.NOT_FOUND, "There is nothing here.")

    def _trace(self, number: str) -> Followed | None:
        is_number = number.isascii() and number.isdigit() and len(number) < 9
        return self.server.traces.trace(int(number)) if is_number else None

    def _page(self, trace: Followed) -> None:
        with trace.viewing() as report:
            told = trace.first(report, FIRST_PAGE_S)
            if told.data is None:
                self._text(HTTPStatus.SERVICE_UNAVAILABLE, "The trace is still being read. Load this page again.")
                return
            page, policy = report.page(told, back=not self.server.traces.only)
            self._answer(HTTPStatus.OK, page, "text/html", policy)

    def _events(self, trace: Followed, query: dict[str, list[str]]) -> None:
        with self.server.stream() as granted:
            if not granted:
                self._text(HTTPStatus.SERVICE_UNAVAILABLE, f"{MAX_STREAMS} pages are open already.")
                return
            self.close_connection = True
            self._head(HTTPStatus.OK, "text/event-stream", _PLAIN_POLICY, None)
            if self.command == "GET":
                with trace.viewing() as report:
                    self._stream(trace, report, query)

    def _stream(self, trace: Followed, report: Any, query: dict[str, list[str]]) -> None:
        epoch, version = query.get("epoch", [""])[0], query.get("version", [""])[0]
        known = int(version) if version.isascii() and version.isdigit() and len(version) < 19 else -1
        seen, quiet = None, 0.0
        while not self._is_gone():
            told = trace.wait(report, seen, _CHECK_S)
            text = events_since(told, seen, epoch, known)
            quiet = 0.0 if text else quiet + _CHECK_S
            if quiet >= _ALIVE_S:
                text, quiet = event_of("", ""), 0.0
            if text:
                self.wfile.write(text.encode())
            seen, epoch, known = told, told.epoch, told.version

    def _is_gone(self) -> bool:
        """Whether the reader has closed the connection; a reader that asks for more meanwhile is not waited for."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _redirect(self, to: str) -> None:
        self._answer(HTTPStatus.FOUND, "", "text/plain", _PLAIN_POLICY, Location=to)

    def _text(self, status: HTTPStatus, text: str, **more: str) -> None:
        self._answer(status, text + "\n", "text/plain", _PLAIN_POLICY, **more)

    def _answer(self, status: HTTPStatus, text: str, kind: str, policy: str, **more: str) -> None:
        content = text.encode()
        self._head(status, kind, policy, len(content), **more)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _head(self, status: HTTPStatus, kind: str, policy: str, length: int | None, **more: str) -> None:
        self.send_response(status)
        fields = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Security-Policy": f"{policy}; frame-ancestors 'none'",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cache-Control": "no-store",
            **({} if length is None else {"Content-Length": str(length)}),
            **({"Connection": "close"} if self.close_connection else {}),
            **more,
        }
        for name, value in fields.items():
            self.send_header(name, value)
        self.end_headers()


def serve_in_background(server: TraceServer) -> None:
    """Answer requests in a thread, until the program ends."""
    threading.Thread(target=server.serve_forever, args=(0.05,), name="rtrace-serve", daemon=True).start()
