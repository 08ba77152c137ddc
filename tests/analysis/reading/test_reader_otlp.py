"""OTLP lines read by need: the same rows, ages and report as reading all of every line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading import decoding
from rtrace_otel.analysis.reading import reader as reading
from rtrace_otel.analysis.reading.damage import ReadReport
from rtrace_otel.analysis.reading.picking import Picker
from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import Row
from rtrace_otel.spans.otlp_json import traces_data
from rtrace_otel.spans.otlp_lines import spans_in
from rtrace_otel.spans.projector import project
from rtrace_otel.spans.unproject import CarriedSpan
from tests.analysis.reading.test_reader_fuzz import HURTS, _hurt
from tests.analysis.rows import lines, row
from tests.spans.rows import History

WANTED = ("group_published", "group_sealed", "group_discarded", "train_step")
FOREIGN = {
    "name": "llm_request",
    "spanId": "1" * 16,
    "attributes": [{"key": "gen_ai.system", "value": {"stringValue": "vllm"}}],
    "events": [{"name": "train_step", "attributes": [{"key": "rtrace.seq", "value": {"intValue": "1"}}]}],
}


def history(run: str = "a", *, text: str = "plain") -> list[Row]:
    """Two groups of two attempts, one of which names versions, trained in two steps."""
    made = History(run)
    for step, group in enumerate(("g", "h"), start=1):
        for attempt in (f"{group}1", f"{group}2"):
            made.dispatch(attempt, group, 0)
            made.seal(attempt, tokens=5, note=text, tokens_by_version={1: 2})
        made.add("group_sealed", group_id=group, tokens_by_version={0: 4 + step})
        made.add("group_published", group_id=group, tokens_by_version={0: 1 + step, 1: 3})
        made.refit(step, step + 1)
        made.train(step, group)
    made.add("run_ended", reason="closed")
    return made.rows


def otlp(rows: list[Row], per_line: int = 4) -> list[dict[str, Any]]:
    """The spans of rows as documents of a few spans each."""
    pairs = list(project(rows))
    return [traces_data(pairs[at : at + per_line]) for at in range(0, len(pairs), per_line)]


def written(documents: list[dict[str, Any]]) -> bytes:
    """The documents as a collector writes them."""
    return b"".join(json.dumps(each, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for each in documents)


def _spans(document: dict[str, Any]) -> list[Any]:
    spans: list[Any] = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    return spans


def _exact(data: bytes, wanted: tuple[str, ...], path: Path) -> tuple[str, list[int], ReadReport]:
    path.write_bytes(data)
    reader = read_events(path)
    found = [(each, reader.line) for each in reader if each["event"] in wanted]
    return json.dumps([each for each, _ in found]), [line for _, line in found], reader.report


def _narrow(wanted: tuple[str, ...], path: Path, *, one_pass: bool) -> tuple[str, list[int], ReadReport]:
    reader = read_events(path, one_pass=one_pass)
    found = [(each, reader.line) for each in reader.only(wanted)]
    return json.dumps([each for each, _ in found]), [line for _, line in found], reader.report


def check(data: bytes, path: Path, wanted: tuple[str, ...] = WANTED) -> None:
    """Compare all ways to read."""
    expected = _exact(data, wanted, path)
    assert expected == _narrow(wanted, path, one_pass=False)
    assert expected == _narrow(wanted, path, one_pass=True)
    with mock.patch.object(reading, "Picker", partial(Picker, ahead=True)):  # as another process does it
        assert expected == _narrow(wanted, path, one_pass=False)
        assert expected == _narrow(wanted, path, one_pass=True)
    ages = batch_age_by_step(list(read_events(path)))
    assert ages == batch_age_by_step(read_events(path))
    assert ages == batch_age_by_step(read_events(path, one_pass=True))


def test_ages_from_spans(tmp_path: Path) -> None:
    """Each step trains 3 tokens of version 1 and 2 or 3 of version 0.

    Step 1 trains version 1: 1 - 3 / 5 = 0.4. Step 2 trains version 2: 2 - 3 / 6 = 1.5.
    """
    path = tmp_path / "t.jsonl"
    rows = history()
    trained = {each["step"]: each["trained_version"] for each in rows if each["event"] == "train_step"}
    path.write_bytes(written(otlp(rows)))

    expected = {1: pytest.approx(trained[1] - 3 / 5), 2: pytest.approx(trained[2] - 3 / 6)}
    assert expected == batch_age_by_step(read_events(path))


def test_most_lines_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the line that introduces the run is read in full."""
    in_full: list[bytes] = []

    def counted(line: bytes) -> Iterator[CarriedSpan] | None:
        in_full.append(line)
        return spans_in(line)

    monkeypatch.setattr(decoding, "spans_in", counted)
    path = tmp_path / "t.jsonl"
    data = written(otlp(history(), per_line=1))
    path.write_bytes(data)
    list(read_events(path).only(WANTED))

    assert data.splitlines(keepends=True)[:1] == in_full


