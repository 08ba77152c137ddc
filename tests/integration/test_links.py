"""Links between spans of different traces and of different runs."""

from __future__ import annotations

import pytest

from tests.integration.chain import Found
from tests.integration.conftest import Job
from tests.integration.rows import Attempt, attempts_in, group_ids_in
from tests.servers import BUILD_TIMEOUT_S

pytestmark = pytest.mark.timeout(BUILD_TIMEOUT_S)


def _linked(job: Job, span: Found, name: str) -> list[Found]:
    """The spans of one name that a span links to."""
    return [job.by_key[key] for key in span.links if job.by_key[key].name == name]


def _links_to_attempts(job: Job) -> dict[str, list[str]]:
    """The attempts that each attempt links to."""
    return {
        str(span.tags["rtrace.attempt_id"]): [
            str(to.tags["rtrace.attempt_id"]) for to in _linked(job, span, "rollout.attempt")
        ]
        for span in job.named("rollout.attempt")
    }


def _before(attempts: list[Attempt], later: Attempt) -> list[Attempt]:
    """What an earlier run did for the same generation."""
    generation = (later.group_id, later.generation)
    return [a for a in attempts if (a.group_id, a.generation) == generation and a.run != later.run]


def _firsts(job: Job) -> list[Attempt]:
    """The first attempt of each generation in the restored run, unless it continues one."""
    firsts: dict[tuple[str, int], Attempt] = {}
    for attempt in attempts_in(job.events):
        if attempt.run == job.runs[1]:
            firsts.setdefault((attempt.group_id, attempt.generation), attempt)
    return [attempt for attempt in firsts.values() if attempt.resumes is None]


def test_a_step_links_to_the_groups_that_it_trained(job: Job) -> None:
    """In order, and to the groups of its own run."""
    expected = {(row["run"], row["step"]): row["group_ids"] for row in job.events if row["event"] == "train_step"}
    finished = [span for span in job.named("train.step") if "rtrace.truncated" not in span.tags]
    assert expected == {
        (span.tags["rtrace.run_id"], span.tags["rtrace.step"]): [
            to.tags["rtrace.group_id"]
            for to in _linked(job, span, "rollout.group")
            if to.tags["rtrace.run_id"] == span.tags["rtrace.run_id"]
        ]
        for span in finished
    }


def test_a_restored_group_links_to_its_first_run(job: Job) -> None:
    """A group that two runs worked on leads from the second to the first; no other group links to anything."""
    expected = {(runs[1], group_id): runs[:1] for group_id, runs in group_ids_in(job.events).items() if runs[1:]}
    assert expected == {
        (span.tags["rtrace.run_id"], span.tags["rtrace.group_id"]): [
            to.tags["rtrace.run_id"] for to in _linked(job, span, "rollout.group")
        ]
        for span in job.named("rollout.group")
        if span.links
    }


def test_an_attempt_links_to_the_refits_that_cut_it(job: Job) -> None:
    """One link for each refit that it spanned, all of them in its own run."""
    expected = {(a.run, a.attempt_id): [a.run] * a.refits for a in attempts_in(job.events)}
    assert expected == {
        (span.tags["rtrace.run_id"], span.tags["rtrace.attempt_id"]): [
            to.tags["rtrace.run_id"] for to in _linked(job, span, "weights.sync")
        ]
        for span in job.named("rollout.attempt")
    }


def test_a_resumed_attempt_links_to_the_one_that_it_continues(job: Job) -> None:
    """Across the restore, whatever became of the earlier one after the checkpoint."""
    resumed = {a.attempt_id: [a.resumes] for a in attempts_in(job.events) if a.resumes is not None}
    links = _links_to_attempts(job)
    assert resumed
    assert resumed == {attempt_id: links[attempt_id] for attempt_id in resumed}


def test_an_attempt_done_again_links_to_the_one_that_the_kill_cut_off(job: Job) -> None:
    """Across the restore, for each generation that was running when the run was killed."""
    attempts = attempts_in(job.events)
    expected = {
        first.attempt_id: [lost.attempt_id]
        for first in _firsts(job)
        for lost in _before(attempts, first)[-1:]
        if lost.outcome == "interrupted"
    }
    links = _links_to_attempts(job)
    assert expected
    assert expected == {attempt_id: links[attempt_id] for attempt_id in expected}


def test_an_attempt_done_again_links_to_the_one_whose_result_was_lost(job: Job) -> None:
    """A result that came after the checkpoint died with the run: its generation is done again, and leads to it."""
    attempts = attempts_in(job.events)
    expected = {
        first.attempt_id: [lost.attempt_id]
        for first in _firsts(job)
        for lost in _before(attempts, first)[-1:]
        if lost.outcome == "sealed"
    }
    links = _links_to_attempts(job)
    assert expected
    assert expected == {attempt_id: links[attempt_id] for attempt_id in expected}


def test_an_attempt_that_failed_is_linked_from_the_next(job: Job) -> None:
    """Within a run each further attempt of a generation leads to the one before it."""
    latest: dict[tuple[str, str, int], str] = {}
    expected = {}
    for attempt in attempts_in(job.events):
        generation = (attempt.run, attempt.group_id, attempt.generation)
        if generation in latest:
            expected[attempt.attempt_id] = [latest[generation]]
        latest[generation] = attempt.attempt_id
    links = _links_to_attempts(job)
    assert expected
    assert expected == {attempt_id: links[attempt_id] for attempt_id in expected}
