"""Searching Jaeger by tag finds what the file says."""

from __future__ import annotations

import pytest

from tests.integration.chain import Found
from tests.integration.conftest import Job
from tests.integration.rows import attempts_in, group_ends_in
from tests.servers import BUILD_TIMEOUT_S

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)


def _attempts(spans: list[Found]) -> list[tuple[str, str]]:
    return sorted(
        (str(span.tags["rtrace.run_id"]), str(span.tags["rtrace.attempt_id"]))
        for span in spans
        if span.name == "rollout.attempt"
    )


def test_abandoned_attempts(job: Job) -> None:
    """``rtrace.outcome=abandoned`` finds the abandoned attempts, and nothing else."""
    expected = [(a.run, a.attempt_id) for a in attempts_in(job.events) if a.outcome == "abandoned"]
    found = job.chain.search(rtrace__outcome="abandoned")
    assert expected
    assert (sorted(expected), {"rollout.attempt"}) == (_attempts(found), {span.name for span in found})


@pytest.mark.parametrize("bucket", ["0", "1", "2+"])
def test_attempts_by_refits(job: Job, bucket: str) -> None:
    """``rtrace.refits_bucket`` finds the attempts that spanned no refit, one, or more."""
    expected = [
        (a.run, a.attempt_id) for a in attempts_in(job.events) if bucket == ("2+" if a.refits > 1 else str(a.refits))
    ]
    assert expected
    assert sorted(expected) == _attempts(job.chain.search(rtrace__refits_bucket=bucket))


def test_attempts_by_reason(job: Job) -> None:
    """Why an attempt was abandoned can be searched for."""
    expected = [(a.run, a.attempt_id) for a in attempts_in(job.events) if a.reason == "server error"]
    assert expected
    assert sorted(expected) == _attempts(job.chain.search(rtrace__reason="server error"))


def test_the_number_of_refits_is_on_the_span(job: Job) -> None:
    """Beside the bucket there is the number itself."""
    assert {(a.run, a.attempt_id): a.refits for a in attempts_in(job.events)} == {
        (span.tags["rtrace.run_id"], span.tags["rtrace.attempt_id"]): span.tags["rtrace.refits_spanned"]
        for span in job.named("rollout.attempt")
    }


def test_killed_attempts(job: Job) -> None:
    """``rtrace.truncated=true`` finds each attempt that ran at the kill: an error, and what it waited for."""
    killed = {a.attempt_id for a in attempts_in(job.events) if a.outcome == "interrupted"}
    found = [span for span in job.chain.search(rtrace__truncated="true") if span.name == "rollout.attempt"]
    latest = {
        row["attempt_id"]: row["event"]
        for row in job.events
        if row["event"] in ("attempt_refused", "attempt_dispatched", "attempt_resumed") and row["run"] == job.runs[0]
    }
    waits = {"attempt_refused": "a new dispatch"}
    assert killed
    assert {
        attempt_id: (job.runs[0], True, "run killed", waits.get(latest[attempt_id], "a result"))
        for attempt_id in killed
    } == {
        span.tags["rtrace.attempt_id"]: (
            span.tags["rtrace.run_id"],
            span.tags.get("error"),
            span.tags.get("otel.status_description"),
            span.tags.get("rtrace.waiting_for"),
        )
        for span in found
    }


def test_killed_spans_end_at_the_last_thing_known(job: Job) -> None:
    """The end of a killed run's spans is the time of its last row, never later."""
    last_us = max(row["t"] for row in job.events if row["run"] == job.runs[0]) * 1e6
    found = job.chain.search(rtrace__truncated="true")
    assert {True} == {abs(span.end_us - last_us) <= 2 for span in found}


def test_what_was_truncated(job: Job) -> None:
    """Groups and the step that the kill interrupted are found as well, and nothing of the run that ended."""
    groups = [
        (*key, "rollout.group") for key, (outcome, _) in group_ends_in(job.events).items() if outcome == "interrupted"
    ]
    found = job.chain.search(rtrace__truncated="true")
    assert {job.runs[0]} == {span.tags["rtrace.run_id"] for span in found}
    assert sorted(groups) == sorted(
        (str(s.tags["rtrace.run_id"]), str(s.tags["rtrace.group_id"]), s.name)
        for s in found
        if s.name == "rollout.group"
    )


def test_the_step_that_was_killed_says_which_it_was(job: Job) -> None:
    """A ``train.step`` that a kill interrupted carries its step, as those do that ended."""
    found = [span for span in job.chain.search(rtrace__truncated="true") if span.name == "train.step"]
    assert [job.result.killed_in_step] == [span.tags.get("rtrace.step") for span in found]
