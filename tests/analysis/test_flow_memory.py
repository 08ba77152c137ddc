"""Steps, groups and attempts are told in memory that does not grow with the rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from tests.pace import within

COMMANDS: Final = ("attempts", "groups", "steps")
FEW, MANY = 10_000, 60_000
"""Units of rows. The program remembers at most 2,000 ended groups and changes, so that ten thousand are beyond it."""

ALLOWED_KIB: Final = 2 * 1024
"""The allocator's noise; over 50,000 units a leak of one small object each is more."""

PROGRAM: Final = """
import re, sys
from rtrace_otel.analysis.flow.attempts import AttemptsFold
from rtrace_otel.analysis.flow.choice import Choice
from rtrace_otel.analysis.flow.groups import GroupsFold
from rtrace_otel.analysis import queue_depth
from rtrace_otel.analysis.flow import flow
from rtrace_otel.analysis.steps import StepsFold

flow.MAX_ENDED = queue_depth.MAX_CHANGES = queue_depth.MAX_PUBLISHED = 2_000

def unit(n):
    group, attempt = f"group-{n}", f"attempt-{n}"
    where = {"group_id": group, "attempt_id": attempt, "prompt_id": str(n), "generation_index": 0}
    yield {"event": "group_reserved", "group_id": group, "prompt_id": str(n)}
    yield {"event": "group_admitted", "group_id": group}
    yield {"event": "attempt_dispatched", **where}
    yield {"event": "attempt_refused", "attempt_id": attempt}
    yield {"event": "attempt_dispatched", **where}
    yield {"event": "weight_sync", "replaced_version": n, "new_version": n + 1, "calls": [[attempt + ":0", n]]}
    yield {"event": "checkpoint_started"}
    yield {"event": "checkpoint_published", "checkpoint_id": f"c-{n}", "step": 1, "groups": [group]}
    yield {"event": "attempt_sealed", "attempt_id": attempt, "tokens": n}
    yield {"event": "group_published", "group_id": group}
    if n % 1000 == 0:
        yield {"event": "train_step_started", "step": 1}
        yield {"event": "train_step", "step": 1, "trained_version": n, "group_ids": [group]}
    else:
        yield {"event": "group_discarded", "group_id": group, "reason": "stale"}

folds = {"attempts": lambda: AttemptsFold(Choice()), "groups": lambda: GroupsFold(Choice()), "steps": StepsFold}
fold, seq = folds[sys.argv[1]](), 0
for n in range(int(sys.argv[2])):
    for row in unit(n):
        fold.add({"t": float(seq), "run": "a", "seq": seq, **row})
        seq += 1
fold.result().self_check()
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def _peak_kib(command: str, units: int) -> int:
    """Most memory that a process of its own had resident while it read so many units of rows."""
    program = [sys.executable, "-c", PROGRAM, command, str(units)]
    return int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("command", COMMANDS)
def test_memory_does_not_grow_with_the_rows(command: str) -> None:
    """Many more groups and attempts that have ended need the same memory; only training steps are listed."""

    def grown() -> tuple[None, float]:
        few, many = (_peak_kib(command, units) for units in (FEW, MANY))
        return None, many - few

    within(ALLOWED_KIB, grown)
