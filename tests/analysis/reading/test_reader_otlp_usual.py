"""OTLP lines in the usual form, and lines that are nearly in it: the same rows, ages and report as a full reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from rtrace_otel.analysis.reading import decoding, parallel
from rtrace_otel.analysis.reading.decoding import LineDecoder
from rtrace_otel.analysis.reading.narrow import Narrow
from rtrace_otel.analysis.reading.picking import Picker
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from rtrace_otel.spans import otlp_glance
from rtrace_otel.spans.otlp_found import Glance
from rtrace_otel.spans.otlp_lines import spans_in
from rtrace_otel.spans.otlp_usual import MAX_RUNS, Usual
from rtrace_otel.spans.unproject import CarriedSpan
from tests.analysis.reading.test_reader_otlp import FOREIGN, WANTED, check, history, otlp, written
from tests.analysis.rows import lines, row
from tests.spans.rows import History


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """How many lines were tried as usual ones, by whether they were such."""
    seen: Counter[bool] = Counter()
    glance = Usual.glance

    def counted(self: Usual, line: bytes, *, counted: bool) -> Glance | None:
        found = glance(self, line, counted=counted)
        seen[found is not None] += 1
        return found

    monkeypatch.setattr(Usual, "glance", counted)
    return seen


def all_spans(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The spans of documents."""
    return [
        span
        for document in documents
        for of_resource in document["resourceSpans"]
        for scope in of_resource["scopeSpans"]
        for span in scope["spans"]
    ]


