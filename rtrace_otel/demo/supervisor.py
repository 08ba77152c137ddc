"""Runs the demo: starts server and controller, has the controller die in mid-step, restores it, lets it finish."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.errors import RTraceError
from rtrace_otel.events import ROLLOUT_TRACE_FILENAME

TRUTH_FILENAME: Final = "server_truth.json"
DEADLINE_S: Final = 180.0


class DemoError(RTraceError):
    """A process of the demo failed; the text says which log to look at."""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demo left.

    Attributes:
        folder: The job's log folder.
        trace: The trace file.
        truth: The server's record of the true weight version of every token, by call id.
        killed_in_step: Step that the controller was in when it was killed.
        restored_step: Step of the checkpoint that it was restored from.
    """

    folder: Path
    trace: Path
    truth: dict[str, dict[str, Any]]
    killed_in_step: int
    restored_step: int


def run_demo(
    folder: Path,
    settings: DemoSettings,
    say: Callable[[str], None],
    *,
    steps_after_checkpoint: int = 2,
    into_step: float | None = None,
) -> DemoResult:
    """Run the job in an empty folder, with one kill and one restore.

    Args:
        folder: Log folder; must not hold a trace.
        settings: Size and speed.
        say: Told what happens.
        steps_after_checkpoint: Which step after the first checkpoint to kill in.
        into_step: Share of the step's training time that has passed at the kill; by default drawn from the seed.

    Raises:
        DemoError: A process failed, or the folder already holds a trace.
    """
    trace = folder / ROLLOUT_TRACE_FILENAME
    if trace.exists():
        raise DemoError(f"{trace}: already there. Choose another folder with --dir")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DemoError(f"{folder}: cannot be made: {error.strerror or error}. Choose another with --dir") from error
    share = 0.6 * random.Random(settings.seed).random() if into_step is None else into_step  # noqa: S311
    restored_step = settings.checkpoint_every
    mortal = replace(settings, dies_in_step=restored_step + steps_after_checkpoint, dies_after=share)
    with _server(folder, settings) as url:
        say(f"inference server and controller started; log folder {folder}")
        with _controller(folder, url, mortal) as first:
            _await_kill(first)
        killed_in_step = max(row["step"] for row in read_events(trace) if row["event"] == "train_step_started")
        say(f"checkpoint after step {restored_step} published; controller killed with SIGKILL in step {killed_in_step}")
        with _controller(folder, url, settings) as second:
            say(f"controller restored from the checkpoint, training steps {restored_step + 1} to {settings.steps}")
            _await_end(second)
        say("finished")
        truth = _truth(url)
    (folder / TRUTH_FILENAME).write_text(json.dumps(truth), encoding="utf-8")
    return DemoResult(folder, trace, truth, killed_in_step, restored_step)


@contextmanager
def _server(folder: Path, settings: DemoSettings) -> Iterator[str]:
    arguments = {"seed": settings.seed, "slots": settings.slots, "token-s": settings.token_s}
    arguments["failure-rate"] = settings.failure_rate
    options = [f"--{name}={value}" for name, value in arguments.items()]
    with _process(folder, "server", options, subprocess.PIPE) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        if not port:
            raise DemoError(f"the inference server did not start; see {folder / 'server.log'}")
        yield f"http://127.0.0.1:{int(port)}"


@contextmanager
def _controller(folder: Path, url: str, settings: DemoSettings) -> Iterator[subprocess.Popen[bytes]]:
    with _process(folder, "controller", [str(folder), url, json.dumps(asdict(settings))], None) as controller:
        yield controller


@contextmanager
def _process(folder: Path, name: str, arguments: list[str], stdout: int | None) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the demo, ended with the block, whatever ends the block."""
    with (folder / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", f"rtrace_otel.demo.{name}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log if stdout is None else stdout,
            stderr=log,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


def _await_kill(controller: subprocess.Popen[bytes]) -> None:
    """Wait until the controller has killed itself."""
    try:
        status = controller.wait(DEADLINE_S)
    except subprocess.TimeoutExpired:
        status = None
    if status != -signal.SIGKILL:
        raise DemoError("the controller did not come to the step to kill it in; see controller.log in the log folder")


def _await_end(controller: subprocess.Popen[bytes]) -> None:
    try:
        status = controller.wait(DEADLINE_S)
    except subprocess.TimeoutExpired:
        raise DemoError("the restored controller did not finish; see controller.log in the log folder") from None
    if status:
        raise DemoError(f"the restored controller failed with status {status}; see controller.log in the log folder")


def _truth(url: str) -> dict[str, dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/truth", timeout=60) as response:  # noqa: S310 - our own server
        truth: dict[str, dict[str, Any]] = json.load(response)
        return truth
