"""What every test with a process of its own needs."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of whoever runs the tests must not send spans anywhere, nor name the service."""
    for name in list(os.environ):
        if name.startswith("OTEL_"):
            monkeypatch.delenv(name)
