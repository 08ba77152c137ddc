"""``rtrace serve``."""

from __future__ import annotations

import getpass
import os
import secrets
import select
import stat
import sys
import time
import webbrowser
from collections.abc import Mapping
from typing import Final

import click

from rtrace_otel.analysis.reading.source import refuse_address
from rtrace_otel.cli.common import TRACE, rare_collections, write_out
from rtrace_otel.cli.serving import TraceServer, serve_in_background
from rtrace_otel.cli.traces_served import TracesServed
from rtrace_otel.errors import RTraceError

_LOOK_S: Final = 0.5


@click.command()
@click.argument("files", type=TRACE, nargs=-1, required=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Name or address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port to listen at; 0 takes a free one.",
)
@click.option("--open", "open_too", is_flag=True, help="Open the page in a browser.")
def serve(files: tuple[str, ...], host: str, port: int, open_too: bool) -> None:
    """The report as a page that follows the trace of a running job; several traces, or a folder to choose from.

    It reads what is added to the files and changes nothing. The address holds a secret: whoever has it can read the
    traces, nobody else can. Only this machine can reach it unless --host says otherwise. Ctrl-C ends it.

    \b
    Examples:
      rtrace serve logs/
      rtrace serve runs/ --port 8123
      rtrace serve monday/rollout_trace.jsonl tuesday/rollout_trace.jsonl
    """
    if "-" in files:
        raise click.UsageError("standard input cannot be served; give the file that the job is writing")
    for file in files:
        refuse_address(file)
    try:
        server = TraceServer(TracesServed(files), host, port, secrets.token_urlsafe(18))
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise RTraceError(f"cannot listen at {host}, port {port}: {reason or error}") from error
    serve_in_background(server)
    write_out(announcement(server.url, server.server_address[1], server.host, os.environ))
    if open_too and not webbrowser.open(server.url):
        click.echo("note: no browser was found; open the address yourself", err=True)
    with rare_collections():
        while not _nobody_reads_output():
            time.sleep(_LOOK_S)


def announcement(url: str, port: int, host: str, environment: Mapping[str, str]) -> str:
    """What to tell the person: the address, and how to reach it from where that person sits."""
    lines = [f"Serving at {url}"]
    connection = environment.get("SSH_CONNECTION", "").split()
    if len(connection) == 4 and host in ("127.0.0.1", "localhost"):
        _, _, address, ssh_port = connection
        through = "" if ssh_port == "22" else f" -p {ssh_port}"
        lines += [
            "On your own machine, type this, and open the address there:",
            f"  ssh -N -L {port}:127.0.0.1:{port}{through} {_user()}@{address}",
        ]
    elif host not in ("127.0.0.1", "localhost", "::1"):
        lines.append("Other machines can reach it, without encryption. Whoever has the address can read the traces.")
    return "".join(f"{line}\n" for line in [*lines, "Ctrl-C ends it."])


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "USER"


def _nobody_reads_output() -> bool:
    """Whether standard output is a pipe that nobody reads any more."""
    try:
        number = sys.stdout.fileno()
        mode = os.fstat(number).st_mode
    except (OSError, ValueError):
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    poll = select.poll()
    poll.register(number, 0)
    return any(event & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, event in poll.poll(0))
