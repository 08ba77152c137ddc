"""The server of ``rtrace serve``, asked through raw sockets: who is answered, and with what."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtrace_otel.cli.serving import TraceServer
from tests.cli.web import TOKEN, Client, served, two_jobs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two jobs."""
    return two_jobs(tmp_path)


@pytest.fixture
def server(folder: Path) -> Iterator[TraceServer]:
    """A server of the folder."""
    with served(folder) as server:
        yield server


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
    with served(folder / "a") as server:
        answer = Client(server).ask(f"/{TOKEN}/")
    assert (302, "t/0/") == (answer.status, answer.fields["location"])


def test_icons_are_not_asked_for_again(client: Client) -> None:
    """Browsers ask for one without being told to."""
    assert 204 == client.ask("/favicon.ico").status
