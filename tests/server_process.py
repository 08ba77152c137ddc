"""A server as a process of its own: started on free ports, waited for, and gone when its ``with`` block ends."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

START_TIMEOUT_S: Final = 120.0
_TRIES: Final = 10


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody uses now, all different."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(server.getsockname()[1]) for server in held]
    finally:
        for server in held:
            server.close()


@contextmanager
def refusing_port() -> Iterator[int]:
    """A port of 127.0.0.1 that nobody listens on, and that nobody else gets."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield int(holder.getsockname()[1])


def get_text(url: str, headers: Mapping[str, str] | None = None) -> str:
    """What a GET request answers; an error answer raises."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers or {})), timeout=60) as answer:
        return str(answer.read().decode())


def named_ports(*names: str) -> dict[str, int]:
    return dict(zip(names, free_ports(len(names)), strict=True))


def listen(ports: Mapping[str, int]) -> dict[str, str]:
    return {f"{name}_LISTEN": f"127.0.0.1:{port}" for name, port in ports.items()}


def start_server(command: Sequence[str], env: Mapping[str, str], work: Path, health: str) -> subprocess.Popen[bytes]:
    # The kernel ends the server even if the tests are killed before they can.
    guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    log = work / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*guard, *command],
            cwd=work,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    end = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end and process.poll() is None:
        try:
            get_text(health)
        except OSError:
            time.sleep(0.05)
        else:
            return process
    _stop(process)
    raise ServerError(f"{Path(command[0]).name} did not start:\n{log.read_text(errors='replace')[-4000:]}")


class ServerError(Exception):
    """A server did not start; the message ends with its log."""


_Server = TypeVar("_Server")


@contextmanager
def running(start: Callable[[Path], tuple[_Server, subprocess.Popen[bytes]]]) -> Iterator[_Server]:
    with tempfile.TemporaryDirectory(prefix="rtrace-server-") as folder:
        # Somebody else may take a port between its choice and its use.
        for left in reversed(range(_TRIES)):
            try:
                server, process = start(Path(folder))
                break
            except ServerError as error:
                if not left or "address already in use" not in str(error).lower():
                    raise
        try:
            yield server
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        # Jaeger, once it was queried, takes many seconds to stop by itself, and has nothing to save.
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
