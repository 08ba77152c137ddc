"""The demo's job is watched on a terminal while it runs, is killed and is restored."""

from __future__ import annotations

import re
from pathlib import Path

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.demo.settings import DemoSettings
from rtrace_otel.demo.supervisor import run_demo
from tests.cli.emulator import watched


def _rows(text: str) -> int:
    found = re.search(r"^rows +([\d,]+),", text, re.MULTILINE)
    return int(found[1].replace(",", "")) if found else 0


def test_the_screen_follows_a_kill_and_a_restore(tmp_path: Path) -> None:
    """Before the restore the run has no end and open attempts; after it the screen says what was interrupted."""
    folder, frames = tmp_path / "demo", dict[str, str]()
    trace = folder / "rollout_trace.jsonl"
    with watched(folder, columns=120, lines=50) as view:
        frames["before"] = view.until(lambda text: "no such file yet" in text)

        def said(what: str) -> None:
            """Called between two phases of the demo, which waits for it."""
            if "killed with SIGKILL" in what:
                written = len(list(read_events(trace)))
                # A row that the kill tore is not whole before the next run's first row.
                frames["killed"] = view.until_drawn(lambda text: written - 1 <= _rows(text) <= written)

        run_demo(folder, DemoSettings(seed=3), said)
        summary = summarise(read_events(trace))
        frames["finished"] = view.until_drawn(lambda text: summary.rows == _rows(text))
        view.press("q")
        assert 0 == view.ended()
        assert view.restored()

    first, second = (run.run[:8] for run in summary.runs)
    killed, finished = frames["killed"], frames["finished"]
    assert re.search(rf"^{first} .* no end yet ", killed, re.MULTILINE), killed
    assert re.search(r"^attempts +[1-9]\d* open", killed, re.MULTILINE), killed
    assert "open longest" in killed
    assert "was killed" not in killed
    assert f"! run {first} was killed; its last row is " in finished
    assert re.search(rf"^{second} .* ended: closed +step-0004 +5 to 14 ", finished, re.MULTILINE), finished
    assert f"attempts   0 open, {summary.attempts.sealed} sealed, " in finished
    assert f", {summary.attempts.interrupted} interrupted\n" in finished
    assert re.search(r"^restore +step-0004 ", finished, re.MULTILINE), finished
    last = next(step for step in summary.ages.steps if step.step == 14)
    assert f"batch age  {last.best:.3f} in step 14  " in finished
    assert "damage" not in finished
