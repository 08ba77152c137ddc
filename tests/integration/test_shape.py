"""What Jaeger shows of a job that was killed and restored: a trace per group, attempts, and the server's requests."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.chain import INFERENCE, JOB, Found
from tests.integration.conftest import Job
from tests.integration.rows import attempts_in, group_ends_in, group_ids_in
from tests.servers import BUILD_TIMEOUT_S

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)

IN_A_GROUP = {"rollout.group", "rollout.attempt", "llm_request"}
SKEW = "clock skew adjustment disabled"


def _groups(job: Job) -> dict[str, list[Found]]:
    """The spans of the traces that hold groups, by trace id."""
    traces: dict[str, list[Found]] = {}
    for span in job.settled:
        traces.setdefault(span.key[0], []).append(span)
    return {trace: spans for trace, spans in traces.items() if any(s.name in IN_A_GROUP for s in spans)}


def test_the_job_was_killed_and_restored(job: Job) -> None:
    """There are two runs, the first without an end: what the other tests say of kills is not said of nothing."""
    ended = [row["run"] for row in job.events if row["event"] == "run_ended"]
    assert (2, [job.runs[1]]) == (len(job.runs), ended)
    assert {"sealed", "abandoned", "interrupted"} == {attempt.outcome for attempt in attempts_in(job.events)}


def test_no_span_id_is_there_twice(job: Job) -> None:
    """Span ids are unique over all traces of the job and of the server."""
    assert {} == {key: n for key, n in Counter(span.key[1] for span in job.settled).items() if n > 1}


def test_jaeger_finds_no_fault(job: Job) -> None:
    """No invalid parent, no duplicate: the only warnings are of clocks, where a request outlived its attempt."""
    assert [] == [warning for span in job.settled for warning in span.warnings if not warning.startswith(SKEW)]


def test_every_reference_resolves(job: Job) -> None:
    """Each parent and each link leads to a span that Jaeger has."""
    known = {span.key for span in job.settled}
    assert [] == [(s.name, reference) for s in job.settled for reference in s.references if reference.to not in known]


def test_every_group_is_one_trace(job: Job) -> None:
    """Each group of the file has one trace, with one root for each run that worked on it; no trace has two groups."""
    shown = sorted(
        (
            sorted({str(s.tags["rtrace.group_id"]) for s in spans if s.name != "llm_request"}),
            sorted(str(s.tags["rtrace.run_id"]) for s in spans if s.name == "rollout.group"),
        )
        for spans in _groups(job).values()
    )
    assert sorted(([g], sorted(runs)) for g, runs in group_ids_in(job.events).items()) == shown
    assert {2, 1} == {len(runs) for _, runs in shown}


def test_a_group_has_nothing_but_rollouts_in_its_trace(job: Job) -> None:
    """Steps, refits and checkpoints are traces of their own, one span each."""
    groups = _groups(job)
    assert IN_A_GROUP == {span.name for spans in groups.values() for span in spans}
    others = Counter(span.key[0] for span in job.settled if span.key[0] not in groups)
    assert {1} == set(others.values())
    assert {"train.step", "weights.sync", "checkpoint.publish", "checkpoint.restore"} == {
        span.name for span in job.settled if span.key[0] in others
    }


def test_attempts_are_children_of_their_group(job: Job) -> None:
    """The parent of each attempt is its group's span of the same run, in the same trace."""
    groups = {span.key: span for span in job.named("rollout.group")}
    family = sorted(
        (a.tags["rtrace.run_id"], a.tags["rtrace.attempt_id"], groups[a.parent].tags["rtrace.group_id"])
        for a in job.named("rollout.attempt")
        if a.parent is not None and groups[a.parent].tags["rtrace.run_id"] == a.tags["rtrace.run_id"]
    )
    assert sorted((a.run, a.attempt_id, a.group_id) for a in attempts_in(job.events)) == family


def test_groups_and_phases_are_roots(job: Job) -> None:
    """Only attempts and the server's requests have parents."""
    assert {"rollout.attempt", "llm_request"} == {span.name for span in job.settled if span.parent is not None}
    assert [] == [s.key for s in job.named("rollout.attempt") + job.named("llm_request") if s.parent is None]


def test_groups_end_as_the_file_says(job: Job) -> None:
    """Outcome and reason of each group of each run; trained is no error, everything else is one with its reason."""
    expected = {
        key: (outcome, reason or "", outcome != "trained", reason or "")
        for key, (outcome, reason) in group_ends_in(job.events).items()
    }
    shown = {
        (span.tags["rtrace.run_id"], span.tags["rtrace.group_id"]): (
            span.tags["rtrace.outcome"],
            span.tags.get("rtrace.reason", ""),
            span.tags.get("error", False),
            span.tags.get("otel.status_description", ""),
        )
        for span in job.named("rollout.group")
    }
    assert expected == shown


def test_attempts_end_as_the_file_says(job: Job) -> None:
    """Outcome, reason, tokens and status of each attempt of each run."""
    expected = {
        (a.run, a.attempt_id): (a.outcome, a.reason or "", a.tokens, a.outcome != "sealed", a.reason or "")
        for a in attempts_in(job.events)
    }
    shown = {
        (span.tags["rtrace.run_id"], span.tags["rtrace.attempt_id"]): (
            span.tags["rtrace.outcome"],
            span.tags.get("rtrace.reason", ""),
            span.tags.get("rtrace.tokens"),
            span.tags.get("error", False),
            span.tags.get("otel.status_description", ""),
        )
        for span in job.named("rollout.attempt")
    }
    assert expected == shown


def test_the_resource_is_the_run(job: Job) -> None:
    """Spans of the job carry service, instance, host and process; those of a killed run are not its successor's."""
    started = {row["run"]: row for row in job.events if row["event"] == "run_started"}
    expected = {
        run: {"service.name": JOB, "service.instance.id": run, "host.name": row["host"], "process.pid": row["pid"]}
        for run, row in started.items()
    }
    ours = [span for span in job.settled if span.name != "llm_request"]
    assert [] == [s.key for s in ours if dict(s.process) != expected[s.tags["rtrace.run_id"]]]
    assert {INFERENCE} == {span.process["service.name"] for span in job.named("llm_request")}
