"""``rtrace watch``."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from rtrace_otel.analysis.reading.source import refuse_address
from rtrace_otel.cli.common import TRACE, StdoutError, write_out
from rtrace_otel.cli.following import Follower
from rtrace_otel.cli.keyboard import keyboard
from rtrace_otel.cli.terminal import TEXT_WIDTH, standard_output
from rtrace_otel.errors import TraceFileError
from rtrace_otel.report.damage import damage_json
from rtrace_otel.report.formats import to_csv, to_json, to_markdown
from rtrace_otel.report.frame import Line
from rtrace_otel.report.watch import Screen

ONCE_LINES: Final = 48
"""Lines of a frame that is printed: as on a large screen."""

_LEAST_INTERVAL_S, _GREATEST_INTERVAL_S = 0.05, 3600.0
_FALLBACK_SIZE: Final = (80, 24)
_STYLES: Final = {"plain": "", "title": "bold", "heading": "dim", "finding": "bold yellow", "faint": "dim"}


@click.command()
@click.argument("file", type=TRACE)
@click.option("--once", is_flag=True, help="Print one frame of the whole file so far, and end.")
@click.option(
    "--interval", type=float, default=1.0, show_default=True, metavar="SECONDS", help="Time between two looks."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "csv", "md"]),
    default="table",
    show_default=True,
    help="With --once: how to print the frame.",
)
def watch(file: str, once: bool, interval: float, form: str) -> None:
    """Follow the trace of a running job, full-screen: what is open, how fast it goes, its batch age, what went wrong.

    It reads what is added to the file and nothing else of the job. The file may not be there yet, and may be replaced;
    runs come and go. q or Ctrl-C ends it. A small screen shows the most important lines.

    \b
    Examples:
      rtrace watch logs/
      rtrace watch logs/rollout_trace.jsonl --interval 5
      rtrace watch logs/ --once
      rtrace watch logs/ --once --format json | jq .attempts.running
    """
    if file == "-":
        raise click.UsageError("standard input cannot be watched; give the file that the job is writing")
    if not _LEAST_INTERVAL_S <= interval <= _GREATEST_INTERVAL_S:
        raise click.UsageError(f"--interval: {interval} is not between {_LEAST_INTERVAL_S} and {_GREATEST_INTERVAL_S}")
    refuse_address(file)
    follower = Follower(file)
    if once:
        write_out(_once(follower, form))
        return
    if form != "table":
        raise click.UsageError(f"--format {form} goes with --once")
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") in ("", "dumb"):
        raise click.UsageError("standard output is no terminal that can be drawn on; --once prints one frame")
    try:
        while _follow(follower, interval):
            os.kill(os.getpid(), signal.SIGSTOP)  # goes on here when the shell brings it to the foreground
    except OSError as error:
        raise StdoutError(BrokenPipeError(str(error))) from error  # the terminal is gone: nobody reads a message


def _once(follower: Follower, form: str) -> str:
    """A frame of all that is in the file.

    Raises:
        TraceFileError: The file is not there, it cannot be read, or it holds no event.
    """
    while follower.look():
        pass
    follower.finish()
    state = follower.tail.state
    if state.missing:
        raise TraceFileError(state.path, "no such file", hint="Pass the trace file or the job's log folder")
    if state.problem is not None:
        raise TraceFileError(state.path, f"cannot be read: {state.problem}")
    if not follower.tail.report.rows:
        raise TraceFileError(state.path, "no rollout event in this file", hint="Is it a rollout trace?")
    if form == "json":
        return to_json("watch", follower.values(), damage_json(follower.tail.report))
    if form != "table":
        return to_csv(follower.document()) if form == "csv" else to_markdown(follower.document())
    screen = Screen(standard_output().width or TEXT_WIDTH, ONCE_LINES, blocks=_has_blocks())
    return "".join(f"{line.text}\n" for line in follower.frame(screen))


def _follow(follower: Follower, interval: float) -> bool:
    """Show the trace until a person has seen enough; gives whether the program is to be suspended."""
    console = Console(file=sys.stdout, force_terminal=True, highlight=False)
    blocks = _has_blocks()
    with (
        keyboard() as keys,
        Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live,
    ):
        while not keys.suspended:
            more = follower.look()
            width, height = _size()
            console.size = (width, height)
            lines = follower.frame(Screen(width, height, blocks, keys=True))
            live.update(_text(lines), refresh=True)
            if "q" in keys.wait(0.0 if more else interval).lower():
                return False
        return True


def _size() -> tuple[int, int]:
    """Columns and lines of the terminal now, whatever the environment says."""
    found = os.get_terminal_size(sys.stdout.fileno())
    return (found.columns or _FALLBACK_SIZE[0], found.lines or _FALLBACK_SIZE[1])


def _has_blocks() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def _text(lines: Sequence[Line]) -> Text:
    text = Text(no_wrap=True, overflow="crop")
    for place, line in enumerate(lines):
        text.append("\n" if place else "")
        text.append(line.text, style=_STYLES[line.tone])
    return text
