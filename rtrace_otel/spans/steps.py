"""The span of a training step: links to its groups, and how stale they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rtrace_otel.events import Row
from rtrace_otel.spans import ids
from rtrace_otel.spans.attributes import is_count
from rtrace_otel.spans.model import MAX_LINKS, FinishedSpan, SpanLink
from rtrace_otel.spans.open import OpenSpan, time_ns

GroupLink = tuple[str, int, int]
"""Group id, trace id, span id."""


def finish_step(
    step: OpenSpan, row: Row, groups: Sequence[GroupLink], known: Sequence[OpenSpan]
) -> Iterator[FinishedSpan]:
    """The step's span, after child spans that carry the links beyond ``MAX_LINKS``.

    Args:
        step: The open span.
        row: The ``train_step`` row.
        groups: The groups trained, in order.
        known: Those of them that are open in this run.
    """
    step.facts.pop("group_ids", None)
    step.facts["groups"] = len(groups)
    step.facts.update(_staleness(row.get("trained_version"), known))
    for place in range(0, len(groups), MAX_LINKS):
        links = tuple(_group_link(group) for group in groups[place : place + MAX_LINKS])
        if place == 0:
            step.links += links
        else:
            yield _links_child(step, row, place, links)
    yield step.finish(time_ns(row), None)


def tokens_by_version(group: OpenSpan) -> dict[int, int]:
    """The counts that a group was published with; empty if it was published without, or by another run."""
    counts: dict[int, int] = {}
    for name, value in group.fields_of("group_published"):
        if name == "tokens_by_version" and isinstance(value, dict):
            counts = {int(version): tokens for version, tokens in value.items() if is_count(version, tokens)}
    return counts


def _staleness(trained_version: Any, groups: Sequence[OpenSpan]) -> dict[str, Any]:
    counts: dict[int, int] = {}
    with_tokens = 0
    for group in groups:
        published = tokens_by_version(group)
        with_tokens += bool(published)
        for version, tokens in published.items():
            counts[version] = counts.get(version, 0) + tokens
    facts: dict[str, Any] = {"groups_with_tokens": with_tokens}
    total = sum(counts.values())
    if total and type(trained_version) is int:
        facts["age_p95"] = trained_version - _version_at(counts, 0.95 * total)
        facts["age_max"] = trained_version - min(version for version, tokens in counts.items() if tokens)
    return facts


def _version_at(counts: dict[int, int], needed: float) -> int:
    """The newest version such that this many tokens are from it or newer ones."""
    seen = 0
    version = 0
    for version in sorted(counts, reverse=True):
        seen += counts[version]
        if seen >= needed:
            break
    return version


def _group_link(group: GroupLink) -> SpanLink:
    group_id, trace_id, span_id = group
    return SpanLink(trace_id, span_id, {"rtrace.link": "trained", "rtrace.group_id": group_id})


def _links_child(step: OpenSpan, row: Row, place: int, links: tuple[SpanLink, ...]) -> FinishedSpan:
    return FinishedSpan(
        run=step.run,
        name="train.step.groups",
        trace_id=step.trace_id,
        span_id=ids.child_span_id(step.span_id, str(place)),
        parent_id=step.span_id,
        start_ns=step.start_ns,
        end_ns=max(time_ns(row), step.start_ns),
        attributes={"rtrace.run_id": step.run, "rtrace.first_group": place},
        events=(),
        links=links,
        error=None,
    )
