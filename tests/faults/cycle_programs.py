"""A value that refers to itself in several places."""

from __future__ import annotations

import resource
from typing import Any

from rtrace_otel.record.trace import RolloutTrace
from tests.pace import SOON_S

MEMORY_BYTES = 2 << 30


def emit_cycle(path: str, branches: str) -> None:
    """Emit a tree whose nodes know their parent, between two ordinary rows."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    root: dict[str, Any] = {"name": "root"}
    root["children"] = [{"name": str(n), "parent": root} for n in range(int(branches))]
    emit_between(path, root)


def emit_shared(path: str, levels: str) -> None:
    """Emit a list that holds another ten times, which holds another ten times, and so on."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    value: list[Any] = ["x"]
    for _ in range(int(levels)):
        value = [value] * 10
    emit_between(path, value)


def emit_between(path: str, odd: object) -> None:
    """Three rows, the middle one with an odd value."""
    trace = RolloutTrace(path)
    trace.emit("before", n=0)
    trace.emit("odd", first=1, odd=odd, last=2)
    trace.emit("after", n=3)
    assert trace.flush(SOON_S)
    assert trace.close()
