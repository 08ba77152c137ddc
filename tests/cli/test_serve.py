"""``rtrace serve`` as a program: what it prints, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rtrace_otel.cli.serve import announcement
from tests.cli.program import LIMIT_S, environment, rtrace
from tests.cli.test_interrupt import HEEDING


@contextmanager
def serving(*arguments: str | Path, **changes: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The program, and the address that it printed."""
    process = subprocess.Popen(
        [*HEEDING, "serve", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**{"SSH_CONNECTION": "", **changes}),
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("Serving at ").strip()
    finally:
        process.kill()
        process.communicate(timeout=LIMIT_S)


def status_of(url: str) -> int:
    """What the server answers."""
    try:
        with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_it_listens_on_this_machine_only(job: Path) -> None:
    """The address has a token of 144 bits, another one each time; without it nothing is told."""
    with serving(job) as (_, first), serving(job) as (_, second):
        found = [re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{24})/", url) for url in (first, second)]
        assert found[0] is not None
        assert found[1] is not None
        assert found[0][2] != found[1][2]
        assert [200, 403] == [status_of(first), status_of(first.replace(found[0][2], found[1][2]))]


def test_ctrl_c_ends_it_at_once(job: Path) -> None:
    """Also while a page is open; status and word are those of every command."""
    with serving(job) as (process, url), urllib.request.urlopen(f"{url}t/0/events", timeout=LIMIT_S) as stream:
        assert stream.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT_S)
        assert (130, "interrupted") == (process.returncode, err.strip())


def test_it_ends_when_nobody_reads_its_output(job: Path) -> None:
    """As in ``rtrace serve FILE | head -1``, without a complaint."""
    with serving(job) as (process, _):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (0, "") == (process.wait(timeout=LIMIT_S), process.stderr.read())


def test_a_port_of_ones_own(job: Path) -> None:
    """It is taken; a second program cannot have it, and says so."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        with serving(job, "--port", port) as (process, url):
            if not url and "already in use" in process.communicate(timeout=LIMIT_S)[1]:
                continue  # somebody else took it meanwhile
            assert f":{port}/" in url
            done = rtrace("serve", job, "--port", port)
            break
    assert (1, "") == (done.code, done.out)
    assert f"error: cannot listen at 127.0.0.1, port {port}: Address already in use\n" == done.err


def test_a_host_that_is_none(job: Path) -> None:
    """The message says what could not be had."""
    done = rtrace("serve", job, "--host", "no.such.host.invalid")
    assert (1, "") == (done.code, done.out)
    assert done.err.startswith("error: cannot listen at no.such.host.invalid, port 0: ")


@pytest.mark.parametrize("arguments", [(), ("-",), ("",), ("x", "--port", "70000"), ("x", "--port", "-1")])
def test_bad_arguments(arguments: tuple[str, ...]) -> None:
    """A wrong command line is a usage error."""
    assert 2 == rtrace("serve", *arguments).code


def test_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    """The page waits for it."""
    with serving(tmp_path / "later") as (_, url):
        assert 200 == status_of(url)


def test_over_ssh_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the port, the user and the machine's address; a port of ssh only if it is another one."""
    monkeypatch.setenv("LOGNAME", "ada")
    expected = [
        "Serving at URL",
        "On your own machine, type this, and open the address there:",
        "  ssh -N -L 8123:127.0.0.1:8123 ada@10.0.0.7",
        "Ctrl-C ends it.",
    ]
    usual = announcement("URL", 8123, "127.0.0.1", {"SSH_CONNECTION": "10.0.0.2 50000 10.0.0.7 22"})
    other = announcement("URL", 8123, "127.0.0.1", {"SSH_CONNECTION": "10.0.0.2 50000 10.0.0.7 2222"})
    assert expected == usual.splitlines()
    assert usual.replace("8123 ada", "8123 -p 2222 ada") == other


@pytest.mark.parametrize("connection", ["", "x", "1 2 3", "1 2 3 4 5"])
def test_odd_connections(connection: str) -> None:
    """No line to type is better than a wrong one."""
    assert "Serving at URL\nCtrl-C ends it.\n" == announcement("URL", 1, "127.0.0.1", {"SSH_CONNECTION": connection})


def test_an_open_address_is_warned_of() -> None:
    """Whoever can reach the machine needs only the address."""
    assert "without encryption" in announcement("URL", 1, "0.0.0.0", {})


def test_open_without_a_browser(job: Path) -> None:
    """It is served nevertheless."""
    with serving(job, "--open", PATH=os.defpath, BROWSER="false", DISPLAY="") as (process, url):
        assert 200 == status_of(url)
        assert process.poll() is None
