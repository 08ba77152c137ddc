"""Whole numbers in OTLP lines: which texts hold one, and that all ways to read agree on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Raw

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.spans.otlp_json import as_int
from rtrace_otel.spans.otlp_values import int_in
from tests.analysis.reading.test_reader_otlp import WANTED, check, history, otlp, written
from tests.analysis.reading.test_reader_otlp_usual import events_named

WHOLE: list[tuple[Any, int]] = [
    (7, 7), ("7", 7), ("-7", -7), ("0", 0), ("-0", 0), (7.0, 7), ("7.0", 7), ("7e1", 70), ("70E-1", 7),
    ("9" * 30, 10**30 - 1),
]  # fmt: skip
NONE: list[Any] = [
    "1_0", " 1", "1 ", "+1", "01", "-01", "", "-", "1.", ".5", "1.5", 1.5, "0x10", "1e400", "1" * 5000, "x", "\u0661",
    "\ud800", "nan", "Infinity", True, None, [], {}, float("nan"), float("inf"),
]  # fmt: skip
ODD = st.one_of(
    st.text("0123456789+-_. eE", max_size=5),
    st.sampled_from([value for value, _ in WHOLE]),
    st.sampled_from([value for value in NONE if value not in ("\ud800", float("inf")) and value == value]),
)


@pytest.mark.parametrize(("value", "number"), WHOLE)
def test_whole_numbers(value: Any, number: int) -> None:
    """Numbers and texts as JSON writes numbers, in any notation of a whole number."""
    assert number == as_int(value)
    assert number == int_in(Raw(json.dumps(value).encode()))


@pytest.mark.parametrize("value", NONE, ids=range(len(NONE)))
def test_what_is_no_whole_number(value: Any) -> None:
    """Signs, zeros, spaces and underscores that only Python would take, fractions, and other types: 0."""
    assert 0 == as_int(value)
    assert 0 == int_in(Raw(json.dumps(value).encode()))


@given(ODD)
def test_a_number_is_the_same_in_bytes(value: Any) -> None:
    """From its bytes as from what a JSON decoder makes of them."""
    assert as_int(value) == int_in(Raw(json.dumps(value).encode()))


@pytest.mark.parametrize(("text", "seq", "version"), [("1_0", 0, 0), (" 9", 0, 0), ("+9", 0, 0), ("9e1", 90, 90)])
def test_a_publication_with_such_numbers(text: str, seq: int, version: int, tmp_path: Path) -> None:
    """What Python alone takes for a number is none, whichever way a line is read."""
    documents = otlp(history(), 99)[:1] + otlp(history("b"), 4)
    publication = events_named(documents, "group_published")[-1]
    publication["attributes"] = [
        {"key": "rtrace.seq", "value": {"intValue": text}},
        {"key": "rtrace.tokens_by_version.versions", "value": {"arrayValue": {"values": [{"intValue": text}]}}},
        {"key": "rtrace.tokens_by_version.tokens", "value": {"arrayValue": {"values": [{"intValue": "5"}]}}},
    ]
    path = tmp_path / "t.jsonl"
    path.write_bytes(written(documents))
    expected = (seq, {version: 5})

    for rows in (read_events(path), read_events(path).only(WANTED), read_events(path, one_pass=True).only(WANTED)):
        published = [row for row in rows if row["event"] == "group_published"]
        assert expected == (published[-1]["seq"], published[-1]["tokens_by_version"])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(["seq", "versions", "tokens", "time"]), st.integers(0, 99), ODD), min_size=1))
def test_odd_numbers_change_nothing(tmp_path: Path, changes: list[tuple[str, int, Any]]) -> None:
    """Wherever a whole number is expected: the same rows, ages and report as a full reading."""
    documents = otlp(history(), 4)
    events = [*events_named(documents, "group_published"), *events_named(documents, "attempt_dispatched")]
    for what, place, value in changes:
        event = events[place % len(events)]
        if what == "time":
            event["timeUnixNano"] = value
        for entry in event["attributes"]:
            if entry["key"] == f"rtrace.tokens_by_version.{what}":
                entry["value"]["arrayValue"]["values"][0]["intValue"] = value
            elif entry["key"] == "rtrace.seq" and what == "seq":
                entry["value"]["intValue"] = value
    check(written(documents), tmp_path / "t.jsonl", (*WANTED, "attempt_dispatched"))
    check(written(documents), tmp_path / "t.jsonl")
