"""``rtrace demo``."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Final

import click

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.cli.common import write_out
from rtrace_otel.cli.terminal import render_documents, standard_output
from rtrace_otel.errors import MissingExtraError

NEEDED: Final = ("aiohttp", "numpy")
"""Packages of the extra ``demo``; only the job's processes import them."""


@click.command()
@click.option("--dir", "folder", type=click.Path(path_type=Path), help="Log folder of the job.  [default: rtrace-demo]")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seeds the policy, the lengths and the faults; the timing is real.",
)
def demo(folder: Path | None, seed: int) -> None:
    """Run a real asynchronous RL job in miniature, kill it with SIGKILL, restore it, and explain it from its trace.

    An inference server generates token by token with a tiny policy and keeps calls running across weight updates; a
    controller trains the policy on groups of rollouts. It takes about seven seconds, and needs no GPU.

    \b
    Examples:
      rtrace demo
      rtrace demo --dir /tmp/demo --seed 7
    """
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise MissingExtraError("rtrace demo", "demo", error.name or name) from error
    from rtrace_otel.demo.report import demo_documents
    from rtrace_otel.demo.settings import DemoSettings
    from rtrace_otel.demo.supervisor import run_demo

    where = folder or _free_folder(Path("rtrace-demo"))
    result = run_demo(where, DemoSettings(seed=seed), lambda text: click.echo(text, err=True))
    reader = read_events(result.trace)
    documents = demo_documents(result, list(reader), reader.report)
    write_out(render_documents(documents, standard_output()))


def _free_folder(wanted: Path) -> Path:
    """The folder, or with a number behind it if that is taken."""
    folder, number = wanted, 1
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder
