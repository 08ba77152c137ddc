"""Frames of ``rtrace watch``: exact texts, and every size."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.damage import Damage, DamageKind, SeqGap, Tally
from rtrace_otel.analysis.reading.tail import TailState
from rtrace_otel.analysis.watch.watching import snapshot_of
from rtrace_otel.events import Row
from rtrace_otel.report.cells import cells
from rtrace_otel.report.document import Table
from rtrace_otel.report.formats import to_markdown
from rtrace_otel.report.watch import Screen, frame
from rtrace_otel.report.watch_document import watch_document
from rtrace_otel.report.watch_words import warnings
from tests.analysis.test_watching import JOB, NOW
from tests.report.history import dispatched, ended, event, started, trace, trained
from tests.report.hostile import HOSTILE, hostile_trace

FOUND = TailState(
    path="logs/rollout_trace.jsonl",
    problem=None,
    missing=False,
    ever_read=True,
    bytes_read=0,
    bytes_behind=0,
    torn_bytes=0,
    begun_anew=0,
)
INTACT = Tally("logs/rollout_trace.jsonl").report()
STEPS = [
    {**trained("b", step, 5, "f", logged=logged), "t": 1018.0, "seq": 5 + step}
    for step, logged in ((2, None), (3, 0.5))
]


def shown(rows: list[Row], screen: Screen, state: TailState = FOUND, now: float = NOW) -> list[str]:
    return [line.text for line in frame(snapshot_of(rows, now), INTACT, state, screen)]


WIDE = """\
logs/rollout_trace.jsonl   1970-01-01 00:17:03 UTC
rows       20, 0.9/s, last row 5.0 s ago
! run a was killed; its last row is 11.0 s old
attempts   2 open, 1 sealed, 2 interrupted
groups     0 ready to train, 1 unfinished, 2 trained, 2 brought back, 1 interrupted
per second 0.2 dispatched, 0.0 sealed, 52.2 tokens trained, over 23 s
batch age  1.000 in step 3  \u2588\u2588

run  since     end         restored from  steps   rows  host
b    00:16:53  no end yet  ckpt-1         2 to 3     7  node1
a    00:16:40  killed                               13  node1

open longest    for  prompt  state    since     group
z             8.0 s  17      running  00:16:55  g
v             7.0 s  -       running  00:16:56

latest                       ago    took                         run
restore     ckpt-1         9.0 s   2.0 s  2 groups brought back  b
checkpoint  ckpt-1        11.0 s  500 ms  2 groups               a
refit       to version 5  12.0 s   1.0 s  2 calls cut            a
q quits
"""


def test_a_frame_with_room_for_everything() -> None:
    """Both steps train f, 600 tokens of version 4, at version 5: age 1; 1,200 tokens in 23 s are 52.2 per second."""
    assert WIDE.splitlines() == shown([*JOB, *STEPS], Screen(110, None, keys=True))


def test_the_smallest_screen() -> None:
    """Forty columns and ten lines: one is left, and a list needs two."""
    expected = """\
