"""What every test starts from: no telemetry settings of the machine that runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A machine that is busy with something else is no fault of an example; and what a test finds does not depend on luck:
# new examples are tried by whoever asks for them.
settings.register_profile(
    "unhurried",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="RTRACE_NEW_EXAMPLES" not in os.environ,
)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def _no_telemetry_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector named in the environment of the person who runs the tests is none of our business."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a test records to; nothing is there yet."""
    return tmp_path / "trace.jsonl"
