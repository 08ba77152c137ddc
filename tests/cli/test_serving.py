"""The server of ``rtrace serve``, asked through raw sockets: who is answered, and with what."""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from rtrace_otel.cli import followed, serving
from rtrace_otel.cli.serving import TraceServer, serve_in_background
from rtrace_otel.cli.traces_served import TracesServed
from tests.cli.conftest import JOB
from tests.cli.program import lines, write

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two jobs."""
    write(_made(tmp_path / "a"), JOB)
    write(_made(tmp_path / "b"), JOB[:3])
    return tmp_path


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


@pytest.fixture
def server(folder: Path) -> Iterator[TraceServer]:
    """A server of the folder."""
    with TraceServer(TracesServed([str(folder)]), "127.0.0.1", 0, TOKEN) as server:
        serve_in_background(server)
        yield server
        server.shutdown()


@pytest.fixture
def client(server: TraceServer) -> Client:
    """Somebody who asks it."""
    return Client(server)


def test_the_first_page_lists_the_traces(client: Client) -> None:
    """Each with how far it is; the job that has ended, and the one that has not."""
    answer = client.ask(f"/{TOKEN}/")
    rows = re.findall(r'<a href="(.*?)">(.*?)</a></td><td>(.*?)</td>', answer.body.decode())
    assert (200, "text/html; charset=utf-8") == (answer.status, answer.fields["content-type"])
    assert ("t/0/", "a/rollout_trace.jsonl", "step 6, ended: closed") == rows[0]
    assert ("t/1/", "b/rollout_trace.jsonl") == rows[1][:2]
    assert rows[1][2].startswith("no step in its last rows, last row ")


def test_the_page_of_a_trace(client: Client) -> None:
    """It follows, and its policy stands in the answer too."""
    answer = client.ask(f"/{TOKEN}/t/0/")
    assert 200 == answer.status
    assert b"rtrace.follow(" in answer.body
    assert "connect-src 'self'" in answer.fields["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.fields["content-security-policy"]
    assert int(answer.fields["content-length"]) == len(answer.body)


@pytest.mark.parametrize("path", [f"/{TOKEN}/", f"/{TOKEN}/t/0/", f"/{TOKEN}/t/0/events", "/wrong/"])
def test_nothing_is_kept_or_leaked(client: Client, path: str) -> None:
    """Whatever is answered: no address in a Referer, no copy in a cache, no guessing of types, no frame."""
    fields = client.ask(path, "HEAD").fields
    assert ("no-referrer", "no-store", "nosniff", "same-origin") == tuple(
        fields[name]
        for name in ("referrer-policy", "cache-control", "x-content-type-options", "cross-origin-resource-policy")
    )
    assert "frame-ancestors 'none'" in fields["content-security-policy"]
    assert "server" not in fields or "Python" not in fields["server"]


@pytest.mark.parametrize(
    "path", ["/", "/t/0/", "/wrong/", "/wrong/t/0/events", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", "/\u00e9/"]
)
def test_without_the_token_nothing_is_told(client: Client, path: str) -> None:
    """A wrong token, half of one, none."""
    answer = client.ask(path)
    assert 403 == answer.status
    assert TOKEN not in answer.body.decode()
    assert b"rollout" not in answer.body


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "", "[", "a b"]
)
def test_another_host_is_not_answered(client: Client, host: str) -> None:
    """A name of somebody else that leads to this machine tells of itself: DNS rebinding."""
    assert 421 == client.ask(f"/{TOKEN}/", host=host).status


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LOCALHOST", "localhost.", "[::1]:9", "127.0.0.2"])
def test_names_of_this_machine(client: Client, host: str) -> None:
    """The port may be that of a tunnel."""
    assert 200 == client.ask(f"/{TOKEN}/", host=host).status


def test_one_host(client: Client) -> None:
    """None is wrong, and so are two."""
    request = f"GET /{TOKEN}/ HTTP/1.1\r\n%sConnection: close\r\n\r\n"
    both = "Host: localhost\r\nHost: evil.example\r\n"
    assert [400, 400] == [client.send((request % hosts).encode()).status for hosts in ("", both)]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get"])
def test_nothing_can_be_changed(client: Client, method: str) -> None:
    """Only GET and HEAD, with or without the token."""
    answers = [client.ask(path, method) for path in (f"/{TOKEN}/", "/")]
    assert [(405, "GET, HEAD")] * 2 == [(answer.status, answer.fields["allow"]) for answer in answers]


@pytest.mark.parametrize("path", ["", "t/0/", "t/0/events"])
def test_head_has_no_content(client: Client, path: str) -> None:
    """The same answer without its content."""
    answer = client.ask(f"/{TOKEN}/{path}", "HEAD")
    assert (200, b"") == (answer.status, answer.body)


@pytest.mark.parametrize(
    "path", ["t/9/", "t/-1/", "t/0", "t//", "t/x/", "t/1e3/", "t/0/../1/", "t/%30/", "../", "x", "t/" + "9" * 500 + "/"]
)
def test_paths_that_lead_nowhere(client: Client, path: str) -> None:
    """Numbers only, of traces that were found: no part of an address is a path of the machine."""
    assert 404 == client.ask(f"/{TOKEN}/{path}").status


@pytest.mark.parametrize("request_", [b"\r\n\r\n", b"GET\r\n\r\n", b"\0\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b""])
def test_noise(client: Client, request_: bytes) -> None:
    """What is no request ends its own connection, and the next one is answered."""
    with client.connect() as connection:
        connection.sendall(request_)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass
    assert 200 == client.ask(f"/{TOKEN}/").status


def test_the_address_without_its_last_slash(client: Client) -> None:
    """It leads to the one with it."""
    answer = client.ask(f"/{TOKEN}")
    assert (302, f"/{TOKEN}/") == (answer.status, answer.fields["location"])


def test_one_trace_needs_no_list(folder: Path) -> None:
    """The first page leads to it."""
    with TraceServer(TracesServed([str(folder / "a")]), "127.0.0.1", 0, TOKEN) as server:
        serve_in_background(server)
        answer = Client(server).ask(f"/{TOKEN}/")
        server.shutdown()
    assert (302, "t/0/") == (answer.status, answer.fields["location"])


def test_icons_are_not_asked_for_again(client: Client) -> None:
    """Browsers ask for one without being told to."""
    assert 204 == client.ask("/favicon.ico").status


def test_a_stream_begins_with_everything(client: Client) -> None:
    """All parts and the state; a page that has them gets the state alone."""
    client.ask(f"/{TOKEN}/t/0/")  # now the trace has been read
    stream = client.stream()
    events = dict(_first(stream, 2))
    assert {"title", "opening", "document"} <= set(events["parts"]["parts"])
    assert len(JOB) == events["state"]["rows"]
    known = f"epoch={events['parts']['epoch']}&version={events['parts']['version']}"
    assert ["state"] == [name for name, _ in _first(client.stream(known), 1)]
    stream.close()  # until now it kept the trace followed


@pytest.mark.parametrize(
    "query", ["epoch=x&version=x", "version=-1", "version=" + "9" * 400, "epoch=%00&version=%ff", "&&="]
)
def test_odd_positions_in_a_stream(client: Client, query: str) -> None:
    """They stand for none: everything is told."""
    told = next(value for name, value in client.stream(query) if name == "parts")
    assert "title" in told["parts"]


def _first(events: Iterator[tuple[str, Any]], number: int) -> list[tuple[str, Any]]:
    return [event for _, event in zip(range(number), events, strict=False)]


def _states(events: Iterator[tuple[str, Any]]) -> Iterator[dict[str, Any]]:
    return (value for name, value in events if name == "state")


def test_rows_are_pushed_as_they_come(client: Client, folder: Path) -> None:
    """Each client gets them, and the file is read once for all; it is cut short, and begun anew."""
    path = folder / "b" / "rollout_trace.jsonl"
    streams = [_states(client.stream(trace=1)) for _ in range(20)]
    assert {3} == {next(stream)["rows"] for stream in streams}
    with path.open("ab") as file:
        file.write(lines(JOB[3:5]))
    assert {5} == {next(stream)["rows"] for stream in streams}
    os.truncate(path, len(lines(JOB[:1])))
    assert {1} == {next(stream)["rows"] for stream in streams}


def test_a_slow_reader_holds_up_nobody(client: Client) -> None:
    """One asks for a page and a stream, and reads neither."""
    stuck = [client.connect() for _ in range(2)]
    for connection, path in zip(stuck, ("t/0/", "t/0/events"), strict=True):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.sendall(f"GET /{TOKEN}/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert 200 == client.ask(f"/{TOKEN}/t/0/").status
    assert 2 == len(_first(client.stream(), 2))
    for connection in stuck:
        connection.close()


def test_pages_beyond_the_limit_are_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch, server: TraceServer
) -> None:
    """Those that are open go on, and one that is closed makes room."""
    monkeypatch.setattr(serving, "_CHECK_S", 0.05)
    streams = [client.stream() for _ in range(serving.MAX_STREAMS)]
    for stream in streams:
        next(stream)
    assert 503 == client.ask(f"/{TOKEN}/t/0/events").status
    streams.pop().close()
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        with server.stream() as granted:
            if granted:
                break
        time.sleep(0.05)
    assert next(client.stream())


def test_a_trace_is_let_go_when_nobody_looks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its follower ends a while after the last page was closed; a page that comes back before finds it as it was."""
    monkeypatch.setattr(serving, "_CHECK_S", 0.05)
    monkeypatch.setattr(followed, "LOOK_S", 0.05)
    trace = followed.Followed(str(folder / "a"), grace_s=3600.0)
    with trace.viewing() as first:
        trace.first(first, LIMIT_S)
    with trace.viewing() as second:
        assert first is second
    trace._grace_s = 0.0  # an hour has passed
    deadline = time.monotonic() + LIMIT_S
    while trace.report is not None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert trace.report is None
    with trace.viewing() as third:
        assert len(JOB) == trace.first(third, LIMIT_S).state["rows"]
    assert third is not first


def test_a_fault_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page does not pretend to be live when its trace is not followed any more."""

    def broken(_: object) -> bool:
        raise ArithmeticError("no")

    monkeypatch.setattr("rtrace_otel.report.html.live.LiveReport.update", broken)
    trace = followed.Followed(str(folder / "a"))
    with trace.viewing() as report:
        deadline = time.monotonic() + LIMIT_S
        while trace.report is not None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert "not followed any more (ArithmeticError: no)" == report.told.state["problem"]
    assert trace.report is None
