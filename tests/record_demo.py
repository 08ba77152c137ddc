"""Runs the demo and keeps what it left in ``tests/data/demo``: ``python -m tests.record_demo``.

The README shows what the demo printed of exactly these files; run ``python -m tests.generate`` afterwards.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.demo.supervisor import DemoResult, run_demo

DATA = Path(__file__).parent / "data" / "demo"
FOLDER = Path("rtrace-demo")
"""Log folder of the demo in the README."""


def record() -> None:
    """Run the demo with its defaults and store trace, truth and result."""
    with tempfile.TemporaryDirectory() as folder:
        result = run_demo(Path(folder), DemoSettings(), print)
        _store(DATA / "rollout_trace.jsonl.gz", result.trace.read_bytes())
        _store(DATA / "server_truth.json.gz", json.dumps(result.truth).encode())
        kill = {"killed_in_step": result.killed_in_step, "restored_step": result.restored_step}
        (DATA / "kill.json").write_text(json.dumps(kill) + "\n", encoding="utf-8")


def recorded() -> DemoResult:
    """The stored demo, as if it had just run in ``rtrace-demo``."""
    truth = json.loads(gzip.decompress((DATA / "server_truth.json.gz").read_bytes()))
    kill = json.loads((DATA / "kill.json").read_text(encoding="utf-8"))
    return DemoResult(FOLDER, FOLDER / "rollout_trace.jsonl", truth, **kill)


def _store(path: Path, data: bytes) -> None:
    with gzip.GzipFile(path, "wb", mtime=0) as file:
        file.write(data)


if __name__ == "__main__":
    record()
