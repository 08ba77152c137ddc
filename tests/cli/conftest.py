"""A small job with one kill and one restore, as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtrace_otel.cli.main import main
from tests.cli.program import Result, Run, write
from tests.report.history import (
    abandoned,
    dispatched,
    ended,
    event,
    published,
    refit,
    reserved,
    restored,
    sealed,
    started,
    trace,
    trained,
)  # fmt: skip

RUN_A, RUN_B = "aaaaaaaa00000001", "bbbbbbbb00000002"
JOB = trace(
    started(RUN_A),
    reserved(RUN_A, "f"),
    dispatched(RUN_A, "x", "f"),
    sealed(RUN_A, "x"),
    published(RUN_A, "f", {4: 1024}, ("c0", 4, 1024)),
    trained(RUN_A, 5, 4, "f", logged=0.0),
    reserved(RUN_A, "g"),
    dispatched(RUN_A, "y", "g"),
    dispatched(RUN_A, "z", "g"),
    refit(RUN_A, 4, 5, ("c1", 50), ("c2", 100), seconds=0.02),
    sealed(RUN_A, "y"),
    event(RUN_A, "checkpoint_published", checkpoint_id="ckpt-5", step=5),
    started(RUN_B, host="node2", pid=8),
    restored(RUN_B, 5),
    reserved(RUN_B, "g", origin_run=RUN_A),
    dispatched(RUN_B, "w", "g"),
    abandoned(RUN_B, "w", "server error"),
    published(RUN_B, "g", {4: 400}, ("c1", 4, 200), ("c2", 4, 200)),
    trained(RUN_B, 6, 6, "g", logged=2.0),
    ended(RUN_B),
)
"""Step 6 was published without the cuts of two calls: it is logged 0.625 too old."""


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing outside a test decides on its colours and widths."""
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The trace file of the job."""
    return write(tmp_path, JOB)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Calls ``main`` in this process and gives how it ended; any exception but ``SystemExit`` fails the test."""

    def call(*arguments: str | Path) -> Result:
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return Result(caught.value.code, out, err)

    return call
