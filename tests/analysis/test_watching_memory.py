"""A file is followed in memory, and with work per look, that do not grow with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.pace import within

ALLOWED_KIB: Final = 4 * 1024
"""The allocator's noise; over 60,000 attempts a leak of one small object each is more."""

PROGRAM: Final = """
import json, re, sys
from rtrace_otel.analysis.reading.tail import Tail
from rtrace_otel.analysis.watch.watching import WatchFold

path, looks = sys.argv[1], int(sys.argv[2])
tail, fold, seq, most_read = Tail(path), WatchFold(), 0, 0

def events(n):
    yield {"event": "attempt_dispatched", "group_id": "g", "attempt_id": f"attempt-{n}", "prompt_id": str(n)}
    yield {"event": "attempt_refused", "attempt_id": f"attempt-{n}", "reason": "busy"}
    yield {"event": "attempt_sealed", "attempt_id": f"attempt-{n}", "tokens": n}
    yield {"event": "weight_sync_started"}
    yield {"event": "weight_sync", "replaced_version": n, "new_version": n + 1, "calls": []}
    yield {"event": "checkpoint_published", "checkpoint_id": f"c{n}", "step": n, "groups": [f"g{n}"]}

for look in range(looks):
    with open(path, "w" if look == 0 else "a") as file:
        for n in range(20 * look, 20 * look + 20):
            for event in events(n):
                file.write(json.dumps({"t": 1000.0 + seq, "run": "a", "seq": seq, **event}) + "\\\\n")
                seq += 1
    _, rows = tail.look()
    for row in rows:
        fold.add(row)
    most_read = max(most_read, tail.state.bytes_read)
found = fold.snapshot(1000.0 + seq)
found.self_check()
assert found.rows == seq, found.rows
print(re.search(r"VmHWM:\\\\s+(\\\\d+) kB", open("/proc/self/status").read())[1], most_read)
""".replace("\\\\", "\\")


def _measured(path: Path, looks: int) -> tuple[int, int]:
    """Most memory that a process of its own had resident in KiB, and most bytes read at one look."""
    command = [sys.executable, "-c", PROGRAM, str(path), str(looks)]
    peak, read = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return int(peak), int(read)


def test_memory_and_work_do_not_grow_with_the_file(tmp_path: Path) -> None:
    """Thirty times as many rows need the same memory; a look reads its 120 rows, of at most 150 bytes, and no more."""

    def grown() -> tuple[tuple[int, int], float]:
        few, read_early = _measured(tmp_path / "few.jsonl", 100)
        many, read_late = _measured(tmp_path / "many.jsonl", 3000)
        return (read_early, read_late), many - few

    read_early, read_late = within(ALLOWED_KIB, grown)
    assert max(read_early, read_late) <= 120 * 150
