"""A queue that is full: the newest rows are dropped, counted, and their number is written down."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rtrace_otel.events import Row
from rtrace_otel.record.trace import RolloutTrace
from tests.record.hold import HeldClock
from tests.record.written import all_rows

LIMIT = 100


@pytest.fixture
def clock() -> HeldClock:
    """Holds the worker before its first row."""
    return HeldClock()


@pytest.fixture
def held(file: Path, clock: HeldClock) -> RolloutTrace:
    """A recorder for a hundred rows whose worker stands still."""
    trace = RolloutTrace(file, clock=lambda: clock, queue_rows=LIMIT)
    clock.wait_until_held()
    return trace


def outline(rows: list[Row]) -> list[object]:
    """The test's own rows by their number, a gap by what it lost."""
    return [(row["lost"], row["reason"]) if row["event"] == "trace_gap" else row.get("n", row["event"]) for row in rows]


def test_default_bound() -> None:
    """By default a million rows are held."""
    trace = RolloutTrace(None)

    assert 1_000_000 == trace._queue_rows


def test_exactly_full_loses_nothing(file: Path, clock: HeldClock, held: RolloutTrace) -> None:
    """As many rows as the queue holds are all written, and no gap is claimed."""
    for n in range(LIMIT):
        held.emit("mine", n=n)
    clock.release()

    assert held.close()
    assert ["run_started", *range(LIMIT), "run_ended"] == outline(all_rows(file))


@pytest.mark.parametrize("lost", [1, 7, 5000])
def test_newest_are_dropped_and_counted(file: Path, clock: HeldClock, held: RolloutTrace, lost: int) -> None:
    """The oldest rows are kept, and one gap row after them says exactly how many are missing and why."""
    for n in range(LIMIT + lost):
        held.emit("mine", n=n)
    clock.release()

    assert held.close()
    rows = all_rows(file)
    assert ["run_started", *range(LIMIT), (lost, "queue full"), "run_ended"] == outline(rows)
    assert list(range(LIMIT + 3)) == [row["seq"] for row in rows]
    assert (LIMIT + 3, lost) == (held.stats().written, held.stats().lost)


def test_stats_of_a_full_queue(clock: HeldClock, held: RolloutTrace) -> None:
    """While the queue is full, exactly the rows in it wait and exactly the others are lost."""
    for n in range(LIMIT + 7):
        held.emit("mine", n=n)
    stats = held.stats()
    clock.release()
    held.close()

    assert (0, LIMIT, 7) == (stats.written, stats.queued, stats.lost)


def test_gap_says_since_when(file: Path, clock: HeldClock, held: RolloutTrace) -> None:
    """The gap row is dated between its neighbours, and ``since`` is when the first row was lost."""
    for n in range(LIMIT + 5):
        held.emit("mine", n=n)
    clock.release()
    held.close()

    *_, last, gap, end = all_rows(file)
    assert "trace_gap" == gap["event"]
    assert last["t"] <= gap["since"] <= gap["t"] <= end["t"]


def test_typed_methods_are_bounded_too(file: Path, clock: HeldClock, held: RolloutTrace) -> None:
    """The typed methods and ``emit`` share one bound and one count."""
    for n in range(LIMIT):
        held.attempt_sealed("a", extra={"n": n})
        held.emit("mine", n=-1)
    clock.release()
    held.close()

    half = [n for pair in zip(range(LIMIT // 2), [-1] * LIMIT, strict=False) for n in pair]
    assert ["run_started", *half, (LIMIT, "queue full"), "run_ended"] == outline(all_rows(file))


def test_rows_after_the_gap(file: Path, clock: HeldClock, held: RolloutTrace) -> None:
    """The gap row stands where the rows are missing: after those before it, before those after it."""
    for n in range(LIMIT + 5):
        held.emit("mine", n=n)
    clock.release()
    held.flush()
    for n in range(1000, 1003):
        held.emit("mine", n=n)

    assert held.close()
    expected = ["run_started", *range(LIMIT), (5, "queue full"), 1000, 1001, 1002, "run_ended"]
    assert expected == outline(all_rows(file))


def test_several_threads_lose_exactly_what_is_missing(file: Path, clock: HeldClock, held: RolloutTrace) -> None:
    """Rows kept plus rows counted as lost are the rows emitted, with eight threads on a full queue."""
    each = 3000

    def emit(name: int) -> None:
        for n in range(each):
            held.emit("mine", name=name, n=n)

    threads = [threading.Thread(target=emit, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.release()
    held.close()

    rows = all_rows(file)
    kept = [row for row in rows if row["event"] == "mine"]
    assert LIMIT <= len(kept) <= LIMIT + 8  # a thread may be between its look at the queue and its append
    assert 8 * each - len(kept) == sum(row["lost"] for row in rows if row["event"] == "trace_gap")
    assert list(range(len(rows))) == [row["seq"] for row in rows]


def test_queue_that_overflows_again_and_again(file: Path) -> None:
    """With a worker that drains while four threads overflow the queue, every row is kept or counted, in order."""
    each = 10_000
    with RolloutTrace(file, queue_rows=10) as trace:

        def emit(name: int) -> None:
            for n in range(each):
                trace.emit("mine", name=name, n=n)

        threads = [threading.Thread(target=emit, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    rows = all_rows(file)
    gaps = [row["lost"] for row in rows if row["event"] == "trace_gap"]
    assert 4 * each == sum(row["event"] == "mine" for row in rows) + sum(gaps)
    assert all(lost > 0 for lost in gaps)
    assert list(range(len(rows))) == [row["seq"] for row in rows]
    for name in range(4):
        numbers = [row["n"] for row in rows if row.get("name") == name]
        assert sorted(set(numbers)) == numbers


def test_gap_at_the_position_of_each_loss(file: Path, clock: HeldClock, held: RolloutTrace) -> None:
    """Two overflows give two gap rows, each at its place and each with its own count."""
    for n in range(LIMIT + 5):
        held.emit("mine", n=n)
    clock.release()
    held.flush()
    clock.hold()
    held.emit("mine", n=1000)
    clock.wait_until_held()  # this row has left the queue
    for n in range(2000, 2000 + LIMIT + 3):
        held.emit("mine", n=n)
    clock.release()
    held.close()

    expected = [*range(LIMIT), (5, "queue full"), 1000, *range(2000, 2000 + LIMIT), (3, "queue full")]
    assert ["run_started", *expected, "run_ended"] == outline(all_rows(file))
