"""The server of ``rtrace serve`` keeps pages up to date: what is pushed, to how many, and for how long."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.cli import followed, serving
from rtrace_otel.cli.serving import TraceServer
from tests.cli.conftest import JOB
from tests.cli.program import lines
from tests.cli.web import LIMIT_S, TOKEN, Client, served, two_jobs
from tests.pace import until


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
    until(lambda: _has_room(server))
    assert next(client.stream())


def _has_room(server: TraceServer) -> bool:
    with server.stream() as granted:
        return granted


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
    until(lambda: trace.report is None)
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
        until(lambda: trace.report is None)
        assert "not followed any more (ArithmeticError: no)" == report.told.state["problem"]
    assert trace.report is None
