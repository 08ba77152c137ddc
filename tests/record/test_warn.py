"""Warnings cannot flood the host's log."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import Any

import pytest


class Host:
    """A host that was told nothing yet, whose monotonic clock stands where the test puts it."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec("rtrace_otel.record.warn")
        assert spec is not None
        assert spec.loader is not None
        module: Any = importlib.util.module_from_spec(spec)  # its own copy, since what was told may be kept in it
        spec.loader.exec_module(module)
        self.at = 1000.0
        module.time = SimpleNamespace(monotonic=lambda: self.at)
        self.warnings = module.HostWarnings()


@pytest.fixture
def host() -> Host:
    """A fresh one."""
    return Host()


def test_first_warning_comes_at_once(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    """The first trouble is told when it happens, also on a machine that has just started."""
    host.at = 0.0
    host.warnings.warn("disk full")

    assert [("rtrace_otel", 30, "disk full")] == caplog.record_tuples


def test_one_warning_a_minute(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    """A warning every second for ten minutes gives ten lines."""
    for second in range(600):
        host.at = 1000.0 + second
        host.warnings.warn(f"trouble {second}")

    assert [60 * n for n in range(10)] == [int(record.getMessage().split()[1]) for record in caplog.records]


def test_those_held_back_are_counted(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    """The next warning says how many were held back, and the one after it starts to count anew."""
    for _ in range(8):
        host.warnings.warn("trouble")
    host.at += 60.0
    host.warnings.warn("trouble")
    host.at += 60.0
    host.warnings.warn("trouble")

    assert [
        "trouble",
        "trouble (7 more warnings since the last one)",
        "trouble",
    ] == caplog.messages


def test_text_with_percent_signs(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    """A path with a percent sign is a text, not a format."""
    host.at += 1.0
    host.warnings.warn("/a/100%s/%d: disk full")

    assert ["/a/100%s/%d: disk full"] == caplog.messages