rollout_trace.jsonl
rows       18, 0.8/s, last row 6.0 s ago
! run a was killed; its last row is 11.\u2026
attempts   2 open, 1 sealed
groups     1 ready to train, 0 trained
per second 0.0 tokens trained
batch age  no step trained yet
under way  training step 2 for 6.0 s
q quits
"""

    assert expected.splitlines() == shown(JOB, Screen(40, 10, keys=True))


def test_no_blocks_on_a_terminal_that_cannot_show_them() -> None:
    """The last value stays."""
    assert "batch age  1.000 in step 3" in shown([*JOB, *STEPS], Screen(80, 24, blocks=False))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (replace(FOUND, missing=True, ever_read=False, path="logs"), "waiting for logs: no such file yet"),
        (FOUND, "no rollout event in this file yet"),
    ],
)
def test_what_it_waits_for(state: TailState, expected: str) -> None:
    """Before the first row."""
    assert [expected, "q quits"] == shown([], Screen(80, 24, keys=True), state)[1:]


def test_a_large_file_says_how_much_is_still_to_read() -> None:
    """In megabytes."""
    state = replace(FOUND, bytes_behind=3_400_000)

    assert "rows       18, 0.8/s, last row 6.0 s ago, 3 MB still to read" in shown(JOB, Screen(80, 24), state)


@given(st.sampled_from(sorted(HOSTILE)), st.integers(1, 200), st.integers(0, 60))
def test_a_frame_never_leaves_the_screen(what: str, width: int, height: int) -> None:
    """Whatever stands in the file: no line is wider, there are not more of them, and none has a control character."""
    text = HOSTILE[what]
    rows = [*hostile_trace(text), *trace(dispatched(text, text, text), event(text, "train_step_started", step=10**30))]
    found = shown(rows, Screen(width, height, keys=True), replace(FOUND, path=text))

    assert len(found) <= height
    assert [] == [line for line in found if cells(line) > width or not line.isprintable()]


RUN = trace(started("a"), dispatched("a", "x"))  # t = 1000 and 1001


@pytest.mark.parametrize(
    ("rows", "now", "state", "expected"),
    [
        (RUN, 1061.0, FOUND, []),
        (RUN, 1062.0, FOUND, ["no row for 1 min 1 s: the job is stuck, stopped, or has nothing to say"]),
        ([*RUN, {**ended("a"), "t": 1001.0, "seq": 2}], 1062.0, FOUND, []),
        (RUN, 900.0, FOUND, ["the latest row is 1 min 41 s ahead of the clock of this machine"]),
        (RUN, 1003.0, replace(FOUND, torn_bytes=9), []),
        (RUN, 1010.0, replace(FOUND, torn_bytes=9), ["the last line has no end yet (9 bytes)"]),
        (RUN, 1003.0, replace(FOUND, missing=True), ["the file is gone; waiting for it to come back"]),
        (RUN, 1003.0, replace(FOUND, problem="Stale file handle\x1b"), [
            "the file cannot be read now: Stale file handle\\x1b; trying again",
        ]),
        (RUN, 1003.0, replace(FOUND, begun_anew=1), [
            "the file was replaced or cut short, and read from its begin again"
        ]),
        (RUN, 1003.0, replace(FOUND, begun_anew=2), [
            "the file was replaced or cut short, and read from its begin again (2 times)"
        ]),
        (trace(started("a"), started("b"), started("c")), 1003.0, FOUND, [
            "run b was killed, as 1 run before it; its last row is 2.0 s old"
        ]),
        (trace(event("a", "trace_gap", lost=1_200), event("a", "clock_adjusted")), 1003.0, FOUND, [
            "1,200 rows lost before they could be written (trace_gap)",
            "clock of a host stepped; durations across it are not exact",
        ]),
    ],
)  # fmt: skip
def test_warnings(rows: list[Row], now: float, state: TailState, expected: list[str]) -> None:
    """Each says what happened, and only when it did."""
    assert expected == warnings(snapshot_of(rows, now), INTACT, state)


def test_damage_is_a_warning() -> None:
    """In the words of the other commands."""
    tally = Tally("f", runs={"a": 2}, gaps=[SeqGap("a", 2, 1, 3)], gap_count=1, rows_missing=3)
    tally.add_damage(Damage(1, DamageKind.TORN_ROW, "x", 0))

    assert [
        "1 x torn row (line 1: x)",
        "3 rows missing by sequence number, in 1 place (first: run a, before line 2: 3 rows from number 1)",
    ] == warnings(snapshot_of(RUN, 1002.0), tally.report(), FOUND)


def test_a_document_has_the_open_attempts_and_raw_numbers() -> None:
    """At 1023 s: z has been open since 1015 s, which is 8 s, and v since 1016 s."""
    found = watch_document(snapshot_of(JOB, NOW), INTACT, FOUND)
    numbers, _, slowest, _ = (block for block in found.blocks if isinstance(block, Table))
    values = {record["name"]: record["value"] for record in numbers.records}

    assert "logs/rollout_trace.jsonl at 1970-01-01 00:17:03 UTC" == found.title
    assert (2, 1, 2) == tuple(values[f"attempts {outcome}"] for outcome in ("running", "sealed", "interrupted"))
    assert [("z", 8.0), ("v", 7.0)] == [(record["attempt_id"], record["for_s"]) for record in slowest.records]
    assert numbers == found.main_table


@pytest.mark.parametrize("name", HOSTILE)
def test_a_document_of_a_hostile_trace_is_readable(name: str) -> None:
    """No letter that steers a terminal or ends a row of a table."""
    rows = hostile_trace(HOSTILE[name])
    text = to_markdown(watch_document(snapshot_of(rows, NOW), INTACT, FOUND))

    assert all(line.isprintable() for line in text.split("\n"))
