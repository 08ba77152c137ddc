"""Parents exist and links resolve, within a run and from run to run."""

from __future__ import annotations

import pytest

from rtrace_otel.spans.model import MAX_LINKS
from tests.spans.rows import History, ids_of, links, named, spans_of


def killed(run: str = "a" * 16) -> History:
    """A run that was killed with an attempt open."""
    history = History(run)
    history.reserve()
    history.dispatch("x")
    return history


def test_dispatch_after_abandonment_is_linked_as_redone() -> None:
    """Within a run the second attempt of a generation links to the first."""
    run = killed()
    run.add("attempt_abandoned", attempt_id="x", reason="server error")
    run.dispatch("y")
    run.seal("y")
    spans = spans_of(run)
    first, second = named(spans, "rollout.attempt", attempt_id="x"), named(spans, "rollout.attempt", attempt_id="y")
    assert [ids_of(first)] == links(second, "redone")


def test_redone_after_a_kill_links_across_runs() -> None:
    """After a restore, the same generation links to the attempt that was lost, and the group to its first self."""
    after = History("b" * 16)
    after.reserve(origin_run="a" * 16)
    after.dispatch("y")
    after.seal("y")
    after.train(1, "g")
    spans = spans_of(killed(), after)
    lost = named(spans, "rollout.attempt", attempt_id="x")
    group = named(spans, "rollout.group", run_id="a" * 16)
    again = named(spans, "rollout.group", run_id="b" * 16)
    assert [ids_of(lost)] == links(named(spans, "rollout.attempt", attempt_id="y"), "redone")
    assert (group.trace_id, [ids_of(group)]) == (again.trace_id, links(again, "restored"))


def test_redone_after_a_clean_stop_links_across_runs() -> None:
    """A preempted run that closed its trace lost its open attempts all the same: they are linked."""
    before = killed()
    before.add("run_ended", reason="SIGTERM")
    after = History("b" * 16)
    after.reserve(origin_run="a" * 16)
    after.dispatch("y")
    after.seal("y")
    spans = spans_of(before, after)
    lost = named(spans, "rollout.attempt", attempt_id="x")
    assert [ids_of(lost)] == links(named(spans, "rollout.attempt", attempt_id="y"), "redone")


def trained(saved: bool) -> History:
    """A run that trained a group and was killed, with or without a checkpoint after the step."""
    run = killed()
    run.seal("x")
    run.train(1, "g")
    if saved:
        run.add("checkpoint_started")
        run.add("checkpoint_published", checkpoint_id="c", step=1)
    return run


@pytest.mark.parametrize("group", ["g", "another"], ids=["the same group", "a group with a new id"])
@pytest.mark.parametrize("saved", [False, True])
def test_what_was_trained_after_the_checkpoint_is_linked_when_it_is_done_again(saved: bool, group: str) -> None:
    """A stop loses what no checkpoint holds; what one holds is not lost, so the prompt has come round again."""
    after = History("b" * 16)
    after.reserve(group)
    after.dispatch("y", group)
    after.seal("y")
    spans = spans_of(trained(saved), after)
    first = named(spans, "rollout.attempt", attempt_id="x")

    assert ([] if saved else [ids_of(first)]) == links(named(spans, "rollout.attempt", attempt_id="y"), "redone")


def test_what_was_discarded_after_the_checkpoint_is_linked_when_it_is_done_again() -> None:
    """The checkpoint still holds the group: the restored run does it again."""
    before = killed()
    before.seal("x")
    before.add("group_discarded", group_id="g", reason="stale")
    after = History("b" * 16)
    after.reserve(origin_run="a" * 16)
    after.dispatch("y")
    after.seal("y")
    spans = spans_of(before, after)
    first = named(spans, "rollout.attempt", attempt_id="x")

    assert [ids_of(first)] == links(named(spans, "rollout.attempt", attempt_id="y"), "redone")


def test_a_step_during_a_checkpoint_is_not_in_it() -> None:
    """A checkpoint holds what was trained when it began."""
    before = killed()
    before.seal("x")
    before.add("checkpoint_started")
    before.train(1, "g")
    before.add("checkpoint_published", checkpoint_id="c", step=0)
    after = History("b" * 16)
    after.reserve()
    after.dispatch("y")
    after.seal("y")
    spans = spans_of(before, after)
    first = named(spans, "rollout.attempt", attempt_id="x")

    assert [ids_of(first)] == links(named(spans, "rollout.attempt", attempt_id="y"), "redone")


def test_resumed_after_a_kill_links_across_runs() -> None:
    """A resumed attempt links to the one it continues, and says how."""
    after = History("b" * 16)
    after.reserve(origin_run="a" * 16)
    after.add("attempt_resumed", attempt_id="y", level="turn", previous_attempt_id="x", group_id="g", tokens_kept=30)
    after.seal("y")
    spans = spans_of(killed(), after)
    resumed = named(spans, "rollout.attempt", attempt_id="y")
    facts = {key: resumed.attributes[f"rtrace.{key}"] for key in ("resumed_level", "tokens_kept")}
    assert [ids_of(named(spans, "rollout.attempt", attempt_id="x"))] == links(resumed, "resumed")
    assert {"resumed_level": "turn", "tokens_kept": 30} == facts


def test_resumed_within_a_restored_run_links_to_that_run() -> None:
    """What continues an attempt of its own run links to that, though the run was restored from another."""
    after = History("b" * 16)
    after.add("checkpoint_restored", checkpoint_id="c", step=1, from_run="a" * 16)
    after.reserve()
    after.dispatch("x2")
    after.add("attempt_abandoned", attempt_id="x2", reason="server error")
    after.add("attempt_resumed", attempt_id="y", level="prefix", previous_attempt_id="x2", group_id="g")
    after.seal("y")
    spans = spans_of(History(), after)
    first = named(spans, "rollout.attempt", attempt_id="x2")
    assert [ids_of(first)] == links(named(spans, "rollout.attempt", attempt_id="y"), "resumed")


def test_resumed_without_its_optional_group_has_a_parent() -> None:
    """``group_id`` is optional in ``attempt_resumed``: no span names a parent that is not there."""
    run = killed()
    run.add("attempt_abandoned", attempt_id="x", reason="server error")
    run.add("attempt_resumed", attempt_id="y", level="turn", previous_attempt_id="x")
    run.seal("y")
    run.add("run_ended", reason="closed")
    spans = spans_of(run)
    there = {ids_of(span) for span in spans}
    parents = {(span.trace_id, span.parent_id) for span in spans if span.parent_id is not None}
    assert set() == parents - there


def test_sibling_is_an_event_of_the_group() -> None:
    """A kept sealed result opens no span."""
    after = History("b" * 16)
    after.reserve()
    after.add("attempt_resumed", attempt_id="x", level="sibling", group_id="g")
    after.train(1, "g")
    group = named(spans_of(after), "rollout.group")
    assert ["group_reserved", "attempt_resumed"] == [event.name for event in group.events]


def test_parent_exists_without_a_reservation() -> None:
    """An attempt whose group was reserved before the file began still has its parent."""
    run = History()
    run.dispatch()
    run.seal()
    run.train(1, "g")
    spans = spans_of(run)
    group = named(spans, "rollout.group")
    attempt = named(spans, "rollout.attempt")
    assert (group.trace_id, group.span_id) == (attempt.trace_id, attempt.parent_id)


def test_group_that_is_trained_twice_is_linked_twice() -> None:
    """A restored group that a second step trains again is linked in the trace where it is."""
    run = History("b" * 16)
    run.reserve(origin_run="a" * 16)
    run.train(1, "g")
    run.train(2, "g")
    spans = spans_of(run)
    group = ids_of(named(spans, "rollout.group"))
    assert [[group], [group]] == [links(named(spans, "train.step", step=step), "trained") for step in (1, 2)]


def test_late_attempt_of_a_restored_group_is_in_its_trace() -> None:
    """An attempt dispatched after its restored group was trained is where its traceparent says."""
    run = History("b" * 16)
    run.reserve(origin_run="a" * 16)
    run.train(1, "g")
    run.dispatch()
    run.seal()
    spans = spans_of(run)
    group = named(spans, "rollout.group")
    attempt = named(spans, "rollout.attempt")
    assert (group.trace_id, group.span_id) == (attempt.trace_id, attempt.parent_id)


def test_many_groups_are_linked_over_child_spans() -> None:
    """A step with 300 groups carries 128 links, its children the rest, and all resolve in order."""
    run = History()
    groups = [f"g{number}" for number in range(300)]
    for group in groups:
        run.reserve(group)
    run.train(1, *groups)
    spans = spans_of(run)
    step = named(spans, "train.step")
    children = [span for span in spans if span.name == "train.step.groups"]
    carried = [*step.links, *(link for child in children for link in child.links)]
    expected = [ids_of(named(spans, "rollout.group", group_id=group)) for group in groups]
    assert expected == [(link.trace_id, link.span_id) for link in carried]
    assert [MAX_LINKS, MAX_LINKS, 300 - 2 * MAX_LINKS] == [len(span.links) for span in (step, *children)]
    assert {(step.trace_id, step.span_id)} == {(child.trace_id, child.parent_id) for child in children}
