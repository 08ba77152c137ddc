"""Whatever a span of a real job carries is in the conventions or the event schema."""

from __future__ import annotations

import gzip

from rtrace_otel.analysis.reading.reader import read_events
from rtrace_otel.events import FIELD_TYPES, ROLLOUT_TRACE_FILENAME
from rtrace_otel.spans.conventions import SPANS
from rtrace_otel.spans.projector import project
from tests.spans.rows import links
from tests.spans.test_round_trip import DEMO

OF_THE_DEMO = {"mean_reward"}
"""Fields that the demo adds to rows, as any user may."""

SUFFIXES = (".count", ".tokens", ".versions", ".json", ".tokens_sum", ".tokens_min", ".tokens_max")


def known(key: str) -> bool:
    """Whether a key is a field of the registry under our prefix."""
    name = key.removeprefix("rtrace.")
    bare = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
    return key.startswith("rtrace.") and (bare in FIELD_TYPES or name == "seq" or name in OF_THE_DEMO)


def test_attributes_of_the_stored_job_are_documented() -> None:
    """Every key of a span is in its own convention; every key of an event is a field."""
    assert DEMO.name.startswith(ROLLOUT_TRACE_FILENAME)
    documented = {span.name: {attribute.name for attribute in span.attributes} for span in SPANS}
    with gzip.open(DEMO) as file:
        spans = [span for span, _ in project(read_events(file), end_last=True)]
    odd = {
        (span.name, key)
        for span in spans
        for key in span.attributes
        if key not in documented.get(span.name, set()) and not known(key)
    }
    odd_in_events = {(event.name, key) for span in spans for event in span.events for key in event.attributes}
    assert (set(), set()) == (odd, {found for found in odd_in_events if not known(found[1])})


def test_stored_job_is_whole() -> None:
    """In a job with a kill and a restore no id is used twice, every parent exists and every link resolves."""
    with gzip.open(DEMO) as file:
        spans = [span for span, _ in project(read_events(file), end_last=True)]
    there = {(span.trace_id, span.span_id) for span in spans}
    parents = {(span.trace_id, span.parent_id) for span in spans if span.parent_id is not None}
    meanings = ("redone", "resumed", "restored", "refit", "trained")
    linked = {meaning: {to for span in spans for to in links(span, meaning)} for meaning in meanings}
    unresolved = {meaning: len(found - there) for meaning, found in linked.items()}
    assert (len(spans), set(), dict.fromkeys(meanings, 0)) == (len(there), parents - there, unresolved)
