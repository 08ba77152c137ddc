"""A page in pieces holds what the whole page holds, and a piece whose rows stay is the same text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rtrace_otel.events import Row
from rtrace_otel.report.html.columns import numbers, texts
from rtrace_otel.report.html.live import LiveReport, Told
from rtrace_otel.report.html.pieces import ITEMS, ROWS, document_pieces, table_pieces
from rtrace_otel.testing import SimulationSettings, simulate
from tests.report.html.packed import put_together, unpacked
from tests.report.test_live import Clock, read_at_once, values

_LEAF = st.none() | st.integers(0, 9) | st.text("ab#", max_size=3)
_LONG = st.integers(0, 3 * ITEMS).map(lambda count: list(range(count)))
_JSON = st.recursive(
    _LEAF | _LONG,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab#", max_size=3), inner, max_size=3),
)
_NONE = {"attempts": 1, "attempt_groups": 1}


@given(st.dictionaries(st.sampled_from(["results", "texts", "tiles", "#"]), _JSON))
def test_a_document_comes_back(document: dict[str, Any]) -> None:
    """Whatever its values and names are: what was cut out is told apart from what looks like it."""
    rest, pieces = document_pieces(document)
    tables = dict(table_pieces({"attempts": {"group": numbers([])}, "attempt_groups": {"id": texts([])}}))

    found, _ = put_together({"pieces": _NONE}, json.loads(json.dumps(rest)), {**tables, **pieces})

    assert document == found


def test_long_lists_are_cut_and_short_ones_are_not() -> None:
    """A list of 250 has three pieces; one of a hundred stays, but a long section is a piece of its own."""
    document = {"a": list(range(250)), "b": [0] * ITEMS, "texts": {"x": ["y" * 2000], "z": ["y"]}}

    rest, pieces = document_pieces(document)

    assert {"a": None, "b": [0] * 100, "texts": {"x": None, "z": ["y"]}} == rest["value"]
    assert [(["a"], 3), (["texts", "x"], None)] == rest["cuts"]
    assert ['document["a"]#0', 'document["a"]#1', 'document["a"]#2', 'document["texts","x"]'] == list(pieces)


def test_what_is_added_to_a_list_leaves_its_first_pieces_as_they_are() -> None:
    """The 151st item is in the second piece."""
    before, after = (document_pieces({"a": list(range(count))})[1] for count in (150, 151))

    assert [True, False] == [before[name] == after[name] for name in before]


@pytest.mark.parametrize(("rows", "expected"), [(0, [0]), (1, [1]), (ROWS, [500]), (2 * ROWS + 1, [500, 500, 1])])
def test_a_table_is_cut_into_rows(rows: int, expected: list[int]) -> None:
    """One without rows has a piece too: it tells the columns."""
    table = {"x": numbers(list(range(rows))), "y": texts([str(row) for row in range(rows)])}

    pieces = [unpacked(text) for _, text in table_pieces({"t": table})]

    assert expected == [len(piece["x"]) for piece in pieces]
    assert list(range(rows)) == [value for piece in pieces for value in piece["x"]]
    assert [str(row) for row in range(rows)] == [value for piece in pieces for value in piece["y"]]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that a short job has many."""
    monkeypatch.setattr("rtrace_otel.report.html.attempt_pieces.ATTEMPTS", 25)
    monkeypatch.setattr("rtrace_otel.report.html.pieces.ROWS", 10)
    monkeypatch.setattr("rtrace_otel.report.html.pieces.ITEMS", 5)


def _followed(path: Path, rows: list[Row], each: int) -> Iterator[tuple[Told, int]]:
    """What is told of a job after each stretch of rows, and the bytes that a page is sent then."""
    clock = Clock()
    report = LiveReport(str(path), clock, cost=lambda: 0.0)
    for begin in range(0, len(rows), each):
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows[begin : begin + each])
        clock.now += 1000
        before = report.told
        report.look()
        report.update()
        yield report.told, len(report.told.since(before.epoch, before.version))


@pytest.mark.usefixtures("small_pieces")
def test_a_job_that_is_killed_twice_is_told_as_if_read_at_once(tmp_path: Path) -> None:
    """After every 400 rows, over stops and restores, where what became of older attempts is known only later."""
    path = tmp_path / "rollout_trace.jsonl"
    rows = list(simulate(SimulationSettings(steps=24, stops=2)).rows)
    pieces = 0
    for told, _ in _followed(path, rows, 400):
        assert read_at_once(path) == values(told)
        pieces = max(pieces, json.loads(told.parts["head"][1])["pieces"]["attempts"])
    assert pieces > 10


@pytest.mark.usefixtures("small_pieces")
def test_an_update_is_as_large_as_what_is_new(tmp_path: Path) -> None:
    """The same number of rows further into the job: the page is half as large again, an update is hardly larger."""
    rows = list(simulate(SimulationSettings(steps=120, stops=0, generations=4)).rows)
    sizes, wholes = [], []
    for told, size in _followed(tmp_path / "rollout_trace.jsonl", rows, len(rows) // 30):
        sizes.append(size)
        wholes.append(len(told.since("another", 0)))

    assert wholes[25] > 1.5 * wholes[9]
    assert sum(sizes[20:26]) < 1.3 * sum(sizes[4:10])
