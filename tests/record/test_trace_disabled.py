"""A recorder without a path does nothing, and one that is closed refuses."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.record.written import event_rows


def use(trace: RolloutTrace) -> None:
    """Call what a controller calls."""
    trace.emit("mine", a=[1], t=5)
    trace.emit()
    trace.group_reserved("g", 1)
    trace.train_step(1, 2, ["g"], extra={"a": 1})


def test_no_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path every call is a no-op: no thread, no file, no error, and flush and close succeed at once."""
    monkeypatch.chdir(tmp_path)
    threads = threading.active_count()
    with RolloutTrace(None) as trace:
        use(trace)
        assert ([], threads, False, None) == (
            list(tmp_path.iterdir()),
            threading.active_count(),
            trace.enabled,
            trace.path,
        )
        assert (True, True, True) == (trace.flush(), trace.flush(0.0), trace.close())
    use(trace)

    assert (True, []) == (trace.close(), list(tmp_path.iterdir()))


def test_no_path_keeps_nothing(tmp_path: Path) -> None:
    """Without a path nothing waits in memory."""
    trace = RolloutTrace(None)
    for _ in range(1000):
        use(trace)

    assert (0, 0, 0) == (trace.stats().written, trace.stats().queued, trace.stats().lost)
    assert tmp_path.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("fsync", "sometimes"),
        ("fsync", ""),
        ("fsync", None),
        ("interval_s", 0),
        ("interval_s", -1.0),
        ("interval_s", float("nan")),
        ("interval_s", float("inf")),
        ("queue_rows", 0),
        ("queue_rows", -5),
    ],
)
def test_bad_arguments(name: str, value: Any) -> None:
    """An argument out of its range raises ``ValueError`` that names it and its value, with or without a path."""
    with pytest.raises(ValueError, match=name) as raised:
        RolloutTrace(None, **{name: value})

    assert repr(value) in str(raised.value)


def test_bad_arguments_leave_nothing_behind(file: Path) -> None:
    """A recorder that could not be made has no thread and no file."""
    threads = threading.active_count()
    with pytest.raises(ValueError, match="queue_rows"):
        RolloutTrace(file, queue_rows=0)

    assert (False, threads) == (file.exists(), threading.active_count())


def test_enabled(file: Path) -> None:
    """A recorder is enabled from its making until it is closed."""
    trace = RolloutTrace(file)
    before = trace.enabled
    trace.close()

    assert (True, False) == (before, trace.enabled)


def test_emit_after_close(file: Path) -> None:
    """Events after ``close`` are refused and counted; the file does not change."""
    trace = RolloutTrace(file)
    trace.emit("mine")
    trace.close()
    before = file.read_bytes()
    use(trace)

    assert (before, 4) == (file.read_bytes(), trace.stats().refused)
    assert 1 == len(event_rows(file))


def test_close_twice(file: Path) -> None:
    """Closing again succeeds, and writes no second end."""
    trace = RolloutTrace(file)
    assert (True, True) == (trace.close("first"), trace.close("second"))
    before = file.read_bytes()
    with trace:
        pass

    assert (before, 1) == (file.read_bytes(), before.count(b'"run_ended"'))


def test_flush_after_close(file: Path) -> None:
    """Everything was written by ``close``, so there is nothing that a flush could miss."""
    trace = RolloutTrace(file)
    trace.emit("mine")
    trace.close()

    assert (True, True, 0) == (trace.flush(), trace.flush(0.1), trace.stats().queued)
