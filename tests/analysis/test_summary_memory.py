"""A trace is summarised in memory that does not grow with its rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from tests.pace import within

KINDS: Final = {
    "attempts": (2_000, 60_000),
    "others": (2_000, 60_000),
    "syncs": (2_000, 60_000),
    "one step": (2_000, 60_000),
    "published cuts": (70_000, 120_000),
}
"""Units of rows, few and many; calls that were released may be remembered, in bounds, hence the higher start."""

ALLOWED_KIB: Final = 4 * 1024
"""The allocator's noise; over 60,000 units a leak of one small object each is more."""

PROGRAM: Final = """
import re, sys
from rtrace_otel.analysis.summary import summarise

def rows(kind, units):
    seq = 0
    for unit in range(units):
        for event in KINDS[kind](unit):
            yield {"t": float(seq), "run": "a", "seq": seq, **event}
            seq += 1

KINDS = {
    "attempts": lambda n: (
        {"event": "attempt_dispatched", "group_id": "g", "attempt_id": f"attempt-{n}", "prompt_id": str(n)},
        {"event": "attempt_refused", "attempt_id": f"attempt-{n}", "reason": "busy"},
        {"event": "attempt_dispatched", "group_id": "g", "attempt_id": f"attempt-{n}", "prompt_id": str(n)},
        {"event": "attempt_sealed", "attempt_id": f"attempt-{n}", "tokens": n},
        {"event": "attempt_resumed", "attempt_id": f"attempt-{n}", "level": "sibling"},
    ),
    "others": lambda n: (
        {"event": "tool_call", "id": f"call-{n}"},
        {"event": f"made-up-{n}"},
        {"event": "clock_adjusted", "offset_s": 1.0},
        {"event": "trace_gap", "lost": 1, "reason": "full"},
    ),
    "syncs": lambda n: (
        {"event": "weight_sync", "replaced_version": n, "new_version": n + 1, "calls": []},
        {"event": "checkpoint_published", "checkpoint_id": f"c{n}", "step": n, "groups": [f"g{n}"]},
    ),
    "one step": lambda n: (
        {"event": "group_published", "group_id": "g", "tokens_by_version": {n: 5}, "call_versions": [["c", n, 5]]},
        {"event": "train_step", "step": 1, "trained_version": n, "group_ids": ["g"]},
    ),
    "published cuts": lambda n: (
        {"event": "weight_sync", "replaced_version": 1, "new_version": 2, "calls": [[f"call-{n}", 2]]},
        {"event": "group_published", "group_id": "g", "call_versions": [[f"call-{n}", 1, 5]]},
        {"event": "train_step", "step": 1, "trained_version": 3, "group_ids": ["g"]},
    ),
}
found = summarise(rows(sys.argv[1], int(sys.argv[2])))
found.self_check()
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def _peak_kib(kind: str, units: int) -> int:
    """Most memory that a process of its own had resident while it summarised so many units of rows.

    Not ``ru_maxrss``: that one is inherited from the process that starts it.
    """
    command = [sys.executable, "-c", PROGRAM, kind, str(units)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_grow_with_the_rows(kind: str) -> None:
    """Many more rows need the same memory, as long as no more is open and no more groups are known."""

    def grown() -> tuple[None, float]:
        few, many = (_peak_kib(kind, units) for units in KINDS[kind])
        return None, many - few

    within(ALLOWED_KIB, grown)