def events_named(documents: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The events of this name."""
    return [event for span in all_spans(documents) for event in span["events"] if event["name"] == name]


def as_a_collector(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents as the official collector writes them: other order of keys, and nothing that is empty."""
    order = ("traceId", "spanId", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano")
    for document in documents:
        for of_resource in document["resourceSpans"]:
            for scope in of_resource["scopeSpans"]:
                scope["spans"] = [
                    {key: span[key] for key in (*order, "attributes", "events", "links", "status") if span.get(key)}
                    for span in scope["spans"]
                ]
    return documents


@pytest.mark.parametrize("collector", [False, True])
@pytest.mark.parametrize("one_pass", [False, True])
def test_lines_as_they_are_written_are_usual(
    collector: bool, one_pass: bool, looks: Counter[bool], tmp_path: Path
) -> None:
    """Every line behind that which introduces the run: from us, and from the official collector."""
    for each in (rows := history()):
        if each["event"] == "attempt_sealed":  # versions of an attempt are none of the usual form for a report
            each.pop("tokens_by_version")
    documents = otlp(rows, 2)
    data = written(as_a_collector(documents) if collector else documents)
    (tmp_path / "t.jsonl").write_bytes(data)
    list(read_events(tmp_path / "t.jsonl", one_pass=one_pass).only(WANTED))

    assert {True: len(documents) - 1} == looks
    check(data, tmp_path / "t.jsonl")


def _with_own_events() -> list[Row]:
    made = History("a")
    for step in range(6):
        made.dispatch(f"a{step}", f"g{step}")
        made.add("turn", attempt_id=f"a{step}", tokens=3)
        made.seal(f"a{step}", tokens=5)
        made.add("reviewed", group_id=f"g{step}")
        made.add("group_published", group_id=f"g{step}", tokens_by_version={1: 3})
        made.train(step, f"g{step}")
    return made.rows


def test_events_of_other_names_are_learnt(looks: Counter[bool], tmp_path: Path) -> None:
    """A job may emit events of its own: the two lines that have such a name first are read in another way.

    The first of them is tried twice: its publications could have been what is unusual.
    """
    data = written(otlp(_with_own_events(), 1))
    (tmp_path / "t.jsonl").write_bytes(data)
    list(read_events(tmp_path / "t.jsonl").only(WANTED))

    assert 3 == looks[False]
    assert looks[True] == len(data.splitlines()) - 1 - 2
    check(data, tmp_path / "t.jsonl", (*WANTED, "turn", "reviewed"))


def test_publications_of_another_form(looks: Counter[bool], tmp_path: Path) -> None:
    """A job may publish more than versions: after the first such line, the form of its publications is usual too."""
    documents = otlp(history(), 1)
    published = events_named(documents, "group_published")
    for event in published:
        event["attributes"].append({"key": "rtrace.reward", "value": {"doubleValue": 0.5}})
    data = written(documents)
    (tmp_path / "t.jsonl").write_bytes(data)
    rows = list(read_events(tmp_path / "t.jsonl").only(WANTED))

    assert {False: 1, True: len(documents) - 1} == looks
    assert [0.5] * len(published) == [each["reward"] for each in rows if each["event"] == "group_published"]
    check(data, tmp_path / "t.jsonl")


def test_more_names_than_are_learnt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Names that are not learnt change nothing."""
    monkeypatch.setattr(otlp_glance, "MAX_NAMES", 0)
    check(written(otlp(_with_own_events(), 1)), tmp_path / "t.jsonl")


@pytest.mark.parametrize("runs", [2, MAX_RUNS + 3])
def test_several_runs(runs: int, looks: Counter[bool], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Lines of each, and lines of all of them, as of a collector that takes the spans of many jobs.

    Only the lines that introduce a run are read in full.
    """
    in_full: list[bytes] = []

    def seen(line: bytes) -> Iterator[CarriedSpan] | None:
        in_full.append(line)
        return spans_in(line)

    monkeypatch.setattr(decoding, "spans_in", seen)
    documents = [otlp(history(f"run {run}"), 5) for run in range(runs)]
    of_each = [document for of_run in documents for document in of_run]
    of_all = [
        {"resourceSpans": [resource for document in together for resource in document["resourceSpans"]]}
        for together in zip(*[otlp(history(f"run {run}"), 7) for run in range(runs)], strict=True)
    ]
    data = written([*of_each, *of_all])
    (tmp_path / "t.jsonl").write_bytes(data)
    list(read_events(tmp_path / "t.jsonl").only(WANTED))

    assert runs == len(in_full)
    assert looks[True] >= len(of_each) + len(of_all) - runs
    check(data, tmp_path / "t.jsonl")


def test_unusual_lines_are_not_tried_for_ever(
    monkeypatch: pytest.MonkeyPatch, looks: Counter[bool], tmp_path: Path
) -> None:
    """With another program's spans in every line, two in a row are tried, and then one of three: 1, 2, 6, 10.

    The first is tried twice: its publications could have been what is unusual.
    """
    monkeypatch.setattr(otlp_glance, "MAX_FAILURES", 2)
    monkeypatch.setattr(otlp_glance, "PAUSE", 3)
    documents = otlp(history(), 1)
    for document in documents:
        document["resourceSpans"][0]["scopeSpans"][0]["spans"].append(FOREIGN)
    data = written(documents)
    (tmp_path / "t.jsonl").write_bytes(data)
    list(read_events(tmp_path / "t.jsonl").only(WANTED))

    tried = [line for line in range(1, len(documents)) if line in (1, 2) or (line > 2 and (line - 2) % 4 == 0)]
    assert {False: 1 + len(tried)} == looks
    check(data, tmp_path / "t.jsonl")


def test_a_line_of_several_megabytes(tmp_path: Path) -> None:
    """It is cut over many blocks of the file."""
    text = "\u00e4 \u0007\n" * 700_000
    rows = history(text="short")
    documents = otlp(rows, 99)
    for event in events_named(documents, "attempt_sealed")[:2]:
        event["attributes"].append({"key": "rtrace.x", "value": {"stringValue": text}})
    data = written([*otlp(history("b"), 3), *documents, *otlp(history("c"), 2)])

    assert len(data) > 5_000_000
    check(data, tmp_path / "t.jsonl")


@pytest.mark.parametrize("one_pass", [False, True])
@pytest.mark.parametrize("piece", [1_000, 9_000, 40_000])
def test_several_processes(piece: int, one_pass: bool, tmp_path: Path) -> None:
    """Spans that are sent again come in pieces of other processes; so do two runs, and a trace among them."""
    spans = [*otlp(history("a"), 3), *otlp(history("b"), 2)]
    flat = lines(row(0, "c", "train_step", step=9, trained_version=3, group_ids=["g"]))
    path = tmp_path / "t.jsonl"
    path.write_bytes(written(spans) + written(spans[1:5]) + flat + written(otlp(history("d"), 4)) + written(spans))
    exact = read_events(path)
    expected = [(found, exact.line) for found in exact if found["event"] in WANTED]

    with mock.patch.multiple(parallel, PIECE_BYTES=piece, MIN_BYTES=0):
        reader = read_events(path, one_pass=one_pass, jobs=2)
        assert expected == [(found, reader.line) for found in reader.only(WANTED)]
        assert exact.report == reader.report


def test_a_process_that_runs_ahead_knows_runs_that_are_new_here(tmp_path: Path) -> None:
    """What it found in a line is of no use then: the line itself is read, and introduces the run."""
    data = written(otlp(history(), 2)).splitlines(keepends=True)
    ahead = Picker(frozenset(WANTED), counted=False, ahead=True)
    ahead.pick(data[:1], len(data[0]))
    found = ahead.pick(data[1:], sum(map(len, data[1:])))
    decoder = LineDecoder("t")
    rows = list(Narrow(decoder, frozenset(WANTED), counted=False).rows_of_parts([(found, data[1:].__iter__)]))
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(data[1:]))

    assert not any(isinstance(line, bytes) for line in found.lines)
    assert [each for each in read_events(path) if each["event"] in WANTED] == rows
    assert len(data) - 1 == decoder.tally.lines