CHANGES = ("twice", "foreign", "backwards", "flat", "other run", "spaces", "no spans", "odd value", "big", "order")


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(CHANGES), max_size=3),
    st.lists(HURTS, max_size=2),
    st.integers(1, 9),
    st.sampled_from(["plain", "ä", '"rtrace.seq"', "\n\\", '{"key":"rtrace.seq","value":{"intValue":"7"}}', "\x01"]),
    st.sets(st.sampled_from([*WANTED, "attempt_sealed", "run_started", "weight_sync"])),
)
def test_damage_and_strangers_change_nothing(
    tmp_path: Path,
    changes: list[str],
    hurts: list[tuple[Callable[[bytes, int, int], bytes], int, int]],
    per_line: int,
    text: str,
    wanted: set[str],
) -> None:
    """Spans of others, spans sent twice, lines in another order, lines that are not OTLP, and damaged ones."""
    documents = otlp(history(text=text), per_line)
    for change in changes:
        if change == "foreign":
            _spans(documents[-1]).insert(0, FOREIGN)
        elif change == "twice":
            documents += documents[: len(documents) // 2 + 1]
        elif change == "backwards":
            documents.reverse()
        elif change == "other run":
            documents[0]["resourceSpans"] += otlp(history("b"), 99)[0]["resourceSpans"]
        elif change == "no spans":
            _spans(documents[0]).extend([5, None, {"name": 7}])
        elif change == "odd value":
            _spans(documents[-1])[0]["attributes"].append({"key": "x", "value": {"intValue": 1, "doubleValue": 2}})
        elif change == "order":
            _spans(documents[-1])[0]["attributes"].reverse()
    data = written(documents)
    if "flat" in changes:
        data += lines(row(0, "a", "train_step", step=9, trained_version=3, group_ids=["g"])) + data
    if "spaces" in changes:
        data += b"".join(json.dumps(each).encode() + b"\n" for each in documents)
    if "big" in changes:
        data = data.replace(b'"doubleValue":0', b'"doubleValue":1e999').replace(b'"flags":1', b'"flags":1e999')
    check(_hurt(data, hurts), tmp_path / "t.jsonl", tuple(wanted))


def _event(*attributes: Any, name: str = "train_step") -> dict[str, Any]:
    return {"timeUnixNano": "1", "name": name, "attributes": list(attributes)}


def _entry(key: str, **value: Any) -> dict[str, Any]:
    return {"key": key, "value": value}


SEQ = _entry("rtrace.seq", intValue="90")
ODD_EVENTS: dict[str, list[Any]] = {
    "a number twice": [_event(SEQ, _entry("rtrace.seq", intValue="91"))],
    "a number, and as text": [_event(SEQ, _entry("rtrace.seq.json", stringValue="91"))],
    "a number in another place": [_event(_entry("rtrace.x", intValue="1"), SEQ)],
    "no number": [_event(_entry("rtrace.x", intValue="1"))],
    "a number without digits": [_event(_entry("rtrace.seq", intValue="")), _event(SEQ)],
    "two numbers in a text": [_event(_entry("rtrace.seq", intValue="90,91")), _event(5)],
    "a number with a space": [_event(_entry("rtrace.seq", intValue=" 90"))],
    "a number with a sign": [_event(_entry("rtrace.seq", intValue="+90")), _event(_entry("rtrace.seq", intValue="-0"))],
    "a number with other digits": [_event(_entry("rtrace.seq", intValue="\u0669\u0660"))],
    "a number with zeros": [_event(_entry("rtrace.seq", intValue="0090"))],
    "a number with a point": [_event(_entry("rtrace.seq", intValue="90.0"))],
    "a number with an exponent": [_event(_entry("rtrace.seq", intValue="9e1"))],
    "a negative number": [_event(_entry("rtrace.seq", intValue="-1")), _event(_entry("rtrace.seq", intValue="-1"))],
    "two kinds of value": [_event(_entry("rtrace.seq", doubleValue=2.5, intValue="90"))],
    "the number of an attempt": [_event(_entry("rtrace.seq", intValue="2"))],
    "the same number twice": [_event(SEQ), _event(SEQ, name="group_published")],
    "bad versions": [_event(SEQ, _entry("rtrace.tokens_by_version.json", stringValue='{"x":1}'), name="note")],
    "odd attributes": [{"name": "train_step", "attributes": [5, SEQ]}, {"name": "train_step", "attributes": None}],
    "a huge number": [_event(_entry("rtrace.seq", intValue=str(2**70)))],
    "infinite": [_event(SEQ, _entry("rtrace.x", doubleValue="Infinity"), _entry("rtrace.y", kvlistValue={}))],
    "a name that is none": [{"name": 5, "attributes": [SEQ]}],
    "no events": [],
}


@pytest.mark.parametrize("span", ["rollout.attempt", "rollout.group", "train.step", "train.step.groups", "other"])
@pytest.mark.parametrize("case", ODD_EVENTS)
def test_odd_events_change_nothing(case: str, span: str, tmp_path: Path) -> None:
    """Events that look like ours and are written in another way, in spans of any name."""
    documents = otlp(history(), 3)
    run = _entry("rtrace.run_id", stringValue="a")
    odd = {"name": span, "attributes": [run], "events": ODD_EVENTS[case]}
    others = {**odd, "attributes": [_entry("x"), run]}
    _spans(documents[1]).append(odd)
    _spans(documents[2]).insert(0, {**odd, "attributes": [run, _entry("rtrace.run_id", stringValue="b")]})
    documents.append({"resourceSpans": [{"scopeSpans": [{"spans": [odd, others]}]}]})

    check(written(documents), tmp_path / "t.jsonl", (*WANTED, "run_started"))
    check(written(documents), tmp_path / "t.jsonl", ())


def test_an_escaped_key_hides_nothing(tmp_path: Path) -> None:
    """The name of a key can be written with its letters as numbers."""
    data = written(otlp(history(), 2))

    for escaped in (b'"\\u0065vents"', b'"ev\\u0065nts"'):
        check(data.replace(b'"events"', escaped), tmp_path / "t.jsonl")
    check(data.replace(b'"rtrace.seq"', b'"rtrace.s\\u0065q"'), tmp_path / "t.jsonl")
