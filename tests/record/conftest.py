"""What every test of the recorder needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rtrace_otel.record.trace import RolloutTrace


@pytest.fixture
def trace(file: Path) -> Iterator[RolloutTrace]:
    """An open recorder that is closed after the test, if the test did not."""
    trace = RolloutTrace(file)
    yield trace
    trace.close()
