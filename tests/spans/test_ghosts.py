"""What a killed run left open or undelivered is exported by the next run: once, and only that."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from rtrace_otel.record.ghosts import find_run_before
from rtrace_otel.record.trace import RolloutTrace
from rtrace_otel.spans.projector import project
from tests.faults import child
from tests.faults.collector_programs import open_job
from tests.faults.collector_receiver import Received, Unavailable, http_collector
from tests.pace import until
from tests.spans.rows import History
from tests.spans.test_live import Exporter, OtherExporter

GONE = 2**22 + 1
"""Above the largest process id of Linux."""


def killed(run: str = "a" * 16, **started: object) -> History:
    """A run of this host that was killed with a group and an attempt open, after another attempt had ended."""
    history = History(run)
    history.rows[0].update({"host": os.uname().nodename, "pid": GONE, **started})
    history.reserve()
    history.dispatch("done")
    history.seal("done")
    history.dispatch("open", generation=1)
    return history


def lines(rows: list[Row]) -> bytes:
    """Rows as the recorder writes them."""
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def next_run(file: Path, exporter: Exporter) -> list[str]:
    """Names or attempt ids of the spans that a run that does nothing exports."""
    with RolloutTrace(file, span_exporters=[exporter]):
        pass
    return sorted(
        str((span.attributes or {}).get("rtrace.attempt_id", (span.attributes or {}).get("rtrace.run_id")))
        for span in exporter.spans
    )


def kill_when(path: Path, collector: Received, confirmed: bool) -> None:
    """Run the job, and kill it once its ended span was confirmed, or refused."""
    with child.started(open_job, path, collector.url) as process:
        assert process.stdout is not None
        assert "ready\n" == process.stdout.readline()
        if confirmed:
            until(lambda: b"spans_delivered" in path.read_bytes())
        else:
            until(lambda: collector.attempts)
        process.send_signal(signal.SIGKILL)
        process.wait()


def test_open_spans_of_a_killed_run_are_exported_once(file: Path) -> None:
    """After SIGKILL the next run sends what was open, and not again what was confirmed; the run after it nothing."""
    with http_collector() as collector:
        kill_when(file, collector, confirmed=True)
        for _ in range(2):
            with RolloutTrace(file, otlp=collector.url):
                pass
    expected = {f"{span.span_id:016x}": 1 for span, _ in project(read_events(file)) if span.run == "a" * 16}
    assert expected == Counter(span.span_id.hex() for span in collector.spans)
    assert 3 == len(expected)


def test_unconfirmed_spans_are_exported_too(file: Path) -> None:
    """What the collector refused while the killed run lived arrives with the next run."""
    with http_collector(Unavailable) as collector:
        kill_when(file, collector, confirmed=False)
        port = int(collector.url.rpartition(":")[2])
    with http_collector(port=port) as collector, RolloutTrace(file, otlp=collector.url) as trace:
        trace.close()
    assert ["rollout.attempt", "rollout.attempt", "rollout.group"] == collector.names


def test_ghosts_are_errors_that_say_what_they_waited_for(file: Path) -> None:
    """An exported ghost equals what a replay makes of the file."""
    file.write_bytes(lines(killed().rows))
    exporter = Exporter()
    assert sorted(["done", "open", "a" * 16]) == next_run(file, exporter)
    found = [(span.attributes or {}).get("rtrace.waiting_for") for span in exporter.spans]
    assert [None, "a result", "admission"] == found


def test_only_the_run_before(file: Path) -> None:
    """Runs before the previous one are not exported."""
    file.write_bytes(lines(killed("a" * 16).rows) + lines(killed("b" * 16).rows))
    exporter = Exporter()
    next_run(file, exporter)
    assert {"b" * 16} == {(span.attributes or {})["rtrace.run_id"] for span in exporter.spans}


def test_not_of_a_process_that_lives(file: Path) -> None:
    """A run whose process is alive on this host is a neighbour, and its spans are left alone."""
    file.write_bytes(lines(killed(pid=os.getppid()).rows))
    assert [] == next_run(file, Exporter())


def test_zombie_does_not_live(file: Path) -> None:
    """A killed process that its parent has not waited for is dead."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        process.kill()
        until(lambda: ") Z" in Path(f"/proc/{process.pid}/stat").read_text())
        file.write_bytes(lines(killed(pid=process.pid).rows))
        assert sorted(["done", "open", "a" * 16]) == next_run(file, Exporter())
    finally:
        process.wait()


def test_not_if_not_wanted(file: Path) -> None:
    """``ghosts=False`` leaves them to a replay."""
    file.write_bytes(lines(killed().rows))
    exporter = Exporter()
    with RolloutTrace(file, span_exporters=[exporter], ghosts=False):
        pass
    assert [] == exporter.spans


@pytest.mark.parametrize(
    "damage",
    [
        b'{"event":"attempt_sea',
        b"\0" * 5000,
        b"\xff\xfe\n",
        b"[1]\n",
        b'{"event":"run_started","run":5}\n',
        b"{" * 9999,
    ],
)
def test_damage_hides_no_ghost(file: Path, damage: bytes) -> None:
    """A torn tail, NULs, foreign bytes: the ghosts are exported all the same."""
    file.write_bytes(damage + b"\n" + lines(killed().rows) + damage)
    assert sorted(["done", "open", "a" * 16]) == next_run(file, Exporter())


def test_large_file_is_not_read(file: Path) -> None:
    """Of a file with a quarter of a gigabyte before the last run, only a few blocks are read."""
    with file.open("wb") as sparse:
        sparse.truncate(2**28)
        sparse.seek(0, os.SEEK_END)
        sparse.write(b"\n" + lines(killed().rows))

    def read_so_far() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    before = read_so_far()
    found = find_run_before(file, "present")
    assert found is not None
    assert 5 == len(list(found.rows()))
    assert read_so_far() - before < 2**23


def test_attempt_of_this_run_links_to_the_ghost(file: Path) -> None:
    """Live, as in a replay, the redone attempt links to the lost one."""
    file.write_bytes(lines(killed().rows))
    exporter = Exporter()
    with RolloutTrace(file, span_exporters=[exporter]) as trace:
        trace.group_reserved("g", "17", origin_run="a" * 16)
        trace.attempt_dispatched("g", "again", "17", 1)
        trace.attempt_sealed("again")
    live = [[link.context.span_id for link in span.links] for span in exporter.spans]
    replayed = [[link.span_id for link in span.links] for span, _ in project(read_events(file))]
    assert sorted(replayed) == sorted(live)
    assert [] != [found for found in live if found]


def test_ghosts_for_one_of_two_destinations_leave_none_undelivered(file: Path) -> None:
    """A destination that had the spans already does not lack them."""
    rows = killed().rows
    told = {"event": "spans_delivered", "t": rows[-1]["t"], "run": "a" * 16, "seq": 5, "destination": "Exporter",
            "of_run": "a" * 16, "spans": "0-2"}  # fmt: skip
    file.write_bytes(lines([*rows, told]))
    one, two = Exporter(), OtherExporter()
    trace = RolloutTrace(file, span_exporters=[one, two])
    trace.close()
    spans = trace.stats().spans
    assert spans is not None
    assert (0, 3, 0) == (len(one.spans), len(two.spans), spans.not_delivered)
