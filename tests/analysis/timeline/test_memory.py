"""The timeline is told in memory that does not grow with the attempts."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from tests.pace import within

FEW, MANY = 20_000, 60_000
"""Groups of one attempt each; the program holds 500 attempts, and remembers at most 16,384 ended groups."""

ALLOWED_KIB: Final = 2 * 1024
"""The allocator's noise; over 40,000 groups a leak of one small object each is more."""

PROGRAM: Final = """
import re, sys
from rtrace_otel.analysis import queue_depth
from rtrace_otel.analysis.flow import flow
from rtrace_otel.analysis.ledger.follow import RolloutFollower
from rtrace_otel.analysis.timeline.fold import TimelineFold
from rtrace_otel.analysis.timeline.kept import Selection

flow.MAX_ENDED = queue_depth.MAX_CHANGES = queue_depth.MAX_PUBLISHED = 2_000

def unit(n):
    group, attempt = f"group-{n}", f"attempt-{n}"
    where = {"group_id": group, "attempt_id": attempt, "prompt_id": str(n), "generation_index": 0}
    yield {"event": "group_reserved", "group_id": group, "prompt_id": str(n)}
    yield {"event": "attempt_dispatched", **where}
    yield {"event": "attempt_refused", "attempt_id": attempt}
    yield {"event": "attempt_dispatched", **where}
    yield {"event": "attempt_sealed", "attempt_id": attempt, "tokens": n}
    yield {"event": "group_published", "group_id": group, "tokens_by_version": {0: n}}
    if n % 2_000 == 0:
        yield {"event": "checkpoint_published", "checkpoint_id": f"c-{n}", "step": 1}
        yield {"event": "train_step", "step": n, "trained_version": n, "group_ids": [group]}
    else:
        yield {"event": "group_discarded", "group_id": group, "reason": "stale"}

fold, seq = TimelineFold(Selection(max_attempts=500), RolloutFollower(remembered=1_000)), 0
for n in range(int(sys.argv[1])):
    for row in unit(n):
        fold.add({"t": float(seq), "run": "a", "seq": seq, **row})
        seq += 1
found = fold.result()
found.self_check()
shown = (found.attempts_total, found.attempts_shown)
assert (int(sys.argv[1]), 500) == shown, shown
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
"""


def _peak_kib(groups: int) -> int:
    """Most memory that a process of its own had resident while it read so many groups."""
    return int(
        subprocess.run([sys.executable, "-c", PROGRAM, str(groups)], check=True, capture_output=True, text=True).stdout
    )


def test_memory_does_not_grow_with_the_attempts() -> None:
    """Many more attempts need the same memory; only steps and checkpoints are listed."""
    within(ALLOWED_KIB, lambda: (None, _peak_kib(MANY) - _peak_kib(FEW)))
