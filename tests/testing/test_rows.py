"""Rows as they would stand in the file: valid, numbered, in order, and the same for the same seed."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.reading.reader import EventReader
from rtrace_otel.analysis.summary import summarise
from rtrace_otel.events import EVENTS_BY_NAME
from rtrace_otel.testing.rows import Ids, RowWriter
from rtrace_otel.testing.settings import SimulationSettings
from rtrace_otel.testing.simulate import simulate
from rtrace_otel.testing.varied import varied_settings
from rtrace_otel.validation import validate_row

SEEDS = st.integers(0, 100_000)


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_every_row_follows_the_vocabulary(seed: int) -> None:
    """No problem in any row, no event or field beside the vocabulary, and all counts of the summary add up."""
    rows = simulate(varied_settings(seed)).rows
    known = {name: {field.name for field in event.fields} for name, event in EVENTS_BY_NAME.items()}

    assert [] == [problem for row in rows for problem in validate_row(row)]
    assert set() == {(row["event"], name) for row in rows for name in list(row)[4:] if name not in known[row["event"]]}
    assert {("event", "t", "run", "seq")} == {tuple(row)[:4] for row in rows}
    summarise(rows).self_check()


@settings(max_examples=40, deadline=None)
@given(SEEDS)
def test_numbers_have_no_gap_and_time_never_decreases(seed: int) -> None:
    """Per run, from 0; the runs come in their order and time goes on from one to the next."""
    simulation = simulate(varied_settings(seed))
    numbers: dict[str, list[int]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    for row in simulation.rows:
        numbers[row["run"]].append(row["seq"])
        times[row["run"]].append(row["t"])

    assert simulation.truth.runs == tuple(numbers)
    for own in numbers.values():
        assert list(range(len(own))) == own
    for moments in times.values():
        assert sorted(moments) == moments
    in_order = [t for run in simulation.truth.runs for t in times[run]]
    assert sorted(in_order) == in_order


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_the_same_seed_gives_the_same_job(seed: int) -> None:
    """Rows and truth, and also the rows that are simulated one by one."""
    one, other = simulate(varied_settings(seed)), simulate(varied_settings(seed))

    assert one.rows == other.rows
    assert one.truth == other.truth
    assert one.rows == list(one.iter_rows())


def test_another_seed_gives_another_job() -> None:
    """Other ids, other times, other prompts' lengths."""
    one, other = (simulate(SimulationSettings(seed=seed)) for seed in (0, 1))

    assert set() == set(one.truth.runs) & set(other.truth.runs)
    assert set() == {a.attempt_id for a in one.truth.attempts} & {a.attempt_id for a in other.truth.attempts}
    assert one.truth.steps[0].tokens != other.truth.steps[0].tokens


def test_a_file_of_the_rows_reads_back_the_same(tmp_path: Path) -> None:
    """Written as JSON lines and read, they are equal, keys of counts included."""
    rows = simulate(SimulationSettings(stops=2)).rows
    path = tmp_path / "rollout_trace.jsonl"
    path.write_text("".join(json.dumps(row, allow_nan=False) + "\n" for row in rows), encoding="utf-8")
    reader = EventReader(path)

    assert rows == list(reader)


def test_call_ids_name_their_attempt_and_turn() -> None:
    """``<attempt_id>:<turn>``, of attempts that exist, each with its turns in order."""
    simulation = simulate(SimulationSettings(stops=0, calls=3))
    attempts = {attempt.attempt_id for attempt in simulation.truth.attempts}
    turns: dict[str, list[int]] = defaultdict(list)
    for row in simulation.rows:
        for call_id, _, _ in row.get("call_versions", ()):
            attempt_id, _, turn = call_id.partition(":")
            turns[attempt_id].append(int(turn))

    assert turns.keys() <= attempts
    assert {(0,), (0, 1), (0, 1, 2)} == set(map(tuple, turns.values()))


@pytest.mark.parametrize("seed", [0, 1, -5])
def test_no_id_comes_twice(seed: int) -> None:
    """Ten thousand ids of twelve hexadecimal digits."""
    ids = Ids(seed)
    made = [ids.new() for _ in range(10_000)]

    assert 10_000 == len(set(made))
    assert {12} == set(map(len, made))
    assert set("".join(made)) <= set("0123456789abcdef")


def test_a_writer_numbers_its_rows() -> None:
    """Taken rows are gone, and numbers go on."""
    writer = RowWriter("a")
    writer.write("run_ended", 1.5, reason="closed")
    assert [{"event": "run_ended", "t": 1.5, "run": "a", "seq": 0, "reason": "closed"}] == writer.take()
    writer.write("run_ended", 2.5, reason="closed")

    assert [1] == [row["seq"] for row in writer.take()]
    assert ([], 2) == (writer.take(), writer.count)
