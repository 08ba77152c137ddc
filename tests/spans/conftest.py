"""What every test that records with spans needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


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
