"""What every test of the recorder needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever runs the tests must not send spans anywhere, nor name the service."""
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a test records to; nothing is there yet."""
    return tmp_path / "trace.jsonl"


@pytest.fixture
def trace(file: Path) -> Iterator[RolloutTrace]:
    """An open recorder that is closed after the test, if the test did not."""
    trace = RolloutTrace(file)
    yield trace
    trace.close()
