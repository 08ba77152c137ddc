"""ClickHouse's HTTP interface in front of an embedded ClickHouse, as far as the collector's exporter uses it.

A ClickHouse server is not among the packages that tests can install. What the exporter says to one (its database, its
tables, blocks of spans in ClickHouse's own format) goes to the embedded one as it is, and what its driver asks is
answered from there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from tests.fleet.otel_traces import Store

REVISION: Final = 54_460
"""The version of ClickHouse's protocol that the exporter's driver speaks."""

_HELLO: Final = "SELECT displayName(), version(), revision(), timezone()"
_BLOCK_INFO: Final = b"\x01\x00\x02\xff\xff\xff\xff\x00"
"""No overflow, no bucket."""


@contextmanager
def serving(store: Store) -> Iterator[str]:
    """The interface on a port of 127.0.0.1, and its address.

    Args:
        store: The embedded ClickHouse; while this serves, nobody else may use it.
    """
    one_at_a_time = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            statement = parse_qs(urlsplit(self.path).query).get("query")
            body = _body(self)
            with one_at_a_time:
                try:
                    status, answer = 200, _answer(store, statement, body)
                except Exception as error:  # the exporter's log tells it
                    status, answer = 500, str(error).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _body(request: BaseHTTPRequestHandler) -> bytes:
    if "Content-Length" in request.headers:
        return request.rfile.read(int(request.headers["Content-Length"]))
    body = b""
    while size := int(request.rfile.readline(), 16):
        body += request.rfile.read(size)
        request.rfile.readline()
    request.rfile.readline()
    return body


def _answer(store: Store, insert: Sequence[str] | None, body: bytes) -> bytes:
    if insert is not None:  # with the statement in the address, the body is its data
        store.insert_block(insert[0], body)
        return b""
    statement = body.decode()
    if statement == _HELLO:
        ((version,),) = (row.values() for row in store.ask("SELECT version()"))
        return _block([("String", "embedded"), ("String", version), ("UInt32", REVISION), ("String", "UTC")])
    if not statement.lstrip().startswith(("DESCRIBE", "SELECT")):
        store.run(statement)
        return b""
    rows = store.ask(statement)
    return _block([("String", *(row[name] for row in rows)) for name in rows[0]])


def _block(columns: Sequence[tuple[Any, ...]]) -> bytes:
    """A block of columns, each its type and its values."""
    rows = len(columns[0]) - 1
    parts = [_BLOCK_INFO, _varint(len(columns)), _varint(rows)]
    for place, (kind, *values) in enumerate(columns):
        parts += [_text(f"c{place}"), _text(kind), b"\0"]  # nothing is sparse
        parts += [_text(value) if kind == "String" else value.to_bytes(4, "little") for value in values]
    return b"".join(parts)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _varint(len(encoded)) + encoded


def _varint(number: int) -> bytes:
    """Seven bits a byte, the last ones first; all bytes but the last have the eighth bit set."""
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])
