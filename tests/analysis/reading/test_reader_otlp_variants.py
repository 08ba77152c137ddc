"""Spans written nearly as we write them: the same rows, ages and report as a full reading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rtrace_otel.analysis.age.batch_age import batch_age_by_step
from rtrace_otel.analysis.reading.damage import DamageKind
from rtrace_otel.analysis.reading.reader import read_events
from tests.analysis.reading.test_reader_otlp import WANTED, check, history, otlp, written
from tests.analysis.reading.test_reader_otlp_usual import all_spans, as_a_collector, events_named

TIMES = ["1" + "0" * 400, "-1", "x", "", " 7", "7.5", 7, 7.5, None, True, [], "1" * 5000]


@pytest.mark.parametrize("time", TIMES, ids=range(len(TIMES)))
def test_odd_times(time: Any, tmp_path: Path) -> None:
    """A time that no number of seconds can be costs nothing but itself."""
    documents = otlp(history(), 3)
    for event in [*events_named(documents, "group_published"), *events_named(documents, "group_sealed")]:
        event["timeUnixNano"] = time
    documents[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["startTimeUnixNano"] = time
    path = tmp_path / "t.jsonl"
    check(written(documents), path, (*WANTED, "run_started"))
    assert {1, 2} == batch_age_by_step(read_events(path)).keys()


VERSIONS = {"key": "rtrace.tokens_by_version.versions", "value": {"arrayValue": {"values": [{"intValue": "1"}]}}}
TOKENS = {"key": "rtrace.tokens_by_version.tokens", "value": {"arrayValue": {"values": [{"intValue": "7"}]}}}
SEQ = {"key": "rtrace.seq", "value": {"intValue": "990"}}


def _entry(key: str, **value: Any) -> dict[str, Any]:
    return {"key": f"rtrace.{key}", "value": value}


def _ints(*texts: Any) -> dict[str, Any]:
    return {"arrayValue": {"values": [{"intValue": text} for text in texts]}}


CALLS = [_entry(f"call_versions.{part}", intValue="3") for part in ("count", "tokens_sum", "tokens_min", "tokens_max")]
PUBLISHED: dict[str, list[Any]] = {
    "as it is": [SEQ, VERSIONS, TOKENS],
    "with calls": [SEQ, VERSIONS, TOKENS, *CALLS],
    "with calls and more": [SEQ, VERSIONS, TOKENS, *CALLS, _entry("reward", doubleValue=0.5)],
    "with calls and versions": [
        SEQ,
        VERSIONS,
        TOKENS,
        *CALLS,
        _entry("tokens_by_version.json", stringValue='{"4": 5}'),
    ],
    "with calls only": [SEQ, *CALLS],
    "with a count twice": [SEQ, VERSIONS, TOKENS, *[_entry("call_versions.count", intValue="3")] * 2],
    "with more": [SEQ, VERSIONS, TOKENS, _entry("reward", doubleValue=0.5)],
    "with calls as they are": [SEQ, VERSIONS, TOKENS, _entry("call_versions", intValue="3")],
    "the other way round": [SEQ, TOKENS, VERSIONS],
    "versions last": [SEQ, VERSIONS, TOKENS, _entry("tokens_by_version.json", stringValue='{"4": 5}')],
    "versions again": [SEQ, VERSIONS, TOKENS, {**VERSIONS, "value": _ints("5")}],
    "no tokens": [SEQ, VERSIONS],
    "no versions": [SEQ, TOKENS],
    "more versions than tokens": [SEQ, {**VERSIONS, "value": _ints("1", "x", "3")}, TOKENS],
    "more tokens than versions": [SEQ, VERSIONS, {**TOKENS, "value": _ints("1", "x", "3")}],
    "a version twice": [SEQ, {**VERSIONS, "value": _ints("1", "01")}, {**TOKENS, "value": _ints("5", "6")}],
    "none": [SEQ, {**VERSIONS, "value": _ints()}, {**TOKENS, "value": {"arrayValue": {}}}],
    "no array": [SEQ, {**VERSIONS, "value": {"intValue": "1"}}, TOKENS],
    "texts": [SEQ, {**VERSIONS, "value": {"arrayValue": {"values": [{"stringValue": "1"}]}}}, TOKENS],
    "numbers": [SEQ, {**VERSIONS, "value": _ints(1)}, {**TOKENS, "value": _ints(7)}],
    "odd numbers": [SEQ, {**VERSIONS, "value": _ints(" 1", "-2", "+3", "0_4")}, {**TOKENS, "value": _ints(*"1234")}],
    "no numbers": [SEQ, {**VERSIONS, "value": _ints("x", "1.0", "")}, {**TOKENS, "value": _ints("1e3", "2", "3")}],
    "large numbers": [SEQ, {**VERSIONS, "value": _ints("9" * 30)}, {**TOKENS, "value": _ints("9" * 30)}],
    "two kinds": [SEQ, {**VERSIONS, "value": {**_ints("1"), "intValue": "2"}}, TOKENS],
    "a number as text": [{"key": "rtrace.seq", "value": {"stringValue": "990"}}, VERSIONS, TOKENS],
    "an odd number": [{"key": "rtrace.seq", "value": {"intValue": "\u0669"}}, VERSIONS, TOKENS],
    "a huge number": [{"key": "rtrace.seq", "value": {"intValue": "9" * 30}}, VERSIONS, TOKENS],
    "a negative number": [{"key": "rtrace.seq", "value": {"intValue": "-3"}}, VERSIONS, TOKENS],
    "the number of another": [{"key": "rtrace.seq", "value": {"intValue": "3"}}, VERSIONS, TOKENS],
}


@pytest.mark.parametrize("case", PUBLISHED)
def test_publications(case: str, tmp_path: Path) -> None:
    """A publication written in any way gives the same row; what is in the usual form, and what is nearly."""
    documents = otlp(history(), 4)
    events_named(documents, "group_published")[-1]["attributes"] = PUBLISHED[case]
    check(written(documents), tmp_path / "t.jsonl")
    check(written(documents) * 2, tmp_path / "t.jsonl", ("group_published", "my_event"))


NUMBERS = [
    "",
    "90,91",
    "90,",
    " 90",
    "+90",
    "-0",
    "-1",
    "\u0669\u0660",
    "0090",
    "90.0",
    "9e1",
    "9" * 30,
    "1_0",
    "x",
    90,
]


@pytest.mark.parametrize("number", NUMBERS, ids=range(len(NUMBERS)))
@pytest.mark.parametrize("name", ["rollout.attempt", "rollout.group"])
def test_numbers_of_rows(name: str, number: Any, tmp_path: Path) -> None:
    """The number of a row that nobody asked for, alone in its line and beside another: both rows are counted."""
    own = [_entry("run_id", stringValue="a"), _entry("group_id", stringValue="g")]
    odd = {"name": "attempt_refused", "timeUnixNano": "1", "attributes": [_entry("seq", intValue=number)]}
    plain = {**odd, "attributes": [_entry("seq", intValue="95")]}
    added = [
        {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": name, "attributes": own, "events": events}]}]}]}
        for events in ([odd], [odd, plain])
    ]
    check(written([*otlp(history(), 4), *added]), tmp_path / "t.jsonl")
    check(written([*otlp(history(), 4), added[1], added[0]]), tmp_path / "t.jsonl")


@pytest.mark.parametrize("name", ["attempt_sealed", "weight_sync"])
@pytest.mark.parametrize("per_line", [1, 4])
@pytest.mark.parametrize("key", [b"tokens_by_version", b"tokens\\u005fby_version"], ids=["plain", "escaped"])
def test_versions_that_are_none(name: str, per_line: int, key: bytes, tmp_path: Path) -> None:
    """They are damage, also in a row that nobody asked for; a report from the same pass has it."""
    rows = [{key: value for key, value in each.items() if key != "tokens_by_version"} for each in history()]
    documents = otlp(rows, per_line)
    events_named(documents, name)[-1]["attributes"].append(_entry("tokens_by_version.json", stringValue='{"x": 1}'))
    path = tmp_path / "t.jsonl"
    check(written(documents).replace(b"tokens_by_version", key), path)
    reader = read_events(path, one_pass=True)

    assert [] == list(reader.only(["my_event"]))
    assert {DamageKind.BAD_FIELD: 1} == reader.report.damage_counts


LINKS: dict[str, Any] = {
    "a link twice": [{"attributes": [_entry("link", stringValue="trained"), _entry("group_id", stringValue="h")]}] * 2,
    "a link of another kind": [{"attributes": [_entry("link", stringValue="x"), _entry("group_id", stringValue="h")]}],
    "with more": [{"attributes": [_entry("link", stringValue="trained"), _entry("group_id", stringValue="h"), SEQ]}],
    "turned round": [{"attributes": [_entry("group_id", stringValue="h"), _entry("link", stringValue="trained")]}],
    "a key twice": [{"attributes": [_entry("link", stringValue="x"), _entry("link", stringValue="trained")]}],
    "no attributes": [{}, {"attributes": None}, 5],
    "no links": 7,
}


@pytest.mark.parametrize("case", LINKS)
def test_links(case: str, tmp_path: Path) -> None:
    """The groups of a step are those of its links, however these are written."""
    documents = otlp(history(), 4)
    [span for span in all_spans(documents) if span["name"] == "train.step"][-1]["links"] = LINKS[case]
    check(written(documents), tmp_path / "t.jsonl")


REPLACED = {
    "a name twice": (b'"name":"rollout.group"', b'"name":"rollout.group","name":"rollout.attempt"'),
    "the same name twice": (b'"name":"rollout.group"', b'"name":"rollout.group","name":"rollout.group"'),
    "events twice": (b'"events":[', b'"events":[{"name":"x"}],"events":['),
    "events twice, the last odd": (b'"links":[', b'"events":null,"links":['),
    "a key twice": (b'"key":"rtrace.seq"', b'"key":"x","key":"rtrace.seq"'),
    "a key twice, the last odd": (b'"key":"rtrace.seq"', b'"key":"rtrace.seq","key":"x"'),
    "a value twice": (b'{"intValue":"1', b'{"intValue":"9","intValue":"1'),
    "a value of two kinds": (b'{"intValue":"1', b'{"stringValue":"9","intValue":"1'),
    "an escaped letter in a name": (b'"name":"rollout.group"', b'"name":"rollout.gro\\u0075p"'),
    "an escaped letter in an event": (b'"name":"group_published"', b'"name":"group_publish\\u0065d"'),
    "an escaped letter in a key of ours": (b'"rtrace.run_id"', b'"rtrace.run_\\u0069d"'),
    "an escaped letter in a group": (b'"rtrace.group_id"', b'"rtrace.group_\\u0069d"'),
    "an escaped letter in a run": (b'"stringValue":"a"', b'"stringValue":"\\u0061"'),
    "half a surrogate in a run": (b'"stringValue":"a"', b'"stringValue":"\\ud800"'),
    "an escaped letter in versions": (b"tokens_by_version.versions", b"tokens_by_version.version\\u0073"),
    "an escaped digit": (b'{"intValue":"1', b'{"intValue":"\\u0031'),
    "a step that is none of ours": (b'"name":"train.step"', b'"name":"train.stop"'),
    "spaces": (b'{"key":', b'{ "key" : '),
    "a carriage return": (b"\n", b"\r\n"),
    "bad UTF-8": (b'"math', b'"\xff'),
    "no end": (b"]}]}]}\n", b"]}]}\n"),
    "scopes twice": (b'"scopeSpans":[', b'"scopeSpans":[],"scopeSpans":['),
    "spans of two scopes": (b'"scopeSpans":[', b'"scopeSpans":[{"spans":[]},{},'),
    "no resource": (b'"resource":{', b'"other":{'),
}


@pytest.mark.parametrize("case", REPLACED)
@pytest.mark.parametrize("per_line", [1, 4])
@pytest.mark.parametrize("times", [1, -1], ids=["once", "everywhere"])
def test_text_that_is_nearly_the_same(case: str, times: int, per_line: int, tmp_path: Path) -> None:
    """Keys that come twice in an object, letters that are written as numbers, spaces, and damage."""
    old, new = REPLACED[case]
    data = written(otlp(history(), per_line))
    begin = 0 if times < 0 else data.index(b"\n")  # not in the line that introduces the run
    check(data[:begin] + data[begin:].replace(old, new, times), tmp_path / "t.jsonl")
    check(data[:begin] + data[begin:].replace(old, new, times) * 2, tmp_path / "t.jsonl")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.sampled_from(sorted(REPLACED)), max_size=2),
    st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(sorted(PUBLISHED))), max_size=2),
    st.integers(1, 9),
    st.booleans(),
    st.integers(0, 5),
)
def test_any_mixture_changes_nothing(
    tmp_path: Path,
    replaced: list[str],
    published: list[tuple[int, str]],
    per_line: int,
    collector: bool,
    again: int,
) -> None:
    """Several of these at once, in lines of any length, some of which are sent twice."""
    documents = otlp([*history(), *history("b")], per_line)
    events = [event for span in all_spans(documents) for event in span["events"]]
    for place, case in published:
        events[place % len(events)]["attributes"] = PUBLISHED[case]
    if collector:
        documents = as_a_collector(documents)
    data = written([*documents, *documents[:again]])
    for at, case in enumerate(replaced):
        half = len(data) // (at + 2)
        data = data[:half] + data[half:].replace(*REPLACED[case])
    check(data, tmp_path / "t.jsonl")
