"""What the picture of the job over time carries is what the analysis says, in few bytes."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest

from rtrace_otel.analysis.timeline.fold import timeline
from rtrace_otel.analysis.timeline.kept import Selection
from rtrace_otel.analysis.timeline.results import Timeline
from rtrace_otel.analysis.timeline.states import State
from rtrace_otel.report.formats import finite
from rtrace_otel.report.html import timeline_data
from rtrace_otel.report.html.columns import pack, pack_json
from rtrace_otel.report.html.timeline_data import timeline_columns, timeline_json
from tests.report.hostile import HOSTILE, hostile_trace
from tests.report.html.packed import unpacked, unpacked_json
from tests.report.timed import JOB

FOUND = timeline(JOB)


def tables(found: Timeline) -> dict[str, dict[str, list[Any]]]:
    """The tables as the browser reads them."""
    return {name: unpacked(pack(columns)) for name, columns in timeline_columns(found).items()}


def test_attempts() -> None:
    """Starts of 2, 2.5, 11.5, 11.5, 32 and 33.5 s, in milliseconds since the one before; one group in each run."""
    attempts = tables(FOUND)["attempts"]

    assert [2_000, 500, 9_000, 0, 20_500, 1_500] == attempts["start_delta"]
    assert [4_000, 7_500, 5_500, 8_500, 1_000, 2_500] == attempts["length"]
    assert [0, 0, 1, 1, 2, 2] == attempts["group"]
    assert [0, 1, 0, 1, 0, 0] == attempts["lane"]
    assert ["trained", "trained", "kept", "interrupted", "abandoned", "open"] == [
        timeline_json(FOUND)["states"][int(place)] for place in attempts["state"]
    ]
    assert ["x", "y", "u", "v", "w", "z"] == attempts["id"]
    assert [100, 60, 30, 7, None, 11] == attempts["tokens"]
    assert [5, 5, None, None, None, None] == attempts["step"]
    assert [0.5, None, None, None, None, None] == attempts["reward"]
    assert [None, None, None, None, "server error", None] == attempts["reason"]


def test_groups() -> None:
    """Group h is there for each run that worked on it."""
    groups = tables(FOUND)["attempt_groups"]

    assert (["a", "a", "b"], ["g", "h", "h"]) == (groups["run"], groups["id"])
    assert ["17", "17", "17"] == groups["prompt"]
    assert [1.0, 11.0, 31.0] == groups["reserved"]
    assert [10.5, None, None] == groups["published"]


def test_counts_and_bands() -> None:
    """As the analysis gives them."""
    found = unpacked_json(pack_json(finite(timeline_json(FOUND))))

    names = ("attempts_total", "attempts_matching", "attempts_shown", "attempts_untimed", "lanes")
    assert [6, 6, 6, 0, 2] == [found[name] for name in names]
    assert {name: len(getattr(FOUND.bands, name)) for name in FOUND.bands.__slots__} == {
        name: len(bands) for name, bands in found["bands"].items()
    }
    (restore,) = found["bands"]["restores"]
    assert ("b", 31.0, 31.0, "ckpt-5", 5, "a", 1) == tuple(restore.values())
    assert found["ids_cut"] is None


def test_a_page_with_many_attempts_leaves_ids_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of trained attempts go, those of groups are cut to their heads, and times are hundredths of seconds."""
    monkeypatch.setattr(timeline_data, "MANY", 5)
    monkeypatch.setattr(timeline_data, "HEAD", 3)
    found = replace(FOUND, tables=replace(FOUND.tables, groups=("group-of-a", "h")))
    rows = tables(found)

    assert [None, None, "u", "v", "w", "z"] == rows["attempts"]["id"]
    assert ["gro", "h", "h"] == rows["attempt_groups"]["id"]
    assert (0.01, 3) == (timeline_json(found)["unit"], timeline_json(found)["ids_cut"])
    assert [2.0, 2.5, 11.5, 11.5, 32.0, 33.5] == [0.01 * units for units in accumulate(rows["attempts"]["start_delta"])]


def test_bars_of_a_lane_do_not_overlap_after_rounding() -> None:
    """Ends and starts are rounded alike."""
    rows = [row | {"t": row["t"] / 7_000} for row in JOB]
    attempts = tables(timeline(rows))["attempts"]
    until: dict[int, int] = {}
    for start, length, lane in zip(
        accumulate(attempts["start_delta"]), attempts["length"], attempts["lane"], strict=True
    ):
        assert until.get(lane, start) <= start
        until[lane] = start + length


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_texts_can_be_shown(text: str) -> None:
    """Control characters are escaped, in columns and in bands."""
    found = timeline(hostile_trace(text))
    shown = [value for table in tables(found).values() for column in table.values() for value in column]
    shown += [value for bands in timeline_json(found)["bands"].values() for band in bands for value in band.values()]

    assert all(value.isprintable() for value in shown if isinstance(value, str))
    assert any(isinstance(value, str) for value in shown)


def test_nothing_to_show() -> None:
    """A file without rows, and a selection without attempts."""
    for found in (timeline([]), timeline(JOB, Selection(run="nosuch"))):
        assert [] == tables(found)["attempts"]["start_delta"]
        assert 0 == unpacked_json(pack_json(finite(timeline_json(found))))["attempts_shown"]
    assert State.TRAINED is FOUND.state(0)
