"""Shape of a row: its keys and their order, its numbers, and names that clash with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rtrace_otel.record.trace import RolloutTrace
from tests.record.written import all_rows, event_rows, recorded


def test_key_order(file: Path) -> None:
    """``event`` is the first key, then ``t``, ``run``, ``seq``, then the fields in the order given."""
    with RolloutTrace(file) as trace:
        trace.emit("mine", z=1, a=[1], m="x")
        trace.train_step(3, 2, ["g"], tokens=5, extra={"z": 1, "a": None})

    mine, step = event_rows(file)
    assert ["event", "t", "run", "seq", "z", "a", "m"] == list(mine)
    assert ["event", "t", "run", "seq", "step", "trained_version", "group_ids", "tokens", "z", "a"] == list(step)


def test_types_of_the_common_keys(file: Path) -> None:
    """``t`` is a float, ``run`` a text, ``seq`` an int; all rows of a recorder bear its run id."""
    with RolloutTrace(file) as trace:
        trace.emit("mine")
        run = trace.run

    assert [(str, float, str, int)] * 3 == [
        (type(row["event"]), type(row["t"]), type(row["run"]), type(row["seq"])) for row in all_rows(file)
    ]
    assert [run] * 3 == [row["run"] for row in all_rows(file)]


def test_seq_counts_from_zero_without_gaps(file: Path) -> None:
    """Rows are numbered in the order of emission, over many chunks and both ways to emit."""
    with RolloutTrace(file) as trace:
        for n in range(1000):
            trace.emit("mine", n=n)
            trace.attempt_sealed("a", n)

    rows = all_rows(file)
    assert list(range(2002)) == [row["seq"] for row in rows]
    assert [n for n in range(1000) for _ in range(2)] == [row.get("n", row.get("tokens")) for row in rows[1:-1]]


def test_none_is_kept_by_emit(file: Path) -> None:
    """A field that is given as ``None`` is in the row as null, at its place."""
    assert [{"event": "mine", "a": None, "b": 1, "c": None}] == recorded(
        file, lambda t: t.emit("mine", a=None, b=1, c=None)
    )


def test_none_of_an_id_is_kept_by_emit(file: Path) -> None:
    """An id that is ``None`` is null, not the text None, also within a list of ids."""
    assert [{"event": "mine", "group_id": None, "group_ids": [None, "1"], "calls": [[None, 2]]}] == recorded(
        file, lambda t: t.emit("mine", group_id=None, group_ids=[None, 1], calls=[[None, 2]])
    )


def test_fields_named_like_the_common_keys(file: Path) -> None:
    """A field of the user called like a common key is kept under that name and an underscore, at its place."""

    def act(trace: RolloutTrace) -> None:
        trace.emit("mine", a=1, t="later", seq=None, b=2, run="r")
        trace.emit("mine", event="other")
        trace.attempt_sealed("a", extra={"event": "other", "t": float("nan"), "run": "r", "seq": 2, "b": 3})

    assert [
        {"event": "mine", "a": 1, "t_": "later", "seq_": None, "b": 2, "run_": "r"},
        {"event": "mine", "event_": "other"},
        {"event": "attempt_sealed", "attempt_id": "a", "event_": "other", "t_": "NaN", "run_": "r", "seq_": 2, "b": 3},
    ] == recorded(file, act)


def test_no_field_is_lost_to_the_underscore(file: Path) -> None:
    """A field that already has the name with the underscore is not overwritten."""

    def act(trace: RolloutTrace) -> None:
        trace.emit("mine", t_=1, t=2)
        trace.emit("mine", t=2, t_=1)

    assert [[1, 2], [1, 2]] == [sorted(list(row.values())[1:]) for row in recorded(file, act)]


def test_common_keys_stay_true_beside_such_fields(file: Path) -> None:
    """The row's own stamp, run and number are those of the recorder, whatever the user calls a field."""
    with RolloutTrace(file, run="r1") as trace:
        trace.emit("mine", t=-5, run="r2", seq=99)
        trace.emit("mine")

    first, second = event_rows(file)
    assert ("r1", 1, "r1", 2) == (first["run"], first["seq"], second["run"], second["seq"])
    assert 0 < first["t"] <= second["t"]


@pytest.mark.parametrize(
    ("event", "expected"), [("mine", "mine"), ("\ud800", "\ufffd"), (5, "5"), (b"mine", "mine"), (["a"], "['a']")]
)
def test_name_of_the_event_is_text(file: Path, event: Any, expected: str) -> None:
    """An event that is no text is written as one."""
    assert [{"event": expected, "a": 1}] == recorded(file, lambda t: t.emit(event, a=1))


def test_event_as_keyword(file: Path) -> None:
    """``emit(event="x")`` names the event, as other tracers' callers write it."""
    assert [{"event": "x", "a": 1}] == recorded(file, lambda t: t.emit(event="x", a=1))


def test_emit_without_anything(file: Path) -> None:
    """An event without a name is kept, under a name that is a text."""
    assert [(True, 1)] == [(isinstance(row["event"], str), len(row)) for row in recorded(file, lambda t: t.emit())]


def test_unknown_events_and_fields_are_kept(file: Path) -> None:
    """Events and fields beside the vocabulary are written like the others, whatever their names."""
    names = ["self", "path", "name", "", "a b", "é", "class", "__class__", "extra", "\x00", "{", '"']

    assert [{"event": "mine", **dict.fromkeys(names, 1)}] == recorded(
        file, lambda t: t.emit("mine", **dict.fromkeys(names, 1))
    )


@pytest.mark.parametrize("key", [1, 2.5, None, ("a", 1), b"k", True])
def test_extra_with_keys_that_are_no_text(file: Path, key: Any) -> None:
    """A key of another type becomes a text and costs neither the row nor the other fields."""
    (row,) = recorded(file, lambda t: t.attempt_sealed("a", 5, extra={key: "v", "kept": 1}))

    assert ({"event": "attempt_sealed", "attempt_id": "a", "tokens": 5, "kept": 1}, ["v"]) == (
        {name: row[name] for name in ("event", "attempt_id", "tokens", "kept")},
        [value for name, value in row.items() if name not in ("event", "attempt_id", "tokens", "kept")],
    )


def test_keys_that_become_equal(file: Path) -> None:
    """Keys that have the same text do not stand twice in an object: no decoder would agree on the value."""
    extra: dict[Any, Any] = {1: "x", "1": "y", "nested": {1: "x", "1": "y"}}
    (row,) = recorded(file, lambda t: t.attempt_sealed("a", extra=extra))

    assert (1, {"1"}) == (len(row["nested"]), set(row["nested"]))
