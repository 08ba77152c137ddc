"""The inference server's own spans, joined to the attempts that made the requests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.chain import Found
from tests.integration.conftest import Job
from tests.integration.rows import attempts_in
from tests.servers import BUILD_TIMEOUT_S

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

CLOCK_US = 100_000
"""Two processes read the clock of one machine; it may be set slightly in between."""


def _by_attempt(job: Job) -> dict[tuple[Any, Any], list[Found]]:
    """The requests of each attempt."""
    found: dict[tuple[Any, Any], list[Found]] = {
        (a.tags["rtrace.run_id"], a.tags["rtrace.attempt_id"]): [] for a in job.named("rollout.attempt")
    }
    for request in job.named("llm_request"):
        parent = job.by_key[request.parent] if request.parent is not None else request
        found[parent.tags["rtrace.run_id"], parent.tags["rtrace.attempt_id"]].append(request)
    return found


def test_every_call_has_its_span(job: Job) -> None:
    """Each call that the server knows of is one request, calls that a kill cut off included."""
    requests = [str(span.tags["gen_ai.request.id"]) for span in job.spans if span.name == "llm_request"]
    assert sorted(job.result.truth) == sorted(requests)


def test_every_request_is_the_child_of_an_attempt(job: Job) -> None:
    """No request hangs on anything else."""
    parents = [job.by_key.get(span.parent) if span.parent else None for span in job.named("llm_request")]
    assert {"rollout.attempt"} == {parent.name if parent else None for parent in parents}


def test_a_request_is_in_the_trace_of_its_group(job: Job) -> None:
    """The calls that a group published are requests in its trace, in whichever run they were made."""
    traces = {span.tags["rtrace.group_id"]: span.key[0] for span in job.named("rollout.group")}
    published = {
        call[0]: traces[row["group_id"]]
        for row in job.events
        if row["event"] == "group_published"
        for call in row["call_versions"]
    }
    shown = {str(span.tags["gen_ai.request.id"]): span.key[0] for span in job.named("llm_request")}
    assert published == {call: shown.get(call) for call in published}


def test_tokens_of_the_requests_add_up_to_those_of_the_attempt(job: Job) -> None:
    """What an attempt reports is what its own requests generated, after what it kept of the one that it continues."""
    requests = _by_attempt(job)
    ended = [attempt for attempt in attempts_in(job.events) if attempt.tokens is not None]
    expected = {(a.run, a.attempt_id): a.tokens for a in ended}
    assert expected == {
        (a.run, a.attempt_id): a.kept
        + sum(r.tags["gen_ai.usage.completion_tokens"] for r in requests[a.run, a.attempt_id])
        for a in ended
    }


def test_requests_lie_within_their_attempt(job: Job) -> None:
    """A request begins after its attempt, and outlives it only if the attempt was cut off."""
    outside = []
    for request in job.named("llm_request"):
        attempt = job.by_key[request.parent] if request.parent is not None else request
        cut_off = attempt.tags["rtrace.outcome"] == "interrupted" or attempt.tags.get("rtrace.reason") == "run ended"
        late = request.end_us > attempt.end_us + CLOCK_US and not cut_off
        if late or request.start_us < attempt.start_us - CLOCK_US:
            outside.append((attempt, request))
    assert [] == outside


def test_failed_requests_are_those_of_failed_attempts(job: Job) -> None:
    """A request that the server failed is the last of an attempt that was abandoned for it."""
    failed = {
        key
        for key, requests in _by_attempt(job).items()
        if any(request.tags.get("otel.status_description") == "server error" for request in requests)
    }
    # The server may fail a call after the controller was killed, or while it ends.
    cut_off = {(a.run, a.attempt_id) for a in attempts_in(job.events) if a.reason in ("run killed", "run ended")}
    assert {(a.run, a.attempt_id) for a in attempts_in(job.events) if a.reason == "server error"} == failed - cut_off
